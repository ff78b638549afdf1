//! The syntax tree of a C file.

use crate::element::Element;
use crate::{Finding, ImportError};
use std::collections::BTreeMap;
use tree_sitter::{Node, Parser, Tree};

/// Maximum length of a chain of names for one type.
const MOST_ALIASES: usize = 8;

/// Maximum nesting of statements and expressions, which are read by recursion. Each operator of a sum
/// nests the ones before it.
const MOST_NESTED: u32 = 300;

/// A C file.
pub(crate) struct Source<'a> {
    text: &'a str,
    tree: Tree,
    /// The macros without parameters, and the types by `typedef`.
    macros: BTreeMap<&'a str, &'a str>,
    types: BTreeMap<&'a str, &'a str>,
}

impl<'a> Source<'a> {
    /// Parses the text.
    ///
    /// # Errors
    ///
    /// Fails if it is not C, with the place of the first fault.
    pub(crate) fn parse(text: &'a str) -> Result<Self, ImportError> {
        let unreadable = |reason: &str| {
            ImportError::of(Finding { line: 1, column: 1, text: format!("the parser {reason}"), remedy: None })
        };
        let mut parser = Parser::new();
        parser.set_language(&tree_sitter_c::LANGUAGE.into()).map_err(|error| unreadable(&error.to_string()))?;
        let tree = parser.parse(text, None).ok_or_else(|| unreadable("gave up"))?;
        let root = tree.root_node();
        let field = |node: Node<'_>, name: &str| Some(&text[node.child_by_field_name(name)?.byte_range()]);
        let (mut macros, mut types) = (BTreeMap::new(), BTreeMap::new());
        for node in descendants(root) {
            match node.kind() {
                "preproc_def" => {
                    let value = field(node, "value").map(str::trim);
                    macros.extend(value.map(|value| (field(node, "name").unwrap_or(""), value)));
                }
                "type_definition" => {
                    let parts = (field(node, "declarator"), field(node, "type"));
                    types.insert(parts.0.unwrap_or(""), parts.1.unwrap_or(""));
                }
                _ => {}
            }
        }
        Ok(Self { text, tree, macros, types })
    }

    /// Returns the definition of a function. Other functions may be faulty.
    ///
    /// # Errors
    ///
    /// Fails if the function is not there, or has a fault of syntax.
    pub(crate) fn function(&self, name: &str) -> Result<Node<'_>, ImportError> {
        let root = self.tree.root_node();
        let functions = || descendants(root).filter(|node| node.kind() == "function_definition");
        let Some(found) = functions().find(|node| self.function_name(*node) == Some(name)) else {
            let names: Vec<&str> = functions().filter_map(|node| self.function_name(node)).collect();
            let has = if names.is_empty() { "it has none".into() } else { format!("it has {}", names.join(", ")) };
            return Err(ImportError::of(Finding::at(root, format!("there is no function `{name}`"), Some(&has))));
        };
        if let Some(deep) = too_deep(found) {
            let text = format!("it is nested more than {MOST_NESTED} deep");
            return Err(ImportError::of(Finding::at(deep, text, Some("assign parts of it to variables first"))));
        }
        let faults = descendants(found).filter(|node| node.is_error() || node.is_missing());
        match faults.min_by_key(|node| node.start_byte()) {
            None => Ok(found),
            Some(fault) => Err(ImportError::of(Finding::at(
                fault,
                format!("`{}` is not C", self.snippet(fault)),
                Some("import the file as the compiler sees it (`cc -E`) if macros hide its syntax"),
            ))),
        }
    }

    fn function_name(&self, definition: Node<'_>) -> Option<&str> {
        let declarator = descendants(definition).find(|node| node.kind() == "function_declarator")?;
        declarator.child_by_field_name("declarator").map(|name| self.of(name))
    }

    /// Returns the macros that stand for a whole number.
    pub(crate) fn constants(&self) -> BTreeMap<String, i128> {
        let digits = |text: &str| text.trim_start_matches('(').trim_end_matches(')').parse().ok();
        self.macros.iter().filter_map(|(name, text)| Some(((*name).to_string(), digits(text)?))).collect()
    }

    /// Returns the text that a macro stands for.
    pub(crate) fn macro_text(&self, name: &str) -> Option<&str> {
        self.macros.get(name).copied()
    }

    /// Returns the type with the name in a node: its own, or that of a `typedef` or macro.
    pub(crate) fn element(&self, node: Node<'_>) -> Option<Element> {
        let mut name = self.of(node).trim();
        for _ in 0..MOST_ALIASES {
            match Element::of(name) {
                Some(element) => return Some(element),
                None => name = self.types.get(name).or_else(|| self.macros.get(name))?,
            }
        }
        None
    }

    /// Returns the text of a node.
    pub(crate) fn of(&self, node: Node<'_>) -> &str {
        &self.text[node.byte_range()]
    }

    /// Returns the beginning of the text of a node, in one line.
    pub(crate) fn snippet(&self, node: Node<'_>) -> String {
        let text: Vec<&str> = self.of(node).split_whitespace().collect();
        let text = text.join(" ");
        let end = text.char_indices().nth(40).map_or(text.len(), |(end, _)| end);
        text[..end].to_string()
    }

    /// Returns the text of a child in a field.
    pub(crate) fn field(&self, node: Node<'_>, name: &str) -> &str {
        node.child_by_field_name(name).map_or("", |child| self.of(child))
    }
}

/// Returns a node and everything below it, in the order of the text.
pub(crate) fn descendants(node: Node<'_>) -> impl Iterator<Item = Node<'_>> {
    let mut open = vec![node];
    std::iter::from_fn(move || {
        let next = open.pop()?;
        let mut cursor = next.walk();
        let children: Vec<Node<'_>> = next.children(&mut cursor).collect();
        open.extend(children.into_iter().rev());
        Some(next)
    })
}

/// Returns the first node in a node that is nested too deeply.
fn too_deep(node: Node<'_>) -> Option<Node<'_>> {
    let mut cursor = node.walk();
    loop {
        if cursor.depth() > MOST_NESTED {
            return Some(cursor.node());
        }
        if cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return None;
            }
        }
    }
}

/// Returns the named children of a node without comments.
pub(crate) fn parts(node: Node<'_>) -> Vec<Node<'_>> {
    let mut cursor = node.walk();
    node.named_children(&mut cursor).filter(|child| child.kind() != "comment").collect()
}
