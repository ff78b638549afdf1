//! Reads problems in TOML: the text becomes a document, and the document the draft of a problem.

mod alternatives;
mod arguments;
mod command;
mod command_warnings;
mod inputs;
mod item;
mod judging;
mod kernels;
mod nest;
mod parameters;
mod settings;
mod tree;
mod tuning;
mod verify;

use crate::problem_file::ProblemFile;
use command_warnings::Warning;
use item::{Content, Item, Table};
use toml::de::DeTable;
use tree::{Node, Section};
use tunesmith_kernel::command::CommandSpec;
use tunesmith_space::{Value, did_you_mean};
use tunesmith_spec::{
    AlternativesDraft, Draft, Key, Level, Limit, Located, Measure, Messages, Places, ProblemError, SourceFile,
    SpaceDraft, SubjectDraft,
};

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

/// The most elements of a list that have places of their own. Messages about one of more are about the list.
const MOST_PLACES: usize = 256;

/// Reads a problem in TOML.
pub(crate) fn read(source_file: SourceFile, overrides: &[(String, Value)]) -> Result<ProblemFile, ProblemError> {
    let text = source_file.text.clone();
    let document = DeTable::parse(&text).map_err(|error| {
        let span = error.span().unwrap_or(0..0);
        let message = source_file.diagnostic(Level::Error, span, error.message().to_string(), None);
        ProblemError { messages: vec![message], source_file: source_file.clone() }
    })?;
    let document = Table::of_toml(document.get_ref());
    let mut places = Places::default();
    add_places(&document, &Key::default(), &mut places);
    let messages = Messages::new(source_file.clone());
    let root = Section::root(&document, &messages);
    root.allow(SECTIONS);
    let (draft, doubts) = read_draft(&root, overrides, &messages);
    let doubt =
        |doubt: Warning| source_file.diagnostic(Level::Warning, doubt.span, doubt.value.text, doubt.value.remedy);
    let doubts = doubts.into_iter().map(doubt).collect();
    Ok(ProblemFile { doubts, ..ProblemFile::new(draft, places, messages) })
}

/// Returns the parts of the problem, as far as they can be read, and the doubts about the words of a command. Reports
/// faults to `messages`.
fn read_draft(root: &Section<'_>, overrides: &[(String, Value)], messages: &Messages) -> (Draft, Vec<Warning>) {
    let section = |key: &str| root.get(key).and_then(|node| node.section());
    let is_command = root.get("kernel").as_ref().is_some_and(command::is_command);
    // Faults are told in the order of these lines.
    let head = read_head(root, messages, overrides);
    let alternatives = alternatives::read(root, messages);
    let space = read_space(root, messages);
    let arguments = if is_command { Vec::new() } else { arguments::read(root, messages) };
    let (command, doubts) = command::read(root, messages).unzip();
    let mut draft = Draft {
        space,
        arguments,
        subject: read_subject(root, command, alternatives, messages),
        // The verification of a command was read with the command.
        verify: section("verify").filter(|_| !is_command).map(|own| verify::read(&own, messages)).unwrap_or_default(),
        inputs: inputs::read(root, messages),
        measure: Measure { limits: read_limits(root), metrics: read_metrics(root), ..head.measure },
        tuning: section("tuning").map(|own| tuning::read(&own)).unwrap_or_default(),
        ..head
    };
    if let Some(own) = section("measure") {
        draft.measure.judging = judging::read(&own);
        draft.measure.policy = tuning::read_policy(&own);
    }
    (draft, doubts.unwrap_or_default())
}

fn read_space(root: &Section<'_>, messages: &Messages) -> SpaceDraft {
    // What chooses or sets something is a parameter as well.
    let has_others = root.get("alternative").is_some() || root.get("device_settings").is_some();
    SpaceDraft {
        parameters: parameters::read(root, has_others, messages),
        constraints: parameters::read_constraints(root, messages),
        settings: settings::read(root, messages),
        ..SpaceDraft::default()
    }
}

/// Returns the subject of tuning.
fn read_subject(
    root: &Section<'_>,
    command: Option<CommandSpec>,
    alternatives: Option<AlternativesDraft>,
    messages: &Messages,
) -> SubjectDraft {
    let kernel = root.get("kernel");
    match (kernel, command, alternatives) {
        (_, Some(command), _) => SubjectDraft::Command(Box::new(command)),
        (_, _, Some(alternatives)) => SubjectDraft::Alternatives(alternatives),
        (None, ..) => SubjectDraft::None,
        (Some(node), ..) if nest::is_nest(&node) => {
            let read = node.section().and_then(|own| nest::read(&own, messages));
            read.map_or(SubjectDraft::None, SubjectDraft::Nest)
        }
        // Its faults were reported.
        (Some(node), ..) if command::is_command(&node) || root.get("alternative").is_some() => SubjectDraft::None,
        (Some(node), ..) => SubjectDraft::Kernels(kernels::read_sequence(&node, |section| section, messages)),
    }
}

/// Adds the places of the values of `table`, which states the part `key`.
fn add_places(table: &Table, key: &Key, places: &mut Places) {
    for (name, item) in &table.entries {
        let key = key.field(&name.value);
        places.add(key.label(), name.span.clone());
        add_place(item, key, places);
    }
}

fn add_place(item: &Item, key: Key, places: &mut Places) {
    match &item.value {
        Content::Table(table) => add_places(table, &key, places),
        Content::List(items) if items.len() <= MOST_PLACES => {
            items.iter().enumerate().for_each(|(at, item)| add_place(item, key.at(at), places));
        }
        _ => {}
    }
    places.add(key, item.span.clone());
}

/// Returns the metrics of `[metrics]`, each an expression.
fn read_metrics(root: &Section<'_>) -> Vec<(String, String)> {
    let Some(metrics) = root.get("metrics").and_then(|node| node.section()) else { return Vec::new() };
    let metric = |(name, node): (Located<&str>, Node<'_>)| {
        Some((name.value.to_string(), node.expression()?.value.text().to_string()))
    };
    metrics.entries().filter_map(metric).collect()
}

/// Returns the limits of `[limits]`, each a condition.
fn read_limits(root: &Section<'_>) -> Vec<Limit> {
    let Some(limits) = root.get("limits").and_then(|node| node.section()) else { return Vec::new() };
    let limit = |(name, node): (Located<&str>, Node<'_>)| {
        let condition = node.expression()?.value;
        let is_name = matches!(condition.names(), [name] if name.text == condition.text().trim());
        if is_name || condition.takes_number_for_truth() {
            let remedy = format!("compare it with a bound, as in `{} <= 10`", condition.text());
            node.error(format!("`{}` must be a condition, not a number", node.name()), Some(remedy));
            return None;
        }
        Some(Limit { name: name.value.to_string(), condition })
    };
    limits.entries().filter_map(limit).collect()
}

/// Returns the parts that `[problem]` states, with the sizes of `overrides`.
fn read_head(root: &Section<'_>, messages: &Messages, overrides: &[(String, Value)]) -> Draft {
    let mut head = Draft { name: messages.source.stem(), ..Draft::default() };
    if let Some(section) = root.get("problem").and_then(|node| node.section()) {
        section.allow(&["name", "sizes", "flops", "bytes"]);
        if let Some(name) = section.get("name").and_then(|node| node.string()) {
            head.name = name.to_string();
        }
        head.sizes = read_sizes(&section);
        let expression = |key| section.get(key).and_then(|node| node.expression()).map(|located| located.value);
        head.measure.flops = expression("flops");
        head.measure.bytes = expression("bytes");
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
    let size = |(name, node): (Located<&str>, Node<'_>)| Some((name.value.to_string(), node.required_scalar()?));
    sizes.entries().filter_map(size).collect()
}
