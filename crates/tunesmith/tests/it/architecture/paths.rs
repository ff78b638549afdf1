//! The paths that a file writes: in its code, its imports, its macros and its attributes.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{Attribute, ItemMod, ItemUse, Macro, Meta, Path, UseTree};

use crate::architecture::source::Source;

/// A path as it is written.
pub(crate) struct Written {
    pub(crate) segments: Vec<String>,
    pub(crate) line: usize,
    /// The path of the module that it is written in.
    pub(crate) module: Vec<String>,
    /// True if it is imported for other modules.
    pub(crate) is_handed_on: bool,
}

/// Returns the paths that `source` writes.
pub(crate) fn paths(source: &Source) -> Vec<Written> {
    let mut reader = Reader { found: Vec::new(), module: source.module.clone(), is_handed_on: false };
    for item in &source.items {
        reader.visit_item(item);
    }
    reader.found
}

/// A name that an import brings. The name of `path::*` is `*`.
pub(crate) struct Import {
    pub(crate) name: String,
    /// The path that it stands for.
    pub(crate) path: Vec<String>,
    pub(crate) line: usize,
}

/// Returns the names that an import brings, whose paths begin with `outer`.
pub(crate) fn imports_of(tree: &UseTree, outer: &[String]) -> Vec<Import> {
    let with = |ident: &Ident| [outer, &[ident.to_string()]].concat();
    let one = |name: String, path: Vec<String>, span: Span| vec![Import { name, path, line: span.start().line }];
    match tree {
        UseTree::Path(path) => imports_of(&path.tree, &with(&path.ident)),
        UseTree::Name(name) if name.ident == "self" => {
            outer.last().map_or_else(Vec::new, |last| one(last.clone(), outer.to_vec(), name.ident.span()))
        }
        UseTree::Name(name) => one(name.ident.to_string(), with(&name.ident), name.ident.span()),
        UseTree::Rename(name) => one(name.rename.to_string(), with(&name.ident), name.ident.span()),
        UseTree::Group(group) => group.items.iter().flat_map(|tree| imports_of(tree, outer)).collect(),
        UseTree::Glob(glob) => one("*".to_string(), outer.to_vec(), glob.star_token.spans[0]),
    }
}

struct Reader {
    found: Vec<Written>,
    module: Vec<String>,
    is_handed_on: bool,
}

impl Reader {
    fn add(&mut self, segments: Vec<String>, line: usize) {
        if !segments.is_empty() {
            let (module, is_handed_on) = (self.module.clone(), self.is_handed_on);
            self.found.push(Written { segments, line, module, is_handed_on });
        }
    }

    /// Adds the paths among the tokens of a macro or of an attribute, and those in its texts that
    /// begin with `crate::`.
    fn tokens(&mut self, tokens: TokenStream) {
        let mut path: Vec<String> = Vec::new();
        let (mut line, mut colons) = (0, 0);
        for token in tokens {
            match &token {
                TokenTree::Punct(punct) if punct.as_char() == ':' => colons += 1,
                TokenTree::Ident(ident) => {
                    if colons != 2 {
                        self.add(std::mem::take(&mut path), line);
                    }
                    path.push(ident.to_string());
                    (line, colons) = (ident.span().start().line, 0);
                }
                TokenTree::Group(group) => self.tokens(group.stream()),
                TokenTree::Literal(literal) => self.text(&literal.to_string(), literal.span().start().line),
                TokenTree::Punct(_) => colons = 0,
            }
        }
        self.add(path, line);
    }

    fn text(&mut self, literal: &str, line: usize) {
        let text = literal.trim_matches('"');
        if text.starts_with("crate::") {
            self.add(text.split("::").map(str::to_string).collect(), line);
        }
    }
}

impl<'ast> Visit<'ast> for Reader {
    fn visit_item_mod(&mut self, module: &'ast ItemMod) {
        self.module.push(module.ident.to_string());
        visit::visit_item_mod(self, module);
        self.module.pop();
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        self.is_handed_on = !matches!(item.vis, syn::Visibility::Inherited);
        for Import { name, mut path, line } in imports_of(&item.tree, &[]) {
            path.extend((name == "*").then_some(name));
            self.add(path, line);
        }
        self.is_handed_on = false;
    }

    fn visit_path(&mut self, path: &'ast Path) {
        let segments = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        self.add(segments, path.segments.first().map_or(0, |segment| segment.ident.span().start().line));
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &'ast Macro) {
        self.visit_path(&call.path);
        self.tokens(call.tokens.clone());
    }

    fn visit_attribute(&mut self, attribute: &'ast Attribute) {
        if let Meta::List(list) = &attribute.meta {
            self.tokens(list.tokens.clone());
        }
    }
}
