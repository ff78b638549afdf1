//! Reads the `[[arguments]]` and `[verify]` of a problem.

use crate::diagnostic::Messages;
use crate::tree::{Node, Section};
use crate::{kernel, parameters};
use std::ops::Range;
use std::path::Path;
use tunesmith_device::{
    Access, Argument, ArgumentKind, ElementType, Fill, Language, Memory, PartialTolerance, Reference, Verify,
};
use tunesmith_space::Value;
use tunesmith_space::did_you_mean;
use tunesmith_space::lookup;

const KEYS: &[&str] = &[
    "name",
    "type",
    "shape",
    "fill",
    "constant",
    "path",
    "generator",
    "access",
    "memory",
    "symbol",
    "value",
    "relative",
    "absolute",
];

/// Returns the arguments with their places in the file.
pub(crate) fn read(
    root: &Section<'_>,
    sizes: &[(String, Value)],
    messages: &Messages,
) -> Vec<(Argument, Range<usize>)> {
    let Some(node) = root.get("arguments") else { return Vec::new() };
    let mut arguments: Vec<(Argument, Range<usize>)> = Vec::new();
    for item in node.items() {
        let Some(section) = item.section() else { continue };
        let Some(argument) = read_one(&section, sizes, messages) else { continue };
        if arguments.iter().any(|(known, _)| known.name == argument.name) {
            item.error(format!("two arguments are called `{}`", argument.name), None);
        }
        arguments.push((argument, item.span()));
    }
    arguments
}

fn read_one(section: &Section<'_>, sizes: &[(String, Value)], messages: &Messages) -> Option<Argument> {
    section.allow(KEYS);
    let name = section.require("name", "name = \"a\"").and_then(|node| node.string());
    let element = section.require("type", "type = \"f32\"").and_then(|node| element(&node));
    let kind = match (section.get("value"), section.get("shape")) {
        (Some(value), None) => value.expression().map(|located| ArgumentKind::Scalar(located.value)),
        (None, Some(shape)) if is_local(section) => read_local(section, &shape),
        (None, Some(shape)) => read_buffer(section, &shape, sizes, messages),
        _ => {
            let remedy = "a buffer has `shape = [\"M\", \"K\"]`, a scalar `value = \"K\"`".to_string();
            let text = "an argument has either a shape or a value".to_string();
            messages.error(section.span.clone(), text, Some(remedy));
            None
        }
    };
    let kind = kind?;
    let symbol = read_symbol(section, &kind);
    Some(Argument { name: name?.to_string(), element: element?, kind, symbol })
}

/// Returns the variable that a CUDA kernel reads in place of a parameter. Only arguments in
/// constant memory can have one.
fn read_symbol(section: &Section<'_>, kind: &ArgumentKind) -> Option<String> {
    let node = section.get("symbol")?;
    let symbol = node.string()?;
    if !matches!(kind, ArgumentKind::Buffer { memory: Memory::Constant, access: Access::In, .. }) {
        let remedy = "write memory = \"constant\" and access = \"in\" as well".to_string();
        node.error(format!("`{symbol}` is a variable in constant memory, and this argument is not"), Some(remedy));
    }
    Some(symbol.to_string())
}

fn element(node: &Node<'_>) -> Option<ElementType> {
    ElementType::parse(node.string()?).map_err(|error| node.error(error.to_string(), None)).ok()
}

fn is_local(section: &Section<'_>) -> bool {
    section.get("memory").and_then(|node| node.scalar()) == Some(Value::Str("local".into()))
}

/// Returns the shape of an argument in local memory: extents only, which may depend on the
/// parameters.
fn read_local(section: &Section<'_>, shape: &Node<'_>) -> Option<ArgumentKind> {
    for extra in ["fill", "constant", "path", "generator", "access"].iter().filter_map(|key| section.get(key)) {
        let remedy = "remove it: local memory holds nothing before a kernel runs".to_string();
        extra.error(format!("`{}` has no meaning for local memory", extra.name), Some(remedy));
    }
    let extents: Option<Vec<_>> =
        shape.items().iter().map(|node| node.expression().map(|located| located.value)).collect();
    Some(ArgumentKind::Local { shape: extents? })
}

fn read_buffer(
    section: &Section<'_>,
    shape: &Node<'_>,
    sizes: &[(String, Value)],
    messages: &Messages,
) -> Option<ArgumentKind> {
    let extent = |node: Node<'_>| {
        let extent = parameters::integer(&node.expression()?, sizes, messages)?;
        let positive = u64::try_from(extent).ok().filter(|extent| *extent > 0);
        if positive.is_none() {
            node.error(format!("an extent of {extent} in `{}`", node.name), Some("extents are at least 1".to_string()));
        }
        positive
    };
    let shape: Option<Vec<u64>> = shape.items().into_iter().map(extent).collect();
    let fill = read_fill(section, sizes, messages.source.folder());
    let access =
        word_or(section, "access", Access::In, &[("in", Access::In), ("out", Access::Out), ("inout", Access::InOut)]);
    // "local" was handled before. It is in this list for the error message about a misspelled word.
    let memories = [("global", Some(Memory::Global)), ("constant", Some(Memory::Constant)), ("local", None)];
    let memory = word_or(section, "memory", Some(Memory::Global), &memories).flatten();
    Some(ArgumentKind::Buffer { shape: shape?, fill: fill?, access: access?, memory: memory? })
}

/// Returns the value of the word at `key`, or `default` without the key.
fn word_or<T: Copy>(section: &Section<'_>, key: &str, default: T, words: &[(&str, T)]) -> Option<T> {
    if section.get(key).is_some() { word(section, key, words) } else { Some(default) }
}

/// Returns the value of the word at `key`. Reports any other word. Returns `None` for it and
/// without the key.
pub(crate) fn word<T: Copy>(section: &Section<'_>, key: &str, words: &[(&str, T)]) -> Option<T> {
    let node = section.get(key)?;
    let text = node.string()?;
    let known = words.iter().find(|(word, _)| *word == text);
    if known.is_none() {
        let names: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        let remedy = did_you_mean(text, names.iter().copied()).unwrap_or_else(|| format!("it is {}", names.join(", ")));
        node.error(format!("`{}` cannot be `{text}`", node.name), Some(remedy));
    }
    known.map(|(_, value)| *value)
}

fn read_fill(section: &Section<'_>, sizes: &[(String, Value)], folder: &Path) -> Option<Fill> {
    let Some(node) = section.get("fill") else { return Some(Fill::Random) };
    match node.string()? {
        "constant" => {
            let value = section.require("constant", "constant = 1.0").and_then(|node| node.number());
            Some(Fill::Constant(value?))
        }
        "file" => {
            let path = section.require("path", "path = \"a.npy\"").and_then(|node| node.string());
            Some(Fill::File(folder.join(path?)))
        }
        "generator" => {
            let node = section.require("generator", "generator = \"3 * i\"")?;
            let expression = node.expression()?.value;
            let is_known = |name: &str| name == "i" || lookup(sizes, name).is_some();
            if let Some(name) = expression.names().iter().find(|name| !is_known(&name.text)) {
                let known = || std::iter::once("i").chain(sizes.iter().map(|(name, _)| name.as_str()));
                let remedy = did_you_mean(&name.text, known())
                    .unwrap_or_else(|| "a generator knows the sizes and `i`, the number of the element".to_string());
                node.error(format!("`{}` in the generator is not known", name.text), Some(remedy));
            }
            Some(Fill::Generator(expression))
        }
        _ => {
            let plain =
                [("random", 0), ("zeros", 1), ("ones", 2), ("iota", 3), ("constant", 4), ("file", 5), ("generator", 6)];
            match word(section, "fill", &plain)? {
                0 => Some(Fill::Random),
                1 => Some(Fill::Zeros),
                2 => Some(Fill::Ones),
                _ => Some(Fill::Iota),
            }
        }
    }
}

const VERIFY_KEYS: &[&str] = &["reference", "expected", "relative", "absolute"];

pub(crate) fn read_verify(section: &Section<'_>, root: &Section<'_>, messages: &Messages) -> Verify {
    section.allow(VERIFY_KEYS);
    let folder = messages.source.folder();
    let mut verify = Verify::default();
    if let Some(reference) = section.get("reference").and_then(|node| node.section()) {
        verify.reference = read_reference(&reference, folder, messages);
    }
    if let Some(expected) = section.get("expected").and_then(|node| node.section()) {
        for (name, node) in expected.entries() {
            if let Some(path) = node.string() {
                verify.expected.push((name.value.to_string(), folder.join(path)));
            }
        }
    }
    verify.relative = tolerance(section, "relative");
    verify.absolute = tolerance(section, "absolute");
    for item in root.get("arguments").map(|node| node.items()).unwrap_or_default() {
        let Some(argument) = item.section() else { continue };
        let own =
            PartialTolerance { relative: tolerance(&argument, "relative"), absolute: tolerance(&argument, "absolute") };
        let is_stated = own.relative.or(own.absolute).is_some();
        if let Some(name) = argument.get("name").and_then(|node| node.string()).filter(|_| is_stated) {
            verify.tolerances.insert(name.to_string(), own);
        }
    }
    verify
}

fn read_reference(section: &Section<'_>, folder: &Path, messages: &Messages) -> Option<Reference> {
    section.allow(&["file", "function", "language", "global", "local", "grid"]);
    let file = section.require("file", "file = \"reference.c\"");
    let function = section.require("function", "function = \"reference\"").and_then(|node| node.string());
    let path = folder.join(file.as_ref()?.string()?);
    let language = match section.get("language") {
        Some(node) => kernel::language(&node, Language::from_name(node.string()?))?,
        None => kernel::language(&file?, Language::from_suffix(&path))?,
    };
    let work = kernel::read_work(section, language, messages);
    Some(Reference { language, file: path, generator: None, function: function?.to_string(), work })
}

fn tolerance(section: &Section<'_>, key: &str) -> Option<f64> {
    let node = section.get(key)?;
    let tolerance = node.number()?;
    if tolerance.is_finite() && tolerance >= 0.0 {
        return Some(tolerance);
    }
    node.error(format!("`{}` must be at least 0", node.name), None);
    None
}
