//! Reads the `[verify]` of a problem.

use crate::diagnostic::Messages;
use crate::options::Options;
use crate::tree::{Node, Section};
use crate::{kernel, parameters};
use std::ops::Range;
use std::path::{Path, PathBuf};
use tunesmith_device::{Argument, Language, PartialTolerance, Reference, Verify};
use tunesmith_space::did_you_mean;
use tunesmith_space::{Value, lookup};

const KEYS: &[&str] = &["reference", "expected", "relative", "absolute", "compare", "sizes"];

const REFERENCE_KEYS: &[&str] =
    &["file", "function", "language", "sources", "include", "options", "arguments", "global", "local", "grid"];

/// Returns the rules for verifying outputs, but for the further sizes.
pub(crate) fn read(
    section: &Section<'_>,
    root: &Section<'_>,
    sizes: &[(String, Value)],
    arguments: &[Argument],
    messages: &Messages,
) -> Verify {
    section.allow(KEYS);
    let folder = messages.source.folder();
    let mut verify = Verify::default();
    if let Some(reference) = section.get("reference").and_then(|node| node.section()) {
        verify.reference = read_reference(&reference, folder, arguments, messages);
    }
    if let Some(expected) = section.get("expected").and_then(|node| node.section()) {
        for (name, node) in expected.entries() {
            if let Some(path) = node.string() {
                verify.expected.push((name.value.to_string(), folder.join(path).into()));
            }
        }
    }
    if let Some(compare) = section.get("compare").and_then(|node| node.section()) {
        for (name, node) in compare.entries() {
            if !arguments.iter().any(|argument| argument.name == name.value && argument.is_output()) {
                let outputs = arguments.iter().filter(|argument| argument.is_output());
                let remedy = did_you_mean(name.value, outputs.map(|argument| argument.name.as_str()));
                node.error(format!("there is no output `{}` to compare", name.value), remedy);
            }
            verify.compare.insert(name.value.to_string(), read_ranges(&node, sizes, messages));
        }
    }
    verify.relative = tolerance(section, "relative");
    verify.absolute = tolerance(section, "absolute");
    verify.tolerances = read_tolerances(root);
    verify
}

/// Returns the tolerances of single arguments.
fn read_tolerances(root: &Section<'_>) -> std::collections::BTreeMap<String, PartialTolerance> {
    let mut tolerances = std::collections::BTreeMap::new();
    for item in root.get("arguments").map(|node| node.items()).unwrap_or_default() {
        let Some(argument) = item.section() else { continue };
        let own =
            PartialTolerance { relative: tolerance(&argument, "relative"), absolute: tolerance(&argument, "absolute") };
        let is_stated = own.relative.or(own.absolute).is_some();
        if let Some(name) = argument.get("name").and_then(|node| node.string()).filter(|_| is_stated) {
            tolerances.insert(name.to_string(), own);
        }
    }
    tolerances
}

fn read_reference(
    section: &Section<'_>,
    folder: &Path,
    arguments: &[Argument],
    messages: &Messages,
) -> Option<Reference> {
    section.allow(REFERENCE_KEYS);
    let file = section.require("file", "file = \"reference.c\"");
    let function = section.require("function", "function = \"reference\"").and_then(|node| node.string());
    let path = folder.join(file.as_ref()?.string()?);
    let language = match section.get("language") {
        Some(node) => kernel::language(&node, Language::from_name(node.string()?))?,
        None => kernel::language(&file?, Language::from_suffix(&path))?,
    };
    let paths = |key: &str| -> Vec<PathBuf> {
        let texts = section.get(key).map(|node| node.strings()).unwrap_or_default();
        texts.into_iter().map(|text| folder.join(text.value)).collect()
    };
    let own = section.get("arguments").is_some().then(|| kernel::read_arguments(section, arguments));
    let (sources, mut include) = (paths("sources"), paths("include"));
    let Options { include: named, templates: options } = kernel::options(section.get("options"), folder);
    include.extend(named);
    let work = kernel::read_work(section, &[language], messages);
    Some(Reference { sources, include, options, arguments: own, work, ..Reference::new(language, path, function?) })
}

/// Returns the ranges of a text such as `0..n, m..2 * m`, or of a list of such texts.
fn read_ranges(node: &Node<'_>, sizes: &[(String, Value)], messages: &Messages) -> Vec<Range<u64>> {
    let mut ranges = Vec::new();
    for item in node.items() {
        let Some(text) = item.string() else { continue };
        for part in parts(text) {
            let Some((first, last)) = parameters::bounds_of(part, &item, sizes, messages) else { continue };
            match (u64::try_from(first), u64::try_from(last + 1)) {
                (Ok(first), Ok(end)) if first < end => ranges.push(first..end),
                _ => item.error(
                    format!("`{}` is no range of elements", part.trim()),
                    Some("write first..end with 0 <= first < end".to_string()),
                ),
            }
        }
    }
    ranges
}

/// Splits a text at the commas outside of parentheses.
fn parts(text: &str) -> Vec<&str> {
    let mut depth = 0;
    let is_comma = |letter: char| {
        depth += i32::from(letter == '(') - i32::from(letter == ')');
        letter == ',' && depth == 0
    };
    text.split(is_comma).collect()
}

/// An entry of `sizes`: its text for messages, its place, and its sizes.
pub(crate) type FurtherSizes = (String, Range<usize>, Vec<(String, Value)>);

/// Returns the further sizes at which a winner is verified.
pub(crate) fn read_sizes(section: &Section<'_>, sizes: &[(String, Value)], messages: &Messages) -> Vec<FurtherSizes> {
    let entries = section.get("sizes").map(|node| node.items()).unwrap_or_default();
    let entry = |node: &Node<'_>| {
        let mut own = Vec::new();
        for (name, node) in node.section()?.entries() {
            if lookup(sizes, name.value).is_none() {
                let names: Vec<&str> = sizes.iter().map(|(name, _)| name.as_str()).collect();
                let remedy = did_you_mean(name.value, names.iter().copied())
                    .unwrap_or_else(|| format!("sizes are those of [problem] sizes: {}", names.join(", ")));
                messages.error(name.span, format!("the problem has no size `{}`", name.value), Some(remedy));
                return None;
            }
            own.push((name.value.to_string(), node.required_scalar()?));
        }
        let label = own.iter().map(|(name, value)| format!("{name} = {value}")).collect::<Vec<_>>().join(", ");
        Some((label, node.span(), own))
    };
    entries.iter().filter_map(entry).collect()
}

/// Returns a tolerance. A relative one above 1 would take zeros for any result.
fn tolerance(section: &Section<'_>, key: &str) -> Option<f64> {
    let node = section.get(key)?;
    let tolerance = node.number()?;
    let most = if key == "relative" { 1.0 } else { f64::MAX };
    if (0.0..=most).contains(&tolerance) {
        return Some(tolerance);
    }
    let bound = if key == "relative" { " and at most 1" } else { ", and finite" };
    node.error(format!("`{}` must be at least 0{bound}", node.name), None);
    None
}
