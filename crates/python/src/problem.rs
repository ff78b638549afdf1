//! Problems: read from files, or built from what Python gives.

use crate::error::{entry, raised, request};
use crate::function::message;
use crate::options::Options;
use crate::space::{Given, Raised, Space, constraint, is_text};
use crate::value::value;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::path::PathBuf;
use std::sync::Arc;
use tunesmith::core::Interrupt;
use tunesmith::device::{CudaCompiler, ElementType, Fill, Judge, Language};
use tunesmith::space::Value;
use tunesmith::{Arg, Code, ProblemBuilder, devices::limits, problem::Contents};

/// A problem: kernels, their arguments, and the space of their parameters.
#[pyclass(frozen, module = "tunesmith._native")]
pub(crate) struct Problem {
    pub(crate) read: tunesmith::Problem,
    /// True if its sources and data are in a temporary folder of its own.
    pub(crate) in_code: bool,
    /// The first exception of its constraints that are functions.
    pub(crate) raised: Raised,
}

#[pymethods]
impl Problem {
    /// Reads a problem file.
    #[staticmethod]
    fn load(path: PathBuf, sizes: Vec<(String, Bound<'_, PyAny>)>) -> PyResult<Self> {
        entry(|| {
            let read = tunesmith::Problem::load(&path, &values(&sizes)?);
            Ok(Self { read: read.map_err(|error| raised(&error.into()))?, in_code: false, raised: Raised::default() })
        })
    }

    /// Reads a problem from a text. Relative paths start from `folder`.
    #[staticmethod]
    fn parse(text: &str, folder: PathBuf, sizes: Vec<(String, Bound<'_, PyAny>)>) -> PyResult<Self> {
        entry(|| {
            let sizes = values(&sizes)?;
            let read = tunesmith::Problem::parse(text, &folder).and_then(|read| match sizes.is_empty() {
                true => Ok(read),
                false => read.with_sizes(&sizes),
            });
            Ok(Self { read: read.map_err(|error| raised(&error.into()))?, in_code: false, raised: Raised::default() })
        })
    }

    /// Builds a problem.
    #[staticmethod]
    fn build(parts: Parts<'_>) -> PyResult<Self> {
        entry(|| {
            let built = parts.builder()?.build().map_err(|error| raised(&error.into()))?;
            let functions = Raised::default();
            let own = parts.constraints.into_iter().filter(|given| !is_text(given));
            let own = own.map(|given| constraint(given, &functions)).collect::<PyResult<Vec<_>>>()?;
            let read = own.into_iter().fold(built, tunesmith::Problem::with_constraint);
            Ok(Self { read, in_code: true, raised: functions })
        })
    }

    /// Returns the problem with further constraints, which are functions.
    fn constrained(&self, constraints: Vec<Given<'_>>) -> PyResult<Self> {
        entry(|| {
            let own =
                constraints.into_iter().map(|given| constraint(given, &self.raised)).collect::<PyResult<Vec<_>>>()?;
            let read = own.into_iter().fold(self.read.clone(), tunesmith::Problem::with_constraint);
            Ok(Self { read, in_code: self.in_code, raised: self.raised.clone() })
        })
    }

    /// Returns the problem with a function that decides about outputs in place of a comparison. It
    /// takes their bytes by name, and returns a text if something is wrong.
    fn judged(&self, outputs: Vec<String>, function: Py<PyAny>) -> PyResult<Self> {
        entry(|| {
            let judge = Judge { arguments: outputs, decide: Arc::new(move |outputs| decide(&function, outputs)) };
            let read = self.read.clone().with_judge(judge);
            Ok(Self { read, in_code: self.in_code, raised: self.raised.clone() })
        })
    }

    /// Returns the problem measured as another one is: its samples, limits and final.
    fn with_policy_of(&self, other: &Self) -> PyResult<Self> {
        entry(|| {
            let other = other.read.spec();
            let read = self.read.clone().with_policy(other.policy()).with_judging(other.judging().clone());
            Ok(Self { read, in_code: self.in_code, raised: self.raised.clone() })
        })
    }

    /// The name.
    #[getter]
    fn name(&self) -> &str {
        self.read.spec().name()
    }

    /// Returns the warnings about the problem.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.read.warnings().iter().map(ToString::to_string).collect()
    }

    /// Returns the space on a device. Asks a driver for its limits if a constraint uses one.
    fn space(&self, py: Python<'_>, options: Options) -> PyResult<Space> {
        entry(|| {
            let machine = options.machine(&Interrupt::default()).map_err(|error| raised(&error))?;
            let space = py.detach(|| {
                let limits = limits(&self.read, &machine)?;
                Ok::<_, tunesmith::Error>(self.read.space(&limits)?.space)
            });
            let built = space.map_err(|error| self.raised.take().unwrap_or_else(|| raised(&error)))?;
            Ok(Space { built, sizes: self.read.spec().sizes().to_vec() })
        })
    }
}

/// Asks a function about outputs. An exception is a fault, too.
fn decide(function: &Py<PyAny>, outputs: &[(&str, Vec<u8>)]) -> Result<(), String> {
    Python::attach(|py| {
        let asked = PyDict::new(py);
        let wrong = outputs.iter().try_for_each(|(name, bytes)| asked.set_item(name, PyBytes::new(py, bytes)));
        match wrong.and_then(|()| function.call1(py, (asked,))?.extract::<Option<String>>(py)) {
            Ok(None) => Ok(()),
            Ok(Some(fault)) => Err(fault),
            Err(error) => Err(message(py, &error)),
        }
    })
}

/// The parts of a problem that is built in code: the entries of a dict, all of which the Python
/// package gives.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Parts<'py> {
    name: String,
    folder: PathBuf,
    sizes: Vec<(String, Bound<'py, PyAny>)>,
    flops: Option<Bound<'py, PyAny>>,
    bytes: Option<Bound<'py, PyAny>>,
    kernels: Vec<Kernel<'py>>,
    parameters: Vec<(String, Vec<Bound<'py, PyAny>>)>,
    constraints: Vec<Given<'py>>,
    arguments: Vec<Argument<'py>>,
    reference: Option<Kernel<'py>>,
    expected: Vec<(String, Vec<u8>)>,
    relative: Option<f64>,
    absolute: Option<f64>,
    default: Vec<(String, Bound<'py, PyAny>)>,
}

/// A function in its source.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Kernel<'py> {
    function: String,
    /// The source itself, or `None` if it is in `file`.
    text: Option<String>,
    file: Option<PathBuf>,
    language: Option<String>,
    name: Option<String>,
    sources: Vec<PathBuf>,
    include: Vec<PathBuf>,
    options: Vec<String>,
    compiler: Option<String>,
    global: Vec<Bound<'py, PyAny>>,
    grid: Vec<Bound<'py, PyAny>>,
    local: Vec<Bound<'py, PyAny>>,
    arguments: Option<Vec<String>>,
    repeat: Option<Bound<'py, PyAny>>,
}

/// An argument of the kernels.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Argument<'py> {
    name: String,
    kind: String,
    element: String,
    value: Option<Bound<'py, PyAny>>,
    shape: Vec<Bound<'py, PyAny>>,
    contents: Option<Vec<u8>>,
    fill: Option<Bound<'py, PyAny>>,
    relative: Option<f64>,
    absolute: Option<f64>,
}

impl Parts<'_> {
    fn builder(&self) -> PyResult<ProblemBuilder> {
        let mut builder = tunesmith::Problem::builder(&self.name).folder(&self.folder);
        for (name, size) in values(&self.sizes)? {
            builder = builder.size(name, size);
        }
        builder = applied(builder, &self.flops, ProblemBuilder::flops)?;
        builder = applied(builder, &self.bytes, ProblemBuilder::bytes)?;
        for kernel in &self.kernels {
            builder = builder.kernel(kernel.code()?);
        }
        for (name, list) in &self.parameters {
            builder = builder.parameter(name, list.iter().map(value).collect::<PyResult<Vec<Value>>>()?);
        }
        for (meaning, expression, _) in self.constraints.iter().filter(|given| is_text(given)) {
            builder = builder.constraint(meaning, expression.extract::<String>()?);
        }
        for argument in &self.arguments {
            builder = builder.argument(argument.arg()?);
        }
        if let Some(reference) = &self.reference {
            builder = builder.reference(reference.code()?);
        }
        for (argument, bytes) in &self.expected {
            builder = builder.expected(argument, Contents::bytes(bytes.clone()));
        }
        builder = self.relative.into_iter().fold(builder, ProblemBuilder::relative);
        builder = self.absolute.into_iter().fold(builder, ProblemBuilder::absolute);
        let default = values(&self.default)?;
        Ok(if default.is_empty() { builder } else { builder.default(default) })
    }
}

/// Calls `method` of a builder with a value, if there is one.
fn applied<B>(builder: B, given: &Option<Bound<'_, PyAny>>, method: impl Fn(B, Value) -> B) -> PyResult<B> {
    match given {
        Some(given) => Ok(method(builder, value(given)?)),
        None => Ok(builder),
    }
}

fn values(named: &[(String, Bound<'_, PyAny>)]) -> PyResult<Vec<(String, Value)>> {
    named.iter().map(|(name, given)| Ok((name.clone(), value(given)?))).collect()
}

fn list(given: &[Bound<'_, PyAny>]) -> PyResult<Vec<Value>> {
    given.iter().map(value).collect()
}

impl Kernel<'_> {
    fn code(&self) -> PyResult<Code> {
        let named = self.language.as_deref();
        let language = named.map(|name| {
            Language::from_name(name)
                .ok_or_else(|| request(format!("there is no language {name:?}; name c, c++, opencl, cuda or hip")))
        });
        let language = language.transpose()?;
        let mut code = match (&self.file, &self.text) {
            (Some(file), _) => language.into_iter().fold(Code::file(&self.function, file), Code::language),
            (None, text) => {
                let text = text.clone().unwrap_or_default();
                match language.unwrap_or(Language::C) {
                    Language::C => Code::c(&self.function, text),
                    Language::Cpp => Code::cpp(&self.function, text),
                    Language::OpenCl => Code::opencl(&self.function, text),
                    Language::Cuda => Code::cuda(&self.function, text),
                    Language::Hip => Code::hip(&self.function, text),
                    other => return Err(request(format!("a source in {} must be in a file", other.name()))),
                }
            }
        };
        code = self.name.iter().fold(code, Code::name);
        code = self.sources.iter().fold(code, Code::source);
        code = self.include.iter().fold(code, Code::include);
        code = self.options.iter().fold(code, Code::option);
        code = self.compiler()?.into_iter().fold(code, Code::compiler);
        for (extents, method) in [
            (&self.global, Code::global as fn(Code, Vec<Value>) -> Code),
            (&self.grid, Code::grid),
            (&self.local, Code::local),
        ] {
            code = if extents.is_empty() { code } else { method(code, list(extents)?) };
        }
        code = self.arguments.iter().fold(code, |code, names| code.arguments(names.clone()));
        applied(code, &self.repeat, Code::repeat)
    }

    fn compiler(&self) -> PyResult<Option<CudaCompiler>> {
        let Some(given) = &self.compiler else { return Ok(None) };
        let known = CudaCompiler::ALL.into_iter().find(|compiler| compiler.name() == given);
        let names = CudaCompiler::ALL.map(CudaCompiler::name).join(" or ");
        known.map(Some).ok_or_else(|| request(format!("there is no compiler {given:?} of CUDA; name {names}")))
    }
}

impl Argument<'_> {
    fn arg(&self) -> PyResult<Arg> {
        let Self { name, .. } = self;
        let element =
            ElementType::parse(&self.element).map_err(|error| request(format!("argument `{name}`: {error}")))?;
        let shape = list(&self.shape)?;
        let mut arg = match self.kind.as_str() {
            "scalar" => {
                let number = self.value.as_ref().map(value).transpose()?.unwrap_or(Value::Int(0));
                return Ok(Arg::scalar(name, element, number));
            }
            "object" => return Ok(Arg::object(name, self.contents.clone().unwrap_or_default())),
            "in" => Arg::input(name, element, shape),
            "out" => Arg::output(name, element, shape),
            "inout" => Arg::inout(name, element, shape),
            "scratch" => Arg::scratch(name, element, shape),
            "local" => Arg::local(name, element, shape),
            other => return Err(request(format!("argument `{name}`: there is no kind {other:?}"))),
        };
        if let Some(fill) = &self.fill {
            arg = arg.fill(fill_rule(name, fill)?);
        }
        arg = self.contents.iter().fold(arg, |arg, bytes| arg.contents(Contents::bytes(bytes.clone())));
        arg = self.relative.into_iter().fold(arg, Arg::relative);
        Ok(self.absolute.into_iter().fold(arg, Arg::absolute))
    }
}

/// Returns the rule that fills a buffer: a word, a number, or the bounds of random numbers.
fn fill_rule(name: &str, given: &Bound<'_, PyAny>) -> PyResult<Fill> {
    if let Ok((low, high)) = given.extract::<(f64, f64)>() {
        return Ok(Fill::Between(low, high));
    }
    match value(given)? {
        Value::Str(word) => match word.as_ref() {
            "random" => Ok(Fill::Random),
            "zeros" => Ok(Fill::Zeros),
            "ones" => Ok(Fill::Ones),
            "iota" => Ok(Fill::Iota),
            other => Err(request(format!(
                "argument `{name}`: there is no fill {other:?}; fills are random, zeros, ones, iota, a number, and (low, high)"
            ))),
        },
        number => Ok(Fill::Constant(number.as_float().unwrap_or_default())),
    }
}
