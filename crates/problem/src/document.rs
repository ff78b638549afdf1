//! The TOML form of a problem.

use crate::diagnostic::Messages;
use crate::problem::Places;
use crate::tree::{Located, Section};
use crate::{
    Problem, ProblemError, SourceFile, Tuning, arguments, command, inputs, judging, kernel, nest, parameters, tuning,
};
use toml::de::DeTable;
use tunesmith_core::Judging;
use tunesmith_device::{Argument, Kernel, Language, Policy, Verify};
use tunesmith_space::did_you_mean;
use tunesmith_space::lookup;
use tunesmith_space::{Expr, Value};

const SECTIONS: &[&str] = &[
    "problem",
    "kernel",
    "parameters",
    "constraints",
    "restrictions",
    "arguments",
    "verify",
    "tuning",
    "inputs",
    "measure",
    "metrics",
];

pub(crate) fn read(source_file: SourceFile, overrides: &[(String, Value)]) -> Result<Problem, ProblemError> {
    let text = source_file.text.clone();
    let document = DeTable::parse(&text).map_err(|error| {
        let span = error.span().unwrap_or(0..0);
        let message = source_file.diagnostic(crate::Level::Error, span, error.message().to_string(), None);
        ProblemError { messages: vec![message], source_file: source_file.clone() }
    })?;
    let messages = Messages::new(source_file.clone());
    let problem = read_root(&Section::root(&document, &messages), &messages, overrides);
    let warnings = messages.finish()?;
    Ok(Problem { warnings, ..problem })
}

/// The problem, as far as it can be read; what is wrong goes to `messages`.
fn read_root(root: &Section<'_>, messages: &Messages, overrides: &[(String, Value)]) -> Problem {
    root.allow(SECTIONS);
    let head = read_head(root, messages, overrides);
    let sizes = &head.sizes;
    let (parameters, parameter_places): (Vec<_>, Vec<_>) = parameters::read(root, sizes, messages).into_iter().unzip();
    let (constraints, constraint_places) = parameters::read_constraints(root, messages).into_iter().unzip();
    let stated = arguments::read(root, sizes, messages);
    let is_command = root.get("kernel").as_ref().is_some_and(command::is_command);
    let (command, command_places) = command::read(root, messages).unzip();
    let kernel = root.get("kernel").filter(|_| !is_command);
    let (nest, kernels, arguments) = match kernel {
        Some(node) if nest::is_nest(&node) => read_nest(&node, sizes, stated, messages),
        Some(node) => {
            let arguments: Vec<Argument> = stated.iter().map(|(argument, _)| argument.clone()).collect();
            (None, kernel::read(&node, &arguments, messages), stated)
        }
        None => (None, Vec::new(), stated),
    };
    if let Some(nest) = &nest {
        nest::check_parameters(nest, &parameters, &parameter_places, messages);
    }
    let (arguments, argument_places): (Vec<_>, _) = arguments.into_iter().unzip();
    let (kernels, kernel_places) = kernels.into_iter().unzip();
    // A command's own way of being verified was read with it.
    let verify = root.get("verify").filter(|_| !is_command).and_then(|node| node.section());
    let mut verify = verify.map_or_else(Verify::default, |section| arguments::read_verify(&section, root, messages));
    if verify.reference.is_none() && verify.expected.is_empty() {
        verify.reference = nest.as_ref().map(crate::NestKernel::reference);
    }
    let tuning = root.get("tuning").and_then(|node| node.section());
    let place = |path: &[&str]| root.place(path);
    let places = Places {
        constraints: constraint_places,
        parameters: parameter_places,
        default: place(&["tuning", "default"]),
        grid: place(&["tuning", "grid"]),
        kernels: kernel_places,
        reference: place(&["verify", "reference"]),
        arguments: argument_places,
        command: command_places.unwrap_or_default(),
    };
    let inputs = inputs::read(root, sizes, messages);
    let measure = root.get("measure").and_then(|node| node.section());
    let problem = Problem {
        name: head.name,
        sizes: head.sizes,
        flops: head.flops,
        bytes: head.bytes,
        metrics: read_metrics(root),
        parameters,
        constraints,
        kernels,
        nest,
        command,
        arguments,
        verify,
        inputs,
        tuning: tuning.map_or_else(Tuning::default, |section| tuning::read(&section)),
        judging: measure.as_ref().map_or_else(Judging::default, judging::read),
        policy: measure.map_or_else(Policy::default, |section| tuning::read_policy(&section)),
        places,
        ..Problem::of(messages.source.clone())
    };
    check_names(&problem, messages);
    if problem.command.is_some() {
        check_reserved(&problem, messages);
    }
    problem
}

/// What a problem has of kernels and arguments.
type Kernels =
    (Option<crate::NestKernel>, Vec<(Kernel, kernel::KernelPlaces)>, Vec<(Argument, std::ops::Range<usize>)>);

/// The kernel of a loop nest, in C until a device is chosen.
fn read_nest(
    node: &crate::tree::Node<'_>,
    sizes: &[(String, Value)],
    stated: Vec<(Argument, std::ops::Range<usize>)>,
    messages: &Messages,
) -> Kernels {
    let read = node.section().and_then(|section| nest::read(&section, sizes, stated, messages));
    let Some(nest::Read { nest, places, arguments }) = read else { return Kernels::default() };
    let kernel = nest.kernel(Language::C);
    (Some(nest), vec![(kernel, places)], arguments)
}

/// The metrics of `[metrics]`, each an expression.
fn read_metrics(root: &Section<'_>) -> Vec<(String, String)> {
    let Some(metrics) = root.get("metrics").and_then(|node| node.section()) else { return Vec::new() };
    let metric = |(name, node): (Located<&str>, crate::tree::Node<'_>)| {
        Some((name.value.to_string(), node.expression()?.value.text().to_string()))
    };
    metrics.entries().filter_map(metric).collect()
}

/// What the `[problem]` section says.
struct Head {
    name: String,
    sizes: Vec<(String, Value)>,
    flops: Option<Expr>,
    bytes: Option<Expr>,
}

fn read_head(root: &Section<'_>, messages: &Messages, overrides: &[(String, Value)]) -> Head {
    let stem = messages.source.path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let mut head = Head { name: stem.unwrap_or_default(), sizes: Vec::new(), flops: None, bytes: None };
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

/// Parameters and sizes reach the kernel as macros, and expressions by name: each needs a name of its own that C
/// takes for one.
fn check_names(problem: &Problem, messages: &Messages) {
    for (parameter, place) in problem.parameters.iter().zip(&problem.places.parameters) {
        let name = parameter.name();
        if !is_identifier(name) {
            let remedy = "use letters, digits and `_`, not starting with a digit".to_string();
            messages.error(place.clone(), format!("`{name}` is no name for a tuning parameter"), Some(remedy));
        }
        if lookup(&problem.sizes, name).is_some() {
            messages.error(place.clone(), format!("`{name}` is both a size and a tuning parameter"), None);
        }
    }
}

/// Commands find all names in their environment, where some have a meaning of their own.
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
