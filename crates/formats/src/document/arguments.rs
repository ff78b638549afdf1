//! Reads `[[arguments]]`.

use super::tree::{Node, Section};
use super::verify;
use std::path::Path;
use tunesmith_kernel::{
    Access, Address, ElementType, Fill, Filter, Image, Memory, PartialTolerance, Sampler, ScalarType,
};
use tunesmith_space::{Expr, Value, did_you_mean};
use tunesmith_spec::{ArgumentDraft, ArgumentKindDraft, Messages};

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
    "normalized",
    "filter",
    "address",
    "coordinates",
    "symbol",
    "align",
    "value",
    "relative",
    "absolute",
];

/// Returns the arguments.
pub(super) fn read(root: &Section<'_>, messages: &Messages) -> Vec<ArgumentDraft> {
    let items = root.get("arguments").map(|node| node.items()).unwrap_or_default();
    items.iter().filter_map(|item| read_one(&item.section()?, messages)).collect()
}

fn read_one(section: &Section<'_>, messages: &Messages) -> Option<ArgumentDraft> {
    section.allow(KEYS);
    let name = section.require("name", "name = \"a\"").and_then(|node| node.string());
    let element = section.require("type", "type = \"f32\"").and_then(|node| element(&node));
    let kind = match (section.get("value"), section.get("shape")) {
        (Some(value), None) if value.is_list() => read_object(&value, element),
        (Some(value), None) => value.expression().map(|located| ArgumentKindDraft::Scalar(located.value)),
        (None, Some(shape)) if is_local(section) => read_local(section, &shape),
        (None, Some(shape)) => read_buffer(section, &shape, messages.source.folder()),
        _ => {
            let remedy = "a buffer has `shape = [\"M\", \"K\"]`, a scalar `value = \"K\"`".to_string();
            let text = "an argument has either a shape or a value".to_string();
            messages.error(section.span.clone(), text, Some(remedy));
            None
        }
    };
    let kind = kind?;
    refuse_image_keys(section, &kind);
    let tolerance = PartialTolerance {
        relative: verify::tolerance(section, "relative"),
        absolute: verify::tolerance(section, "absolute"),
    };
    Some(ArgumentDraft {
        key: section.key.clone(),
        name: name?.to_string(),
        element: element?,
        kind,
        symbol: section.get("symbol").and_then(|node| node.string()).map(str::to_string),
        align: section.get("align").and_then(|node| node.count()),
        tolerance: (tolerance.relative.or(tolerance.absolute)).is_some().then_some(tolerance),
    })
}

/// Returns an object passed by value from the list of its bytes.
fn read_object(value: &Node<'_>, element: Option<ElementType>) -> Option<ArgumentKindDraft> {
    if element.is_some_and(|element| element.scalar() != ScalarType::Byte) {
        let remedy = "write type = \"bytes\" for a struct, `shape` and `fill` for a buffer".to_string();
        value.error("a list of values is an object passed by value, which has bytes", Some(remedy));
    }
    let byte = |node: &Node<'_>| {
        let number = node.count()?;
        let byte = u8::try_from(number).ok();
        if byte.is_none() {
            node.error(format!("{number} is no byte"), Some("a byte is 0 to 255".to_string()));
        }
        byte
    };
    value.items().iter().map(byte).collect::<Option<_>>().map(ArgumentKindDraft::Object)
}

fn element(node: &Node<'_>) -> Option<ElementType> {
    ElementType::parse(node.string()?).map_err(|error| node.error(error.to_string(), error.remedy())).ok()
}

fn is_local(section: &Section<'_>) -> bool {
    section.get("memory").and_then(|node| node.scalar()) == Some(Value::Str("local".into()))
}

/// Returns the shape of an argument in local memory: extents only, which may depend on the
/// parameters.
fn read_local(section: &Section<'_>, shape: &Node<'_>) -> Option<ArgumentKindDraft> {
    for extra in ["fill", "constant", "path", "generator", "access"].iter().filter_map(|key| section.get(key)) {
        let remedy = "remove it: local memory holds nothing before a kernel runs".to_string();
        extra.error(format!("`{}` has no meaning for local memory", extra.name()), Some(remedy));
    }
    read_shape(shape).map(ArgumentKindDraft::Local)
}

/// Returns the extents of a buffer.
fn read_shape(shape: &Node<'_>) -> Option<Vec<Expr>> {
    shape.items().iter().map(|node| node.expression().map(|located| located.value)).collect()
}

fn read_buffer(section: &Section<'_>, shape: &Node<'_>, folder: &Path) -> Option<ArgumentKindDraft> {
    let (shape, fill) = (read_shape(shape), read_fill(section, folder));
    let accesses = [("in", Access::In), ("out", Access::Out), ("inout", Access::InOut), ("scratch", Access::Scratch)];
    let access = word_or(section, "access", Access::In, &accesses);
    let image = Some(Memory::Image(read_image(section).unwrap_or_default()));
    // "local" was handled before. It is in this list for the error message about a misspelled word.
    let memories =
        [("global", Some(Memory::Global)), ("constant", Some(Memory::Constant)), ("image", image), ("local", None)];
    let memory = word_or(section, "memory", Some(Memory::Global), &memories).flatten();
    Some(ArgumentKindDraft::Buffer { shape: shape?, fill: fill?, access: access?, memory: memory? })
}

/// The keys that only images have.
const IMAGE_KEYS: [&str; 4] = ["normalized", "filter", "address", "coordinates"];

/// Returns the form of an image. `None` if a key has another value.
fn read_image(section: &Section<'_>) -> Option<Image> {
    let normalized = section.get("normalized").map_or(Some(false), |node| node.truth())?;
    let filters = [("nearest", Filter::Nearest), ("linear", Filter::Linear)];
    let addresses =
        [("clamp", Address::Clamp), ("border", Address::Border), ("wrap", Address::Wrap), ("mirror", Address::Mirror)];
    let sampler = Sampler {
        filter: word_or(section, "filter", Filter::Nearest, &filters)?,
        address: word_or(section, "address", Address::Clamp, &addresses)?,
        normalized_coordinates: word_or(section, "coordinates", false, &[("pixels", false), ("normalized", true)])?,
    };
    Some(Image { normalized, sampler })
}

/// Reports keys of images at other arguments.
fn refuse_image_keys(section: &Section<'_>, kind: &ArgumentKindDraft) {
    if matches!(kind, ArgumentKindDraft::Buffer { memory: Memory::Image(_), .. }) {
        return;
    }
    for key in IMAGE_KEYS.iter().filter_map(|key| section.get(key)) {
        let remedy = "write memory = \"image\" as well, or remove it".to_string();
        key.error(format!("only images have `{}`", key.name()), Some(remedy));
    }
}

/// Returns the value of the word at `key`, or `default` without the key.
fn word_or<T: Copy>(section: &Section<'_>, key: &str, default: T, words: &[(&str, T)]) -> Option<T> {
    if section.get(key).is_some() { word(section, key, words) } else { Some(default) }
}

/// Returns the value of the word at `key`. Reports any other word. Returns `None` for it and
/// without the key.
pub(super) fn word<T: Copy>(section: &Section<'_>, key: &str, words: &[(&str, T)]) -> Option<T> {
    let node = section.get(key)?;
    let text = node.string()?;
    let known = words.iter().find(|(word, _)| *word == text);
    if known.is_none() {
        let names: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        let remedy = did_you_mean(text, names.iter().copied()).unwrap_or_else(|| format!("it is {}", names.join(", ")));
        node.error(format!("`{}` cannot be `{text}`", node.name()), Some(remedy));
    }
    known.map(|(_, value)| *value)
}

fn read_fill(section: &Section<'_>, folder: &Path) -> Option<Fill> {
    let Some(node) = section.get("fill") else { return Some(Fill::Random) };
    if node.is_table() {
        return read_between(&node.section()?);
    }
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
            Some(Fill::Generator(node.expression()?.value))
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

/// Returns the fill of `{ random = [low, high] }`.
fn read_between(section: &Section<'_>) -> Option<Fill> {
    section.allow(&["random"]);
    let node = section.require("random", "random = [0.0, 1.0]")?;
    let bounds: Option<Vec<f64>> = node.items().iter().map(Node::number).collect();
    match bounds?.as_slice() {
        [low, high] if low.is_finite() && high.is_finite() && low <= high => Some(Fill::Between(*low, *high)),
        _ => {
            node.error(format!("`{}` must be two numbers, the lower one first", node.name()), None);
            None
        }
    }
}
