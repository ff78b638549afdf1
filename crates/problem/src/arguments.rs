//! Reads the `[[arguments]]` of a problem.

use crate::diagnostic::Messages;
use crate::parameters;
use crate::tree::{Located, Node, Section};
use std::ops::Range;
use std::path::Path;
use tunesmith_core::Refusal;
use tunesmith_device::{
    Access, Address, Argument, ArgumentKind, ElementType, Fill, Filter, Image, Memory, Sampler, ScalarType, Shape,
};
use tunesmith_space::did_you_mean;
use tunesmith_space::lookup;
use tunesmith_space::{Expr, Parameter, Value};

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

/// The names that expressions about arguments may use.
#[derive(Clone, Copy)]
pub(crate) struct Names<'a> {
    pub(crate) sizes: &'a [(String, Value)],
    /// The tuning parameters.
    pub(crate) parameters: &'a [Parameter],
}

impl Names<'_> {
    fn is_parameter(&self, name: &str) -> bool {
        self.parameters.iter().any(|parameter| parameter.name() == name)
    }
}

/// Returns the arguments with their places in the file.
pub(crate) fn read(root: &Section<'_>, names: Names<'_>, messages: &Messages) -> Vec<(Argument, Range<usize>)> {
    let Some(node) = root.get("arguments") else { return Vec::new() };
    let mut arguments: Vec<(Argument, Range<usize>)> = Vec::new();
    for item in node.items() {
        let Some(section) = item.section() else { continue };
        let Some(argument) = read_one(&section, names, messages) else { continue };
        if arguments.iter().any(|(known, _)| known.name == argument.name) {
            let remedy = "give each argument a name of its own; it need not be the function's".to_string();
            item.error(format!("two arguments are called `{}`", argument.name), Some(remedy));
        }
        arguments.push((argument, item.span()));
    }
    arguments
}

fn read_one(section: &Section<'_>, names: Names<'_>, messages: &Messages) -> Option<Argument> {
    section.allow(KEYS);
    let name = section.require("name", "name = \"a\"").and_then(|node| node.string());
    let element = section.require("type", "type = \"f32\"").and_then(|node| element(&node));
    let kind = match (section.get("value"), section.get("shape")) {
        (Some(value), None) if value.is_list() => read_object(&value, element),
        (Some(value), None) => value.expression().map(|located| ArgumentKind::Scalar(located.value)),
        (None, Some(shape)) if is_local(section) => read_local(section, &shape),
        (None, Some(shape)) => read_buffer(section, &shape, names, messages),
        _ => {
            let remedy = "a buffer has `shape = [\"M\", \"K\"]`, a scalar `value = \"K\"`".to_string();
            let text = "an argument has either a shape or a value".to_string();
            messages.error(section.span.clone(), text, Some(remedy));
            None
        }
    };
    let kind = kind?;
    check_image(section, element, &kind);
    let symbol = read_symbol(section, &kind);
    let argument = Argument { symbol, ..Argument::new(name?, element?, kind) };
    Some(Argument { align: read_align(section, &argument).unwrap_or(argument.align), ..argument })
}

/// The most bytes of an object: CUDA's limit of all arguments.
const MOST_BYTES: usize = 4096;

/// Returns an object passed by value from the list of its bytes.
fn read_object(value: &Node<'_>, element: Option<ElementType>) -> Option<ArgumentKind> {
    let items = value.items();
    if element.is_some_and(|element| element.scalar() != ScalarType::Byte) {
        let remedy = "write type = \"bytes\" for a struct, `shape` and `fill` for a buffer".to_string();
        value.error("a list of values is an object passed by value, which has bytes", Some(remedy));
    }
    if items.is_empty() || items.len() > MOST_BYTES {
        let remedy = format!("it has 1 to {MOST_BYTES}; pass anything larger as a buffer");
        value.error(format!("an object of {} bytes", items.len()), Some(remedy));
    }
    let byte = |node: &Node<'_>| {
        let number = node.count()?;
        let byte = u8::try_from(number).ok();
        if byte.is_none() {
            node.error(format!("{number} is no byte"), Some("a byte is 0 to 255".to_string()));
        }
        byte
    };
    items.iter().map(byte).collect::<Option<_>>().map(ArgumentKind::Object)
}

/// The largest alignment that can be asked for, in bytes: a huge page.
const MOST_ALIGNED: u64 = 2 << 20;

/// Returns the stated alignment of a buffer.
fn read_align(section: &Section<'_>, argument: &Argument) -> Option<usize> {
    let node = section.get("align")?;
    let align = node.count()?;
    let least = argument.element.size();
    if argument.is_value() {
        node.error("`align` has no meaning for a value", Some("remove it".to_string()));
    } else if !align.is_power_of_two() || align < least as u64 || align > MOST_ALIGNED {
        let text = format!("`{}` cannot be {align}", node.name);
        let remedy = format!("it is a power of two from {least}, the size of {}, to {MOST_ALIGNED}", argument.element);
        node.error(text, Some(remedy));
    }
    usize::try_from(align).ok()
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
    ElementType::parse(node.string()?).map_err(|error| node.error(error.to_string(), error.remedy())).ok()
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

/// Returns the extents of a buffer. Those that depend on parameters stay expressions.
fn read_shape(shape: &Node<'_>, names: Names<'_>, messages: &Messages) -> Option<Shape> {
    let items = shape.items();
    let extents: Option<Vec<_>> = items.iter().map(Node::expression).collect();
    let extents = extents?;
    let varies = |expr: &Expr| expr.names().iter().any(|name| names.is_parameter(&name.text));
    if extents.iter().any(|extent| varies(&extent.value)) {
        let known = |name: &str| names.is_parameter(name) || lookup(names.sizes, name).is_some();
        let unknown = extents.iter().flat_map(|extent| extent.value.names()).find(|name| !known(&name.text));
        if let Some(name) = unknown {
            shape.error(format!("`{}` in the shape is neither a size nor a parameter", name.text), None);
        }
        return Some(Shape::Varying(extents.into_iter().map(|extent| extent.value).collect()));
    }
    let extent = |(extent, node): (&Located<Expr>, &Node<'_>)| {
        let extent = parameters::integer(extent, names.sizes, messages)?;
        let positive = u64::try_from(extent).ok().filter(|extent| *extent > 0);
        if positive.is_none() {
            node.error(format!("an extent of {extent} in `{}`", node.name), Some("extents are at least 1".to_string()));
        }
        positive
    };
    extents.iter().zip(&items).map(extent).collect::<Option<Vec<u64>>>().map(Shape::Fixed)
}

fn read_buffer(section: &Section<'_>, shape: &Node<'_>, names: Names<'_>, messages: &Messages) -> Option<ArgumentKind> {
    let extents = read_shape(shape, names, messages);
    let fill = read_fill(section, names.sizes, messages.source.folder());
    if let (Some(Shape::Varying(_)), Some(Fill::File(_))) = (&extents, &fill) {
        let remedy = "fill it by another rule, or give it the largest shape that a configuration needs".to_string();
        shape.error("a file has one length, but this shape depends on the parameters", Some(remedy));
    }
    let accesses = [("in", Access::In), ("out", Access::Out), ("inout", Access::InOut), ("scratch", Access::Scratch)];
    let access = word_or(section, "access", Access::In, &accesses);
    let image = Some(Memory::Image(read_image(section).unwrap_or_default()));
    // "local" was handled before. It is in this list for the error message about a misspelled word.
    let memories =
        [("global", Some(Memory::Global)), ("constant", Some(Memory::Constant)), ("image", image), ("local", None)];
    let memory = word_or(section, "memory", Some(Memory::Global), &memories).flatten();
    Some(ArgumentKind::Buffer { shape: extents?, fill: fill?, access: access?, memory: memory? })
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

/// Reports an image that no device has, and keys of images at other arguments.
fn check_image(section: &Section<'_>, element: Option<ElementType>, kind: &ArgumentKind) {
    let ArgumentKind::Buffer { memory: Memory::Image(image), shape, .. } = kind else {
        for key in IMAGE_KEYS.iter().filter_map(|key| section.get(key)) {
            let remedy = "write memory = \"image\" as well, or remove it".to_string();
            key.error(format!("only images have `{}`", key.name), Some(remedy));
        }
        return;
    };
    let dimensions = match shape {
        Shape::Fixed(extents) => extents.len(),
        Shape::Varying(extents) => extents.len(),
    };
    let refusal = element.and_then(|element| image.refusal(element, dimensions));
    if let (Some(Refusal { text, remedy }), Some(node)) = (refusal, section.get("memory")) {
        node.error(text, remedy);
    }
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

/// Returns the fill of `{ random = [low, high] }`.
fn read_between(section: &Section<'_>) -> Option<Fill> {
    section.allow(&["random"]);
    let node = section.require("random", "random = [0.0, 1.0]")?;
    let bounds: Option<Vec<f64>> = node.items().iter().map(Node::number).collect();
    match bounds?.as_slice() {
        [low, high] if low.is_finite() && high.is_finite() && low <= high => Some(Fill::Between(*low, *high)),
        _ => {
            node.error(format!("`{}` must be two numbers, the lower one first", node.name), None);
            None
        }
    }
}
