//! Public structs whose public lists belong together by position: code that zips two of them says so. A list of one
//! struct for each element cannot lose the pairing.

use std::collections::BTreeMap;

use syn::visit::{self, Visit};
use syn::{Expr, ExprMethodCall, Field, Item, ItemStruct, Member, Type, Visibility};

use crate::architecture::house::House;
use crate::architecture::source::Source;

/// Returns the pairs of public lists of one public struct that some code zips, each with the struct and the place.
pub(crate) fn faults(house: &House) -> Vec<String> {
    let sources: Vec<Source> = house.crates.iter().flat_map(|one| one.sources()).collect();
    let mut lists = Lists::default();
    for source in &sources {
        source.items.iter().for_each(|item| lists.visit_item(item));
    }
    let mut zips = Zips { lists: &lists.0, found: Vec::new(), file: String::new() };
    for source in &sources {
        zips.file = house.short(&source.path);
        source.items.iter().for_each(|item| zips.visit_item(item));
    }
    zips.found
}

/// The names of the public lists of each public struct.
#[derive(Default)]
struct Lists(BTreeMap<String, Vec<String>>);

impl<'ast> Visit<'ast> for Lists {
    fn visit_item(&mut self, item: &'ast Item) {
        if let Item::Struct(ItemStruct { vis: Visibility::Public(_), ident, fields, .. }) = item {
            let names: Vec<String> = fields.iter().filter_map(list).collect();
            if names.len() > 1 {
                self.0.insert(ident.to_string(), names);
            }
        }
        visit::visit_item(self, item);
    }
}

/// Returns the name of a public list.
fn list(field: &Field) -> Option<String> {
    let Type::Path(path) = &field.ty else { return None };
    let is_list = path.path.segments.last().is_some_and(|last| last.ident == "Vec");
    let name = field.ident.as_ref().filter(|_| is_list && matches!(field.vis, Visibility::Public(_)))?;
    Some(name.to_string())
}

struct Zips<'a> {
    lists: &'a BTreeMap<String, Vec<String>>,
    found: Vec<String>,
    file: String,
}

impl<'ast> Visit<'ast> for Zips<'_> {
    fn visit_expr_method_call(&mut self, call: &'ast ExprMethodCall) {
        if call.method == "zip" {
            let sides = [Some(&*call.receiver), call.args.first()].map(|side| side.and_then(field));
            if let [Some((one, first)), Some((other, second))] = sides
                && one == other
            {
                let owner = self.lists.iter().find(|(_, lists)| lists.contains(&first) && lists.contains(&second));
                let line = call.method.span().start().line;
                self.found.extend(owner.map(|(name, _)| {
                    format!("{name} pairs `{first}` and `{second}` by position: {}:{line}", self.file)
                }));
            }
        }
        visit::visit_expr_method_call(self, call);
    }
}

/// Returns the value whose field an expression walks, as text, and the name of the field.
fn field(expr: &Expr) -> Option<(String, String)> {
    match expr {
        Expr::MethodCall(call) => field(&call.receiver),
        Expr::Reference(reference) => field(&reference.expr),
        Expr::Paren(inner) => field(&inner.expr),
        Expr::Field(access) => match &access.member {
            Member::Named(name) => Some((text(&access.base)?, name.to_string())),
            Member::Unnamed(_) => None,
        },
        _ => None,
    }
}

fn text(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Path(path) => Some(path.path.get_ident()?.to_string()),
        Expr::Field(access) => match &access.member {
            Member::Named(name) => Some(format!("{}.{name}", text(&access.base)?)),
            Member::Unnamed(index) => Some(format!("{}.{}", text(&access.base)?, index.index)),
        },
        _ => None,
    }
}
