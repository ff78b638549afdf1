//! The lengths of functions, from `fn` to the closing brace, and of a crate.

use syn::visit::{self, Visit};
use syn::{Block, ImplItemFn, ItemFn, Signature, TraitItemFn};

use crate::architecture::house::{Crate, House};

/// Maximum number of lines of a function.
pub(crate) const MOST_LINES: usize = 60;
/// Maximum number of lines of nine functions in ten.
pub(crate) const USUAL_LINES: usize = 20;

/// A function and its place.
pub(crate) struct Function {
    pub(crate) name: String,
    pub(crate) place: String,
    pub(crate) lines: usize,
}

/// Returns the functions of all crates outside tests.
pub(crate) fn functions(house: &House) -> Vec<Function> {
    house.crates.iter().flat_map(|one| of_crate(house, one)).collect()
}

/// Returns the functions of `one` outside tests.
pub(crate) fn of_crate(house: &House, one: &Crate) -> Vec<Function> {
    let mut measurer = Measurer { found: Vec::new(), file: String::new() };
    for source in one.sources() {
        measurer.file = house.short(&source.path);
        source.items.iter().for_each(|item| measurer.visit_item(item));
    }
    measurer.found
}

/// Returns the functions with more lines than `most`, the longest first.
pub(crate) fn longer(functions: &[Function], most: usize) -> Vec<String> {
    let mut long: Vec<&Function> = functions.iter().filter(|one| one.lines > most).collect();
    long.sort_by_key(|one| std::cmp::Reverse(one.lines));
    long.iter().map(|one| format!("{} has {} lines: {}", one.name, one.lines, one.place)).collect()
}

/// Returns the number of lines of the files of `one`, with comments and tests.
pub(crate) fn lines_of_files(one: &Crate) -> usize {
    crate::architecture::files(&one.folder.join("src")).iter().map(|(_, text)| text.lines().count()).sum()
}

struct Measurer {
    found: Vec<Function>,
    file: String,
}

impl Measurer {
    fn add(&mut self, signature: &Signature, block: &Block) {
        let first = signature.fn_token.span.start().line;
        let lines = block.brace_token.span.close().end().line + 1 - first;
        let place = format!("{}:{first}", self.file);
        self.found.push(Function { name: signature.ident.to_string(), place, lines });
    }
}

impl<'ast> Visit<'ast> for Measurer {
    fn visit_item_fn(&mut self, function: &'ast ItemFn) {
        self.add(&function.sig, &function.block);
        visit::visit_item_fn(self, function);
    }

    fn visit_impl_item_fn(&mut self, function: &'ast ImplItemFn) {
        self.add(&function.sig, &function.block);
        visit::visit_impl_item_fn(self, function);
    }

    fn visit_trait_item_fn(&mut self, function: &'ast TraitItemFn) {
        if let Some(block) = &function.default {
            self.add(&function.sig, block);
        }
        visit::visit_trait_item_fn(self, function);
    }
}
