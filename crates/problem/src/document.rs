//! Reads problems in TOML.

use crate::alternatives::{self, Alternatives};
use crate::diagnostic::Messages;
use crate::item::Table;
use crate::limit::Limit;
use crate::metric::{check_metrics, check_value};
use crate::tree::{Located, Section};
use crate::{
    Problem, ProblemError, SourceFile, Tuning, arguments, command, device_settings, inputs, judging, kernel, nest,
    parameters, tuning, verify,
};
use std::ops::Range;
use toml::de::DeTable;
use tunesmith_core::Judging;
use tunesmith_device::{Argument, Language, Policy, Verify};
use tunesmith_space::Value;
use tunesmith_space::did_you_mean;
use tunesmith_space::lookup;

const SECTIONS: &[&str] = &[
    "problem",
    "kernel",
    "alternative",
    "parameters",
    "device_settings",
    "constraints",
    "restrictions",
    "arguments",
    "verify",
    "tuning",
    "inputs",
    "measure",
    "metrics",
    "limits",
];

/// Reads a problem in TOML.
pub(crate) fn read(source_file: SourceFile, overrides: &[(String, Value)]) -> Result<Problem, ProblemError> {
    let text = source_file.text.clone();
    let document = DeTable::parse(&text).map_err(|error| {
        let span = error.span().unwrap_or(0..0);
        let message = source_file.diagnostic(crate::Level::Error, span, error.message().to_string(), None);
        ProblemError { messages: vec![message], source_file: source_file.clone() }
    })?;
    read_document(&Table::of_toml(document.get_ref()), source_file, overrides)
}

/// Reads a problem from its document. Places of the document point into `source_file`.
pub(crate) fn read_document(
    document: &Table,
    source_file: SourceFile,
    overrides: &[(String, Value)],
) -> Result<Problem, ProblemError> {
    let messages = Messages::new(source_file);
    let problem = read_root(&Section::root(document, &messages), &messages, overrides);
    let verified_at = read_verified_at(document, &problem, &messages, overrides);
    let warnings = messages.finish()?;
    Ok(Problem { warnings, verified_at, ..problem })
}

/// Reads the document once more for each of the further sizes of `[verify]`.
fn read_verified_at(
    document: &Table,
    problem: &Problem,
    messages: &Messages,
    overrides: &[(String, Value)],
) -> Vec<(String, Problem)> {
    let root = Section::root(document, messages);
    let section = root.get("verify").filter(|_| problem.command.is_none()).and_then(|node| node.section());
    let entries = section.map(|section| verify::read_sizes(&section, &problem.sizes, messages)).unwrap_or_default();
    let read = |(label, place, sizes): (String, Range<usize>, Vec<(String, Value)>)| {
        let changed = |name: &String| sizes.iter().any(|(changed, _)| changed == name);
        let kept = overrides.iter().filter(|(name, _)| !changed(name)).cloned();
        let all: Vec<(String, Value)> = kept.chain(sizes.iter().cloned()).collect();
        // Its faults belong to the entry: at the problem's own sizes there are none.
        let own = Messages::new(messages.source.clone());
        let problem = read_root(&Section::root(document, &own), &own, &all);
        match own.finish() {
            Ok(_) => Some((label, problem)),
            Err(error) => {
                let text = error.messages.first().map_or_else(String::new, |message| message.text.clone());
                messages.error(place, format!("at {label}: {text}"), None);
                None
            }
        }
    };
    if messages.have_errors() { Vec::new() } else { entries.into_iter().filter_map(read).collect() }
}

/// Returns the problem, as far as it can be read. Reports faults to `messages`.
fn read_root(root: &Section<'_>, messages: &Messages, overrides: &[(String, Value)]) -> Problem {
    root.allow(SECTIONS);
    root.refuse_twins();
    let problem = read_head(root, messages, overrides);
    let alternatives = alternatives::read(root, messages);
    let problem = read_space(root, problem, alternatives.as_ref(), messages);
    let problem = read_kernels(root, problem, alternatives.as_ref(), messages);
    let problem = read_tuning(root, problem, messages);
    check_names(&problem, messages);
    check_numbers(root, &problem, messages);
    if problem.command.is_some() {
        check_reserved(&problem, messages);
    }
    problem
}

/// Adds the parameters and constraints.
fn read_space(
    root: &Section<'_>,
    mut problem: Problem,
    alternatives: Option<&Alternatives<'_>>,
    messages: &Messages,
) -> Problem {
    // What chooses or sets something is a parameter as well.
    let has_others = root.get("alternative").is_some() || root.get("device_settings").is_some();
    let mut parameters = parameters::read(root, &problem.sizes, has_others, messages);
    let mut constraints = parameters::read_constraints(root, messages);
    if let Some(alternatives) = alternatives {
        parameters = alternatives.join(parameters, &mut constraints, &problem.sizes, messages);
        problem.choice = Some(alternatives.choice().to_string());
    }
    let (settings, stated) = device_settings::read(root, &problem.sizes, &parameters, messages);
    problem.settings = settings;
    parameters.extend(stated);
    (problem.parameters, problem.places.parameters) = parameters.into_iter().unzip();
    (problem.constraints, problem.places.constraints) = constraints.into_iter().unzip();
    problem
}

/// Adds the kernels or the command, the arguments, and the verification of results.
fn read_kernels(
    root: &Section<'_>,
    mut problem: Problem,
    alternatives: Option<&Alternatives<'_>>,
    messages: &Messages,
) -> Problem {
    let names = arguments::Names { sizes: &problem.sizes, parameters: &problem.parameters };
    let stated = arguments::read(root, names, messages);
    let is_command = root.get("kernel").as_ref().is_some_and(command::is_command);
    let (command, command_places) = command::read(root, messages).unzip();
    (problem.command, problem.places.command) = (command, command_places.unwrap_or_default());
    let kernel = root.get("kernel").filter(|_| !is_command);
    let arguments = || -> Vec<Argument> { stated.iter().map(|(argument, _)| argument.clone()).collect() };
    let (nest, kernels, arguments): Kernels = match (kernel, alternatives) {
        (_, Some(alternatives)) => (None, alternatives.kernels(&arguments(), messages), stated),
        (Some(node), None) if nest::is_nest(&node) => read_nest(&node, &problem.sizes, stated, messages),
        // Its faults are those of the alternatives, which are reported.
        (Some(_), None) if root.get("alternative").is_some() => (None, Vec::new(), stated),
        (Some(node), None) => (None, kernel::read(&node, &arguments(), messages), stated),
        (None, None) => (None, Vec::new(), stated),
    };
    if let Some(nest) = &nest {
        nest::check_parameters(nest, &problem.parameters, &problem.places.parameters, messages);
    }
    (problem.arguments, problem.places.arguments) = arguments.into_iter().unzip();
    for kernel::ReadKernel { kernel, others, places } in kernels {
        problem.kernels.push(kernel);
        problem.other_kernels.push(others);
        problem.places.kernels.push(places);
    }
    // The verification of a command was read with the command.
    let section = root.get("verify").filter(|_| !is_command).and_then(|node| node.section());
    let read = |section| verify::read(&section, root, &problem.sizes, &problem.arguments, messages);
    let mut verify = section.map_or_else(Verify::default, read);
    if verify.reference.is_none() && verify.expected.is_empty() {
        verify.reference = nest.as_ref().map(crate::NestKernel::reference);
    }
    problem.places.reference = root.place(&["verify", "reference"]);
    Problem { nest, verify, ..problem }
}

/// Adds the settings for tuning and measuring.
fn read_tuning(root: &Section<'_>, mut problem: Problem, messages: &Messages) -> Problem {
    let tuning = root.get("tuning").and_then(|node| node.section());
    problem.places.default = root.place(&["tuning", "default"]);
    problem.places.grid = root.place(&["tuning", "grid"]);
    let inputs = inputs::read(root, &problem.sizes, messages);
    let measure = root.get("measure").and_then(|node| node.section());
    let (limits, places) = read_limits(root).into_iter().unzip();
    problem.places.limits = places;
    let (metrics, places) = read_metrics(root).into_iter().unzip();
    problem.places.metrics = places;
    Problem {
        metrics,
        limits,
        inputs,
        tuning: tuning.map_or_else(Tuning::default, |section| tuning::read(&section)),
        judging: measure.as_ref().map_or_else(Judging::default, judging::read),
        policy: measure.map_or_else(Policy::default, |section| tuning::read_policy(&section)),
        ..problem
    }
}

/// The kernels and arguments of a problem.
type Kernels = (Option<crate::NestKernel>, Vec<kernel::ReadKernel>, Vec<(Argument, std::ops::Range<usize>)>);

/// Reads the kernel of a loop nest. It is in C until a device is chosen.
fn read_nest(
    node: &crate::tree::Node<'_>,
    sizes: &[(String, Value)],
    stated: Vec<(Argument, std::ops::Range<usize>)>,
    messages: &Messages,
) -> Kernels {
    let read = node.section().and_then(|section| nest::read(&section, sizes, stated, messages));
    let Some(nest::Read { nest, places, arguments }) = read else { return Kernels::default() };
    let kernel = nest.kernel(Language::C);
    (Some(nest), vec![kernel::ReadKernel { kernel, others: Vec::new(), places }], arguments)
}

/// Returns the metrics of `[metrics]`, each an expression, with the places of their names.
fn read_metrics(root: &Section<'_>) -> Vec<((String, String), Range<usize>)> {
    let Some(metrics) = root.get("metrics").and_then(|node| node.section()) else { return Vec::new() };
    let metric = |(name, node): (Located<&str>, crate::tree::Node<'_>)| {
        Some(((name.value.to_string(), node.expression()?.value.text().to_string()), name.span))
    };
    metrics.entries().filter_map(metric).collect()
}

/// Returns the limits of `[limits]`, each a condition, with their places.
fn read_limits(root: &Section<'_>) -> Vec<(Limit, Range<usize>)> {
    let Some(limits) = root.get("limits").and_then(|node| node.section()) else { return Vec::new() };
    let limit = |(name, node): (Located<&str>, crate::tree::Node<'_>)| {
        let Located { value: condition, span } = node.expression()?;
        let is_name = matches!(condition.names(), [name] if name.text == condition.text().trim());
        if is_name || condition.takes_number_for_truth() {
            let remedy = format!("compare it with a bound, as in `{} <= 10`", condition.text());
            node.error(format!("`{}` must be a condition, not a number", node.name), Some(remedy));
            return None;
        }
        Some((Limit { name: name.value.to_string(), condition }, span))
    };
    limits.entries().filter_map(limit).collect()
}

/// Returns a problem with the content of the `[problem]` section and the sizes of `overrides`.
fn read_head(root: &Section<'_>, messages: &Messages, overrides: &[(String, Value)]) -> Problem {
    let mut head = Problem::of(messages.source.clone());
    if let Some(section) = root.get("problem").and_then(|node| node.section()) {
        section.allow(&["name", "sizes", "flops", "bytes"]);
        if let Some(name) = section.get("name").and_then(|node| node.string()) {
            head.name = name.to_string();
        }
        head.sizes = read_sizes(&section);
        let expression = |key| section.get(key).and_then(|node| node.expression()).map(|located| located.value);
        head.flops = expression("flops");
        head.bytes = expression("bytes");
    }
    for (name, value) in overrides {
        match head.sizes.iter_mut().find(|(known, _)| known == name) {
            Some((_, old)) => *old = value.clone(),
            None => {
                let known: Vec<&str> = head.sizes.iter().map(|(known, _)| known.as_str()).collect();
                let remedy = did_you_mean(name, known.iter().copied())
                    .unwrap_or_else(|| format!("its sizes are {}", known.join(", ")));
                messages.error(0..0, format!("the problem has no size `{name}`"), Some(remedy));
            }
        }
    }
    head
}

fn read_sizes(section: &Section<'_>) -> Vec<(String, Value)> {
    let Some(sizes) = section.get("sizes").and_then(|node| node.section()) else { return Vec::new() };
    let size =
        |(name, node): (Located<&str>, crate::tree::Node<'_>)| Some((name.value.to_string(), node.required_scalar()?));
    sizes.entries().filter_map(size).collect()
}

/// Checks the names of parameters and sizes. They reach the kernel as macros, and expressions by
/// name, so that each needs a distinct name that C accepts.
fn check_names(problem: &Problem, messages: &Messages) {
    for (parameter, place) in problem.parameters.iter().zip(&problem.places.parameters) {
        let name = parameter.name();
        if !is_identifier(name) {
            let remedy = "use letters, digits and `_`, not starting with a digit".to_string();
            messages.error(place.clone(), format!("`{name}` cannot be the name of a tuning parameter"), Some(remedy));
        }
        if lookup(&problem.sizes, name).is_some() {
            messages.error(place.clone(), format!("`{name}` is both a size and a tuning parameter"), None);
        }
    }
}

/// Checks the names of metrics and of printed values: each number has one name, and each name one
/// meaning.
fn check_numbers(root: &Section<'_>, problem: &Problem, messages: &Messages) {
    for (at, refusal) in check_metrics(problem) {
        let place = problem.places.metrics.get(at).cloned().unwrap_or_default();
        messages.error(place, refusal.text, refusal.remedy);
    }
    for (name, _) in problem.command.iter().flat_map(|command| &command.values) {
        if let Some(text) = check_value(problem, name) {
            let place = root.place(&["kernel", "values", name]);
            messages.error(place, text, Some("choose another name under `values`".to_string()));
        }
    }
}

/// Checks the names for a command. It finds them in its environment, where some names have a
/// meaning already.
fn check_reserved(problem: &Problem, messages: &Messages) {
    let sizes = problem.sizes.iter().map(|(name, _)| (name.as_str(), 0..0));
    let parameters = problem.parameters.iter().map(|parameter| parameter.name());
    for (name, place) in sizes.chain(parameters.zip(problem.places.parameters.iter().cloned())) {
        if let Some(meaning) = command::reserved(name) {
            let remedy = Some("choose another name".to_string());
            messages.error(place, format!("commands find {meaning} under the name `{name}`"), remedy);
        }
    }
}

fn is_identifier(name: &str) -> bool {
    let starts_well = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    starts_well && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}
