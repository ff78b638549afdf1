//! Declarations of C: the types and names of parameters and variables.

use crate::Finding;
use crate::element::Element;
use crate::source::{Source, descendants, parts};
use tree_sitter::Node;

/// A declared name with its type.
pub(crate) struct Declared<'a> {
    pub(crate) name: String,
    pub(crate) element: Element,
    /// The sizes of its axes. `None` stands for an axis without a size: that of a pointer, or `[]`.
    pub(crate) axes: Vec<Option<Node<'a>>>,
    pub(crate) is_restrict: bool,
    /// The initial value.
    pub(crate) value: Option<Node<'a>>,
    pub(crate) node: Node<'a>,
}

/// A parameter of the function.
#[derive(Clone, Debug)]
pub(crate) struct Parameter {
    pub(crate) name: String,
    pub(crate) element: Element,
    pub(crate) kind: ParameterKind,
}

/// The use of a parameter in the nest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ParameterKind {
    /// A whole number.
    Size,
    /// A number for computing.
    Argument,
    /// An array that the nest uses.
    Array,
    /// An array that the nest does not use.
    Unused,
}

/// Returns the parameters of a function definition.
///
/// # Errors
///
/// Fails with the place of the first declaration that nests do not have.
pub(crate) fn parameters<'a>(source: &Source<'_>, definition: Node<'a>) -> Result<Vec<Declared<'a>>, Finding> {
    let Some(declarator) = descendants(definition).find(|node| node.kind() == "function_declarator") else {
        return Err(Finding::at(definition, "it has no parameters", None));
    };
    let list = declarator.child_by_field_name("parameters").map(parts).unwrap_or_default();
    let is_void = |node: &Node<'a>| source.of(*node).trim() == "void";
    list.into_iter().filter(|node| !is_void(node)).map(|node| parameter(source, node)).collect()
}

fn parameter<'a>(source: &Source<'_>, node: Node<'a>) -> Result<Declared<'a>, Finding> {
    if node.kind() != "parameter_declaration" {
        return Err(Finding::at(node, format!("`{}` is no parameter of a nest", source.snippet(node)), None));
    }
    let element = element(source, node)?;
    match node.child_by_field_name("declarator") {
        Some(declarator) => declared(source, element, declarator),
        None => Err(Finding::at(node, "a parameter has no name", None)),
    }
}

/// Returns the variables of a declaration.
pub(crate) fn variables<'a>(source: &Source<'_>, declaration: Node<'a>) -> Result<Vec<Declared<'a>>, Finding> {
    let element = element(source, declaration)?;
    let mut cursor = declaration.walk();
    let declarators: Vec<Node<'a>> = declaration.children_by_field_name("declarator", &mut cursor).collect();
    declarators.into_iter().map(|node| declared(source, element, node)).collect()
}

/// Returns the type of a declaration.
fn element(source: &Source<'_>, declaration: Node<'_>) -> Result<Element, Finding> {
    let other = parts(declaration).into_iter().find(|node| {
        let is_other = |text: &str| ["volatile", "_Atomic", "static", "extern"].contains(&text);
        matches!(node.kind(), "type_qualifier" | "storage_class_specifier") && is_other(source.of(*node))
    });
    if let Some(other) = other {
        return Err(Finding::at(other, format!("`{}` has no meaning in a nest", source.of(other)), None));
    }
    let kind = declaration.child_by_field_name("type");
    let known = kind.and_then(|node| source.element(node));
    known.ok_or_else(|| {
        let text = format!("nests have no type `{}`", kind.map_or("", |node| source.of(node)));
        Finding::at(
            kind.unwrap_or(declaration),
            text,
            Some("they have int, long, float, double, short, unsigned short, signed char and unsigned char"),
        )
    })
}

/// Returns a name with the axes around it.
fn declared<'a>(source: &Source<'_>, element: Element, declarator: Node<'a>) -> Result<Declared<'a>, Finding> {
    let mut found =
        Declared { name: String::new(), element, axes: Vec::new(), is_restrict: false, value: None, node: declarator };
    let mut node = declarator;
    loop {
        found.is_restrict |= parts(node).iter().any(|part| source.of(*part).trim_matches('_') == "restrict");
        match node.kind() {
            "identifier" => {
                found.name = source.of(node).to_string();
                found.node = node;
                // The innermost declarator is the first axis.
                found.axes.reverse();
                return Ok(found);
            }
            "init_declarator" => found.value = node.child_by_field_name("value"),
            "array_declarator" => found.axes.push(node.child_by_field_name("size")),
            "pointer_declarator" => found.axes.push(None),
            "parenthesized_declarator" => {}
            _ => break,
        }
        let inner = node.child_by_field_name("declarator");
        let inner = inner.or_else(|| parts(node).into_iter().find(|part| part.kind().ends_with("declarator")));
        match inner {
            Some(inner) => node = inner,
            None => break,
        }
    }
    Err(Finding::at(declarator, format!("`{}` is no variable of a nest", source.snippet(declarator)), None))
}
