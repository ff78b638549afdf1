//! The pristine contents of all buffers, and their expected contents after a launch.

use crate::data::Scratch;
use crate::data::file::copy_file;
use crate::data::fill::{Given, write_fill};
use crate::data::layout::{BufferLayout, Layout, Passed, Role};
use crate::error::{DataError, DeviceError};
use crate::problem::{Access, Argument, ArgumentKind, ElementType, Fill, KernelSpec, Scope};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use tunesmith_space::{Expr, ExprError, Value, closest};

/// The files of one problem.
#[derive(Debug)]
pub(crate) struct DataSet {
    scratch: Scratch,
    layout: Vec<Layout>,
}

impl DataSet {
    /// Writes the inputs, and the expected outputs that come from files.
    pub(crate) fn create(spec: &KernelSpec) -> Result<Self, DeviceError> {
        check_names(spec)?;
        let scratch = Scratch::create(bytes_needed(spec)?)?;
        let layout = spec.arguments.iter().enumerate().map(|(position, argument)| {
            lay_out(spec, argument, &scratch.path().join(format!("argument-{}", position + 1)))
        });
        let layout = layout.collect::<Result<_, _>>()?;
        Ok(Self { scratch, layout })
    }

    /// Returns the folder with all files of the run.
    pub(crate) fn folder(&self) -> &Path {
        self.scratch.path()
    }

    /// Returns the arguments in the form that a worker needs.
    pub(crate) fn layout(&self) -> &[Layout] {
        &self.layout
    }

    /// Returns the total size of all buffers in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.layout.iter().filter_map(Layout::buffer).map(|buffer| buffer.bytes as u64).sum()
    }

    /// Returns the outputs whose correct contents are not known yet, each with the file for them.
    /// The reference computes them.
    pub(crate) fn missing(&self) -> Vec<(usize, PathBuf)> {
        let buffers =
            self.layout.iter().enumerate().filter_map(|(position, layout)| Some((position, layout.buffer()?)));
        let missing = buffers.filter(|(_, buffer)| buffer.role.is_output() && buffer.expected.is_none());
        missing.map(|(position, _)| (position, self.expected_file(position))).collect()
    }

    /// Records that the files of [`missing`](Self::missing) have been written.
    pub(crate) fn complete(&mut self) {
        for (position, path) in self.missing() {
            if let Some(Layout::Buffer(buffer)) = self.layout.get_mut(position) {
                buffer.expected = Some(path);
            }
        }
    }

    fn expected_file(&self, position: usize) -> PathBuf {
        self.folder().join(format!("argument-{}.expected", position + 1))
    }
}

/// Returns the values passed for all arguments in the configuration of `scope`, in order.
///
/// # Errors
/// An expression cannot be evaluated in `scope`, or the type cannot hold its value.
pub(crate) fn passed(arguments: &[Argument], scope: &Scope) -> Result<Vec<Passed>, DeviceError> {
    let passed = arguments.iter().map(|argument| match &argument.kind {
        ArgumentKind::Scalar(expr) => scalar(argument, expr, scope).map(Passed::Scalar),
        ArgumentKind::Local { shape } => local(argument, shape, scope).map(Passed::Local),
        ArgumentKind::Buffer { .. } => Ok(Passed::Buffer),
    });
    passed.collect()
}

fn scalar(argument: &Argument, expr: &Expr, scope: &Scope) -> Result<Vec<u8>, DeviceError> {
    let value = scope.evaluate(expr).map_err(|source| no_value(argument, expr, source))?;
    encode(argument.element, &value).ok_or_else(|| {
        let problem = format!("its value `{}` is {value}, which {} cannot hold", expr.text(), argument.element);
        DeviceError::Scalar { argument: argument.name.clone(), problem, source: None }
    })
}

/// Returns the size of a local argument in bytes.
fn local(argument: &Argument, shape: &[Expr], scope: &Scope) -> Result<usize, DeviceError> {
    let mut extents = Vec::with_capacity(shape.len());
    for expr in shape {
        let extent = expr.evaluate_int(&|name| scope.get(name).cloned());
        let extent = extent.map_err(|source| no_value(argument, expr, source))?;
        extents.push(u64::try_from(extent).ok().filter(|extent| *extent > 0).ok_or_else(|| {
            let problem = format!("its extent `{}` is {extent}, but must be at least 1", expr.text());
            DeviceError::Scalar { argument: argument.name.clone(), problem, source: None }
        })?);
    }
    let bytes = argument.size(extents.iter().copied());
    bytes.ok_or(DeviceError::TooLarge { argument: argument.name.clone(), shape: extents })
}

fn no_value(argument: &Argument, expr: &Expr, source: ExprError) -> DeviceError {
    let problem = format!("its value `{}` cannot be computed: {source}", expr.text());
    DeviceError::Scalar { argument: argument.name.clone(), problem, source: Some(source) }
}

/// Returns the bytes of one element with `value` in every lane.
fn encode(element: ElementType, value: &Value) -> Option<Vec<u8>> {
    let scalar = element.scalar();
    let lane = match value {
        Value::Float(value) => scalar.encode_float(*value)?,
        Value::Int(_) | Value::Bool(_) => scalar.encode_int(value.as_int()?.into())?,
        Value::Str(_) => return None,
    };
    Some(lane.repeat(element.stored_lanes()))
}

fn check_names(spec: &KernelSpec) -> Result<(), DeviceError> {
    let known = |name: &str| spec.arguments.iter().any(|argument| argument.name == name && argument.is_output());
    let expected = spec.verify.expected.iter().map(|(name, _)| ("`expected` names the output", name));
    let tolerances = spec.verify.tolerances.keys().map(|name| ("a tolerance names the output", name));
    match expected.chain(tolerances).find(|(_, name)| !known(name)) {
        None => Ok(()),
        Some((what, name)) => {
            let outputs = spec.arguments.iter().filter(|argument| argument.is_output());
            let suggestion = closest(name, outputs.map(|argument| argument.name.as_str())).map(str::to_owned);
            Err(DeviceError::UnknownArgument { what, name: name.clone(), suggestion })
        }
    }
}

/// Returns the room in bytes for the contents before and after a launch.
fn bytes_needed(spec: &KernelSpec) -> Result<u64, DeviceError> {
    spec.arguments.iter().try_fold(0_u64, |sum, argument| Ok(sum.saturating_add(2 * checked_bytes(argument)? as u64)))
}

fn checked_bytes(argument: &Argument) -> Result<usize, DeviceError> {
    argument.bytes().ok_or_else(|| {
        let shape = match &argument.kind {
            ArgumentKind::Buffer { shape, .. } => shape.clone(),
            ArgumentKind::Scalar(_) | ArgumentKind::Local { .. } => Vec::new(),
        };
        DeviceError::TooLarge { argument: argument.name.clone(), shape }
    })
}

/// Writes the files of one argument, and returns its layout with their paths.
fn lay_out(spec: &KernelSpec, argument: &Argument, stem: &Path) -> Result<Layout, DeviceError> {
    let ArgumentKind::Buffer { shape, fill, access, memory } = &argument.kind else {
        let name = argument.name.clone();
        return Ok(if matches!(argument.kind, ArgumentKind::Local { .. }) {
            Layout::Local { name }
        } else {
            Layout::Scalar
        });
    };
    let wrong = |source| DeviceError::Data { argument: argument.name.clone(), source };
    let role = match access {
        Access::In => Role::In,
        Access::Out => Role::Out,
        Access::InOut => Role::InOut,
    };
    let pristine = matches!(role, Role::In | Role::InOut).then(|| stem.with_extension("pristine"));
    if let Some(path) = &pristine {
        write_pristine(spec, argument, shape, fill, path).map_err(wrong)?;
    }
    let given = spec.verify.expected.iter().find(|(name, _)| *name == argument.name);
    let expected = given.map(|(_, from)| -> Result<_, DataError> {
        let path = stem.with_extension("expected");
        write(&path, |to| copy_file(from, argument.element, shape, to))?;
        Ok(path)
    });
    Ok(Layout::Buffer(BufferLayout {
        name: argument.name.clone(),
        element: argument.element,
        shape: shape.clone(),
        bytes: checked_bytes(argument)?,
        role,
        memory: *memory,
        pristine,
        expected: expected.transpose().map_err(wrong)?,
        tolerance: spec.verify.tolerance(&argument.name, argument.element.scalar()),
    }))
}

fn write_pristine(
    spec: &KernelSpec,
    argument: &Argument,
    shape: &[u64],
    fill: &Fill,
    path: &Path,
) -> Result<(), DataError> {
    let given = Given { seed: spec.seed, sizes: &spec.sizes };
    write(path, |to| write_contents(argument, shape, fill, given, to))
}

fn write_contents(
    argument: &Argument,
    shape: &[u64],
    fill: &Fill,
    given: Given<'_>,
    to: &mut dyn Write,
) -> Result<(), DataError> {
    match fill {
        Fill::File(from) => copy_file(from, argument.element, shape, to),
        _ => write_fill(fill, &argument.name, argument.element, shape.iter().product(), given, to),
    }
}

/// Returns the contents of a buffer before a kernel runs. Returns no bytes if the argument is not a
/// buffer.
///
/// # Errors
/// A file is missing or not as declared, or the type cannot hold a number.
pub fn contents(argument: &Argument, given: Given<'_>) -> Result<Vec<u8>, DataError> {
    let mut bytes = Vec::new();
    if let ArgumentKind::Buffer { shape, fill, .. } = &argument.kind {
        write_contents(argument, shape, fill, given, &mut bytes)?;
    }
    Ok(bytes)
}

fn write(path: &Path, fill: impl FnOnce(&mut dyn Write) -> Result<(), DataError>) -> Result<(), DataError> {
    let mut to = BufWriter::with_capacity(1 << 16, File::create(path)?);
    fill(&mut to)?;
    Ok(to.flush()?)
}
