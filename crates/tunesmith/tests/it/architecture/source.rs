//! The files of a crate as the compiler follows them, without what is compiled for tests alone.

use std::path::{Path, PathBuf};

use syn::{Attribute, ImplItem, Item, ItemMod, Meta, Token, punctuated::Punctuated};

/// A file of a crate.
pub(crate) struct Source {
    pub(crate) path: PathBuf,
    /// The path of its module in the crate; empty at the root.
    pub(crate) module: Vec<String>,
    pub(crate) items: Vec<Item>,
}

impl Source {
    /// Returns `root` and every file that it declares as a module, directly or not.
    pub(crate) fn follow(root: &Path) -> Vec<Self> {
        let mut files = vec![Self::read(root, Vec::new())];
        let mut next = 0;
        while next < files.len() {
            let file = &files[next];
            let declared = declared(&file.items, &file.folder(next == 0), &file.module);
            files.extend(declared.into_iter().map(|(path, module)| Self::read(&path, module)));
            next += 1;
        }
        files
    }

    fn read(path: &Path, module: Vec<String>) -> Self {
        let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let file = syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        Self { path: path.to_path_buf(), module, items: outside_tests(file.items) }
    }

    /// Returns the folder in which the files of its modules are.
    fn folder(&self, is_root: bool) -> PathBuf {
        let folder = self.path.parent().expect("a file is in a folder");
        let stem = self.path.file_stem().expect("a file has a name");
        if is_root || stem == "mod" { folder.to_path_buf() } else { folder.join(stem) }
    }
}

/// Returns the files of the modules that `items` declare, with the paths of the modules.
fn declared(items: &[Item], folder: &Path, module: &[String]) -> Vec<(PathBuf, Vec<String>)> {
    let modules = items.iter().filter_map(|item| if let Item::Mod(module) = item { Some(module) } else { None });
    modules.flat_map(|one| files_of(one, folder, module)).collect()
}

fn files_of(declared_module: &ItemMod, folder: &Path, outer: &[String]) -> Vec<(PathBuf, Vec<String>)> {
    let name = declared_module.ident.to_string();
    let module = [outer, std::slice::from_ref(&name)].concat();
    if let Some((_, items)) = &declared_module.content {
        return declared(items, &folder.join(name), &module);
    }
    let beside = folder.join(format!("{name}.rs"));
    vec![(if beside.exists() { beside } else { folder.join(name).join("mod.rs") }, module)]
}

/// Returns `items` without those that are compiled for tests alone.
fn outside_tests(items: Vec<Item>) -> Vec<Item> {
    items.into_iter().filter(|item| !is_for_tests(attributes(item))).map(inside_outside_tests).collect()
}

fn inside_outside_tests(mut item: Item) -> Item {
    match &mut item {
        Item::Mod(ItemMod { content: Some((_, items)), .. }) => *items = outside_tests(std::mem::take(items)),
        Item::Impl(block) => block.items.retain(|item| !is_for_tests(attributes_in_impl(item))),
        _ => {}
    }
    item
}

/// Returns true if an item with these attributes is compiled only for tests: `test`, `cfg(test)`,
/// `cfg(all(test, ..))`.
fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        Meta::Path(path) => path.is_ident("test"),
        Meta::List(list) if list.path.is_ident("cfg") => list.parse_args::<Meta>().is_ok_and(|meta| needs_test(&meta)),
        _ => false,
    })
}

fn needs_test(predicate: &Meta) -> bool {
    match predicate {
        Meta::Path(path) => path.is_ident("test"),
        Meta::List(list) if list.path.is_ident("all") => list
            .parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated)
            .is_ok_and(|all| all.iter().any(needs_test)),
        _ => false,
    }
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::ForeignMod(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

fn attributes_in_impl(item: &ImplItem) -> &[Attribute] {
    match item {
        ImplItem::Const(item) => &item.attrs,
        ImplItem::Fn(item) => &item.attrs,
        ImplItem::Type(item) => &item.attrs,
        _ => &[],
    }
}
