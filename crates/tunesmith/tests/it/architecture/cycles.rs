//! The cycles among the top-level modules of a crate.

use std::collections::{BTreeMap, BTreeSet};

use syn::Item;

use crate::architecture::house::{Crate, House};
use crate::architecture::paths::{Import, Written, imports_of, paths};
use crate::architecture::source::Source;

/// The uses of one module or file by another, each with the first place that says so.
pub(crate) type Uses = BTreeMap<(String, String), String>;

/// Returns the cycles of every crate, each with its modules and their uses of each other.
pub(crate) fn faults(house: &House) -> Vec<String> {
    house.crates.iter().flat_map(|one| of_crate(house, one)).collect()
}

fn of_crate(house: &House, one: &Crate) -> Vec<String> {
    let roots = one.roots.iter().map(|root| uses(house, &Source::follow(root)));
    roots.flat_map(|uses| cycles(&uses).into_iter().map(move |cycle| describe(one, "modules", &cycle, &uses))).collect()
}

/// Returns the text about a cycle of modules or of files, which `kind` says.
pub(crate) fn describe(one: &Crate, kind: &str, cycle: &BTreeSet<String>, uses: &Uses) -> String {
    let modules: Vec<&str> = cycle.iter().map(String::as_str).collect();
    let inside = uses.iter().filter(|((from, to), _)| cycle.contains(from) && cycle.contains(to));
    let lines: Vec<String> = inside.map(|((from, to), place)| format!("\n    {from} -> {to} ({place})")).collect();
    format!("{}: {} {kind}: {}{}", one.name, modules.len(), modules.join(", "), lines.concat())
}

/// Returns the uses of the top-level modules of a crate by each other.
fn uses(house: &House, sources: &[Source]) -> Uses {
    let names = names_of_root(&sources[0]);
    let mut found = Uses::new();
    for source in sources {
        for path in paths(source) {
            for used in used(&path, &names) {
                let pair = (path.module[0].clone(), used.clone());
                let place = || format!("{}:{}", house.short(&source.path), path.line);
                if pair.0 != pair.1 {
                    found.entry(pair).or_insert_with(place);
                }
            }
        }
    }
    found
}

/// Returns the top-level modules that `path` uses: none from the root, or outside it, and all by
/// `crate::*`.
fn used<'a>(path: &Written, names: &'a BTreeMap<String, String>) -> Vec<&'a String> {
    match from_root(path) {
        Some("*") => names.values().collect(),
        Some(name) => names.get(name).into_iter().collect(),
        None => Vec::new(),
    }
}

/// Returns the name in the root of the crate that `path` goes through.
fn from_root(path: &Written) -> Option<&str> {
    let segments: Vec<&str> = path.segments.iter().map(String::as_str).skip_while(|one| *one == "self").collect();
    let up = segments.iter().take_while(|one| **one == "super").count();
    match *segments.first()? {
        _ if path.module.is_empty() => None,
        "crate" => segments.get(1).copied(),
        "super" if up == path.module.len() => segments.get(up).copied(),
        _ => None,
    }
}

/// Returns the top-level module that each name in the root of a crate stands for.
fn names_of_root(root: &Source) -> BTreeMap<String, String> {
    let modules: BTreeMap<String, String> =
        root.items.iter().filter_map(module).map(|one| (one.clone(), one)).collect();
    let imports = root.items.iter().filter_map(|item| if let Item::Use(item) = item { Some(&item.tree) } else { None });
    let mut names = modules.clone();
    for tree in imports {
        for Import { name, path, .. } in imports_of(tree, &[]) {
            let module = path.iter().find(|one| !["self", "crate"].contains(&one.as_str()));
            if let Some(module) = module.filter(|one| modules.contains_key(*one)) {
                names.entry(name).or_insert_with(|| module.clone());
            }
        }
    }
    names
}

fn module(item: &Item) -> Option<String> {
    if let Item::Mod(module) = item { Some(module.ident.to_string()) } else { None }
}

/// Returns the groups of modules or files that reach each other.
pub(crate) fn cycles(uses: &Uses) -> Vec<BTreeSet<String>> {
    let modules: BTreeSet<&String> = uses.keys().flat_map(|(from, to)| [from, to]).collect();
    let reached: BTreeMap<&String, BTreeSet<String>> = modules.iter().map(|one| (*one, reached(one, uses))).collect();
    let mutual = |one: &String| reached[one].iter().filter(|other| reached[other].contains(one)).cloned().collect();
    let groups: BTreeSet<BTreeSet<String>> = modules.into_iter().map(mutual).collect();
    groups.into_iter().filter(|group| group.len() > 1).collect()
}

/// Returns the modules that `start` uses, directly or not.
fn reached(start: &str, uses: &Uses) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut open = vec![start.to_string()];
    while let Some(one) = open.pop() {
        let next = uses.keys().filter(|(from, to)| *from == one && !found.contains(to)).map(|(_, to)| to.clone());
        let next: Vec<String> = next.collect();
        found.extend(next.iter().cloned());
        open.extend(next);
    }
    found
}
