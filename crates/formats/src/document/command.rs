//! Reads the `[kernel]` and `[verify]` of a problem whose kernel is a command.

use super::command_warnings::{self, Warning};
use super::tree::{Node, Section};
use std::fmt::Display;
use tunesmith_kernel::Template;
use tunesmith_kernel::command::{CommandSpec, CommandVerify, Cost, NumberPattern, TextPattern, Unit};
use tunesmith_space::{Value, did_you_mean};
use tunesmith_spec::{Located, Messages};

const KEYS: &[&str] =
    &["command", "build", "environment", "cost", "unit", "time", "values", "warmup", "memory_limit", "writes"];

const VERIFY_KEYS: &[&str] = &["output", "expected_output", "check"];

/// Returns the command of a problem that has one instead of a kernel, with the doubts about its words.
pub(super) fn read(root: &Section<'_>, messages: &Messages) -> Option<(CommandSpec, Vec<Warning>)> {
    let node = root.get("kernel").filter(is_command)?;
    let section = node.section()?;
    section.allow(KEYS);
    refuse_arguments(root);
    refuse_warmups(root, &section);
    let verify = root.get("verify").and_then(|node| node.section());
    let flag = |key: &str| section.get(key).map_or(Some(true), |node| truth(&node));
    let spec = CommandSpec {
        folder: messages.source.folder().to_path_buf(),
        command: command(&section.get("command")?)?,
        build: section.get("build").map_or(Some(Vec::new()), |node| steps(&node))?,
        environment: environment(&section),
        cost: cost(&section, messages)?,
        values: values(&section),
        warmup: flag("warmup")?,
        memory_limit: section.get("memory_limit").map_or(Some(None), |node| bytes(&node).map(Some))?,
        writes: section.get("writes").map_or(Some(Vec::new()), |node| node.items().iter().map(template).collect())?,
        verify: verify.as_ref().map_or(Some(CommandVerify::default()), |section| read_verify(section, messages))?,
    };
    let build = section.get("build").map(|node| steps_of(&node)).unwrap_or_default();
    let warnings = command_warnings::of(&section, &build, verify.as_ref(), &spec.folder);
    Some((spec, warnings))
}

/// Returns true if `[kernel]` is a command.
pub(super) fn is_command(node: &Node<'_>) -> bool {
    node.is_table() && node.section().is_some_and(|section| section.get("command").is_some())
}

fn refuse_arguments(root: &Section<'_>) {
    if let Some(node) = root.get("arguments") {
        let remedy = "give it words and environment variables: command = [\"./prog\", \"{N}\"]".to_string();
        node.error("a command has no `[[arguments]]`", Some(remedy));
    }
}

/// Reports a number of warm-ups for a command whose first run counts.
fn refuse_warmups(root: &Section<'_>, kernel: &Section<'_>) {
    let counts = kernel.get("warmup").and_then(|node| node.scalar()) == Some(Value::Bool(false));
    let measure = root.get("measure").and_then(|node| node.section());
    if let Some(warmups) = measure.and_then(|section| section.get("warmups")).filter(|_| counts) {
        warmups.error("`kernel.warmup = false` counts the first run", Some("remove one of the two".to_string()));
    }
}

/// Returns one command: a list of words.
fn command(node: &Node<'_>) -> Option<Vec<Template>> {
    let items = node.items();
    if items.is_empty() {
        node.error(format!("`{}` has no words", node.name()), Some("write [\"./prog\", \"{N}\"]".to_string()));
        return None;
    }
    items.iter().map(template).collect()
}

/// Returns the commands at a key with one command or a list of commands.
fn steps_of<'a>(node: &Node<'a>) -> Vec<Node<'a>> {
    let items = node.items();
    if items.iter().any(Node::is_list) { items } else { vec![node.clone()] }
}

/// Returns one command or a list of commands.
fn steps(node: &Node<'_>) -> Option<Vec<Vec<Template>>> {
    let items = node.items();
    if items.is_empty() {
        return Some(Vec::new());
    }
    if !node.is_list() || !items.iter().any(Node::is_list) {
        return command(node).map(|step| vec![step]);
    }
    if let Some(odd) = items.iter().find(|item| !item.is_list()) {
        let remedy = "write one list of words, or a list of such lists".to_string();
        odd.error(format!("`{}` mixes words and lists of words", node.name()), Some(remedy));
        return None;
    }
    items.iter().map(command).collect()
}

fn template(node: &Node<'_>) -> Option<Template> {
    let text = node.string()?;
    Template::parse(text).map_err(|error| node.error(format!("`{}`: {error}", node.name()), None)).ok()
}

fn environment(section: &Section<'_>) -> Vec<(String, Template)> {
    let Some(table) = section.get("environment").and_then(|node| node.section()) else { return Vec::new() };
    let entry = |(name, node): (Located<&str>, Node<'_>)| {
        let is_name = !name.value.is_empty() && !name.value.contains(['=', '\0']);
        if !is_name {
            node.error(format!("`{}` cannot be the name of an environment variable", name.value), None);
        }
        // A number is kept as it is written.
        let text = match node.scalar() {
            Some(Value::Str(_)) | None => template(&node)?,
            Some(value) => Template::parse(&value.define()).ok()?,
        };
        is_name.then(|| (name.value.to_string(), text))
    };
    table.entries().filter_map(entry).collect()
}

fn cost(section: &Section<'_>, messages: &Messages) -> Option<Cost> {
    let units = Unit::ALL;
    let unit = section.get("unit").map_or(Some(Unit::default()), |node| word(&node, &units))?;
    let times = [("wall", Cost::Wall), ("user", Cost::User), ("cpu", Cost::Cpu)];
    let time = section.get("time").map_or(Some(Cost::Wall), |node| word(&node, &times))?;
    let Some(node) = section.get("cost") else {
        if let Some(unit) = section.get("unit") {
            let remedy = "name it: cost = \"time: ([-+0-9.eE]+)\"; other times need no unit".to_string();
            unit.error("`kernel.unit` is the unit of a printed cost, but there is none", Some(remedy));
        }
        return Some(time);
    };
    if let Some(time) = section.get("time") {
        let remedy = "remove one of the two".to_string();
        messages.error(time.span(), "`kernel.time` and `kernel.cost` both say what a run costs", Some(remedy));
    }
    number_pattern(&node).map(|pattern| Cost::Printed(pattern, unit))
}

fn values(section: &Section<'_>) -> Vec<(String, NumberPattern)> {
    let Some(table) = section.get("values").and_then(|node| node.section()) else { return Vec::new() };
    let value = |(name, node): (Located<&str>, Node<'_>)| Some((name.value.to_string(), number_pattern(&node)?));
    table.entries().filter_map(value).collect()
}

fn read_verify(section: &Section<'_>, messages: &Messages) -> Option<CommandVerify> {
    section.allow(VERIFY_KEYS);
    let output =
        section.get("output").map_or(Some(None), |node| reported(&node, TextPattern::parse(node.string()?)).map(Some));
    let expected = section.get("expected_output").map_or(Some(None), |node| {
        let path = messages.source.folder().join(node.string()?);
        if path.is_file() {
            return Some(Some(path));
        }
        let remedy = format!("paths are relative to `{}`", messages.source.folder().display());
        node.error(format!("there is no file `{}`", path.display()), Some(remedy));
        None
    });
    let check = section.get("check").map_or(Some(None), |node| command(&node).map(Some));
    Some(CommandVerify { output: output?, expected_output: expected?, check: check? })
}

fn number_pattern(node: &Node<'_>) -> Option<NumberPattern> {
    reported(node, NumberPattern::parse(node.string()?))
}

fn reported<T>(node: &Node<'_>, parsed: Result<T, impl Display>) -> Option<T> {
    parsed.map_err(|error| node.error(format!("`{}`: {error}", node.name()), None)).ok()
}

/// Returns the meaning of the word at a key. Reports any other word.
fn word<T: Clone>(node: &Node<'_>, words: &[(&str, T)]) -> Option<T> {
    let text = node.string()?;
    let known = words.iter().find(|(word, _)| *word == text);
    if known.is_none() {
        let names = || words.iter().map(|(word, _)| *word);
        let all = || format!("it is {}", names().collect::<Vec<_>>().join(", "));
        node.error(
            format!("`{}` cannot be `{text}`", node.name()),
            did_you_mean(text, names()).or_else(|| Some(all())),
        );
    }
    known.map(|(_, value)| value.clone())
}

fn truth(node: &Node<'_>) -> Option<bool> {
    match node.scalar() {
        Some(Value::Bool(truth)) => Some(truth),
        _ => {
            node.error(format!("`{}` is true or false", node.name()), None);
            None
        }
    }
}

/// Returns a number of bytes: a whole number, or one with a unit, such as `512MiB`.
fn bytes(node: &Node<'_>) -> Option<u64> {
    let bytes = match node.scalar() {
        Some(Value::Int(bytes)) => u64::try_from(bytes).ok(),
        Some(Value::Str(text)) => parse_bytes(&text),
        _ => None,
    };
    let bytes = bytes.filter(|bytes| *bytes > 0);
    if bytes.is_none() {
        let remedy = "write a number with kB, MB, GB, KiB, MiB or GiB: \"2GiB\"".to_string();
        node.error(format!("`{}` is no amount of memory", node.name()), Some(remedy));
    }
    bytes
}

fn parse_bytes(text: &str) -> Option<u64> {
    const UNITS: [(&str, u64); 7] = [
        ("B", 1),
        ("kB", 1000),
        ("MB", 1_000_000),
        ("GB", 1_000_000_000),
        ("KiB", 1 << 10),
        ("MiB", 1 << 20),
        ("GiB", 1 << 30),
    ];
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let unit = UNITS.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit.trim())).map(|(_, factor)| *factor);
    number.parse::<u64>().ok()?.checked_mul(unit?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_has_units() {
        let read = ["512MiB", "2 GiB", "1kb", "100B", "1.5GiB", "GiB", "7"].map(parse_bytes);
        assert_eq!(read, [Some(512 << 20), Some(2 << 30), Some(1000), Some(100), None, None, None]);
    }
}
