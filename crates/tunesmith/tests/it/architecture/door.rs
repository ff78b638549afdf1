//! The names at the root of the facade: those of a first program, and modules for the rest.

use std::collections::BTreeSet;

use syn::{Item, UseTree, Visibility};

/// Maximum number of public names at the root.
pub(crate) const MOST: usize = 60;

/// Returns the public names at the root of a crate whose `lib.rs` has this text. A module and a function of one name
/// count once: users see one name.
pub(crate) fn names(text: &str) -> BTreeSet<String> {
    let items = syn::parse_file(text).expect("the sources compile").items;
    items.iter().flat_map(of_item).collect()
}

fn of_item(item: &Item) -> Vec<String> {
    let (visibility, names) = match item {
        Item::Use(item) => (&item.vis, leaves(&item.tree)),
        Item::Mod(item) => (&item.vis, vec![item.ident.to_string()]),
        Item::Fn(item) => (&item.vis, vec![item.sig.ident.to_string()]),
        Item::Struct(item) => (&item.vis, vec![item.ident.to_string()]),
        Item::Enum(item) => (&item.vis, vec![item.ident.to_string()]),
        Item::Trait(item) => (&item.vis, vec![item.ident.to_string()]),
        Item::Type(item) => (&item.vis, vec![item.ident.to_string()]),
        Item::Const(item) => (&item.vis, vec![item.ident.to_string()]),
        _ => return Vec::new(),
    };
    if matches!(visibility, Visibility::Public(_)) { names } else { Vec::new() }
}

/// Returns the names that a `use` brings. A glob brings names that nobody can count here.
fn leaves(tree: &UseTree) -> Vec<String> {
    match tree {
        UseTree::Path(path) => leaves(&path.tree),
        UseTree::Group(group) => group.items.iter().flat_map(leaves).collect(),
        UseTree::Name(name) => vec![name.ident.to_string()],
        UseTree::Rename(rename) => vec![rename.rename.to_string()],
        UseTree::Glob(_) => panic!("a glob at the root hides what it brings"),
    }
}
