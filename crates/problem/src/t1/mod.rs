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
mod reference;
mod space;
mod tuning;

use crate::diagnostic::Messages;
use crate::problem::Places;
use crate::{Level, Problem, ProblemError, SourceFile};
use json::Item;
use serde_json::Value as Json;
use tunesmith_space::Value;

pub(crate) fn read(source_file: SourceFile, overrides: &[(String, Value)]) -> Result<Problem, ProblemError> {
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
    let problem = read_root(&Item::root(&json, &source_file.text), &messages);
    let warnings = messages.finish()?;
    Ok(Problem { warnings, ..problem })
}

/// Returns the problem, as far as it can be read. Reports faults to `messages`.
fn read_root(root: &Item<'_>, messages: &Messages) -> Problem {
    let parameters = space::parameters(root, messages);
    let constraints = space::constraints(root, &parameters, messages);
    let (default, default_place) = tuning::default(root, &parameters, &constraints, messages).unzip();
    let tuning = tuning::read(root, default, messages);
    let spec = kernel::read(root, &parameters, messages);
    let (parameters, parameter_places) = parameters.into_iter().unzip();
    let (constraints, constraint_places) = constraints.into_iter().unzip();
    let (kernels, kernel_places) = spec.kernel.into_iter().unzip();
    let (arguments, argument_places) = spec.arguments.into_iter().unzip();
    let blank = Problem::of(messages.source.clone());
    Problem {
        name: name(root).unwrap_or_else(|| blank.name.clone()),
        parameters,
        constraints,
        kernels,
        arguments,
        verify: spec.verify,
        tuning,
        obstacles: spec.obstacles,
        places: Places {
            constraints: constraint_places,
            parameters: parameter_places,
            default: default_place.unwrap_or_default(),
            kernels: kernel_places,
            arguments: argument_places,
            ..Places::default()
        },
        ..blank
    }
}

fn name(root: &Item<'_>) -> Option<String> {
    root.get("General").and_then(|general| general.get("BenchmarkName")?.string()).map(str::to_string)
}

fn line_start(text: &str, line: usize) -> usize {
    text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum()
}
