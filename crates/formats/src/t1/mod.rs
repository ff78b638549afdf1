//! Reads Kernel Tuner's T1 format (schema 1.0.0), as published problems, Kernel Tuner and KTT use
//! it.
//!
//! [`space`] reads parameters and conditions. [`tuning`] reads the search, the budget and the
//! default configuration. [`kernel`], [`arguments`] and [`reference`] read the kernel's
//! specification. A file whose kernel cannot be run here is still useful for its space: see
//! [`findings`].

mod arguments;
mod expressions;
mod findings;
mod json;
mod kernel;
mod reader;
mod reference;
mod space;
mod tuning;

use crate::problem_file::ProblemFile;
use json::Item;
use kernel::{KernelPlaces, Specification};
use serde_json::Value as Json;
use std::ops::Range;
use tunesmith_space::{Constraint, Parameter, Value};
use tunesmith_spec::{
    ArgumentDraft, Diagnostic, Draft, Key, Level, Messages, ParameterDraft, Places, ProblemError, SourceFile,
    SpaceDraft, SubjectDraft, ValuesDraft, VerifyDraft,
};

pub(crate) fn read(source_file: SourceFile, overrides: &[(String, Value)]) -> Result<ProblemFile, ProblemError> {
    let json: Json = tunesmith_files::json::parse(&*source_file.text).map_err(|error| {
        let start = line_start(&source_file.text, error.line()) + error.column().saturating_sub(1);
        let fault = tunesmith_files::json::fault(&error);
        let text = if error.is_data() { fault } else { format!("not JSON: {fault}") };
        let message = source_file.diagnostic(Level::Error, start..start, text, None);
        ProblemError { messages: vec![message], source_file: source_file.clone() }
    })?;
    let messages = Messages::new(source_file.clone());
    if let Some((name, _)) = overrides.first() {
        messages.error(0..0, format!("a T1 problem has no sizes, so that `{name}` cannot be overridden"), None);
    }
    let (draft, places, obstacles) = read_root(&Item::root(&json, &source_file.text), &messages);
    Ok(ProblemFile { obstacles, ..ProblemFile::new(draft, places, messages) })
}

/// Returns the parts of the problem with their places, and the reasons for which its kernel cannot be run. Reports
/// faults to `messages`.
fn read_root(root: &Item<'_>, messages: &Messages) -> (Draft, Places, Vec<Diagnostic>) {
    let parameters = space::parameters(root, messages);
    let constraints = space::constraints(root, &parameters, messages);
    let (default, default_place) = tuning::default(root, &parameters, &constraints, messages).unzip();
    let tuning = tuning::read(root, default, messages);
    let Specification { kernel, arguments, expected, obstacles } = kernel::read(root, &parameters, messages);
    let (kernel, kernel_places) = kernel.unzip();
    let mut places = Places::default();
    default_place.into_iter().for_each(|place| places.add(Key::of("tuning").field("default"), place));
    if let Some(KernelPlaces { file, function }) = kernel_places {
        places.add(Key::of("kernel").at(0).field("file"), file);
        places.add(Key::of("kernel").at(0).field("function"), function);
    }
    let parameter = |(parameter, place): (Parameter, Range<usize>)| {
        places.add(Key::of("parameters").field(parameter.name()).label(), place);
        ParameterDraft { name: parameter.name().to_string(), values: ValuesDraft::List(parameter.values().to_vec()) }
    };
    let parameters = parameters.into_iter().map(parameter).collect();
    let constraint = |(constraint, place): (Constraint, Range<usize>)| {
        places.add(Key::of("constraints").field(constraint.name()), place);
        constraint
    };
    let constraints = constraints.into_iter().map(constraint).collect();
    let argument = |(argument, place): (ArgumentDraft, Range<usize>)| {
        places.add(argument.key.clone(), place);
        argument
    };
    let draft = Draft {
        name: name(root).unwrap_or_else(|| messages.source.stem()),
        space: SpaceDraft { parameters, constraints, constraints_may_repeat: true, ..SpaceDraft::default() },
        subject: kernel.map_or(SubjectDraft::None, |kernel| SubjectDraft::Kernels(vec![kernel])),
        arguments: arguments.into_iter().map(argument).collect(),
        verify: VerifyDraft { expected, ..VerifyDraft::default() },
        tuning,
        ..Draft::default()
    };
    (draft, places, obstacles)
}

fn name(root: &Item<'_>) -> Option<String> {
    root.get("General").and_then(|general| general.get("BenchmarkName")?.string()).map(str::to_string)
}

fn line_start(text: &str, line: usize) -> usize {
    text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum()
}
