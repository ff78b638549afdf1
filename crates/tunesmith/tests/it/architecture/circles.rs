//! The circles among the files of a crate: files that use each other's definitions, directly or
//! not.
//!
//! A path counts for the file that defines what it names, not for those that hand the name on: a
//! `pub use` ties no two files.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use syn::{Item, UseTree};

use crate::architecture::cycles::{Uses, cycles, describe};
use crate::architecture::house::{Crate, House};
use crate::architecture::paths::{Import, Written, imports_of, paths};
use crate::architecture::source::Source;

/// Maximum number of files in a circle.
const MOST_FILES: usize = 2;

/// Maximum number of names that stand for each other, one after the other.
const MOST_NAMES: usize = 16;

/// Returns the circles of every crate that have more than [`MOST_FILES`] files.
pub(crate) fn faults(house: &House) -> Vec<String> {
    house.crates.iter().flat_map(|one| of_crate(house, one)).collect()
}

fn of_crate(house: &House, one: &Crate) -> Vec<String> {
    let roots = one.roots.iter().map(|root| uses(house, &Source::follow(root)));
    let circles = |uses: Uses| {
        let long = cycles(&uses).into_iter().filter(|circle| circle.len() > MOST_FILES);
        long.map(|circle| describe(one, "files", &circle, &uses)).collect::<Vec<_>>()
    };
    roots.flat_map(circles).collect()
}

/// Returns the uses of the files of a crate by each other.
fn uses(house: &House, sources: &[Source]) -> Uses {
    let modules = Modules::new(sources);
    let mut found = Uses::new();
    for (index, source) in sources.iter().enumerate() {
        for path in paths(source).iter().filter(|path| !path.is_handed_on) {
            let Some(target) = modules.definition(path).filter(|target| *target != index) else { continue };
            let pair = (house.short(&source.path), house.short(&sources[target].path));
            // A file that stands for two modules, of which one is compiled, uses itself alone.
            if pair.0 == pair.1 {
                continue;
            }
            found.entry(pair).or_insert_with(|| format!("line {}: {}", path.line, path.segments.join("::")));
        }
    }
    found
}

/// The modules of a crate by their paths.
struct Modules {
    modules: HashMap<Vec<String>, Module>,
}

/// The definitions and imports of a module.
#[derive(Default)]
struct Module {
    /// The index of its file.
    file: usize,
    children: BTreeSet<String>,
    definitions: BTreeSet<String>,
    /// The names that it imports, with the paths they stand for.
    imports: BTreeMap<String, Vec<String>>,
    /// The paths of which it imports every name.
    globs: Vec<Vec<String>>,
}

/// The target of a path: a module, or a definition in the file of this index.
enum Target {
    Module(Vec<String>),
    Definition(usize),
}

impl Modules {
    fn new(sources: &[Source]) -> Self {
        let mut all = Self { modules: HashMap::new() };
        for (file, source) in sources.iter().enumerate() {
            all.add(file, &source.module, &source.items);
        }
        all
    }

    /// Adds the module `path`, whose items stand in the file `file`.
    fn add(&mut self, file: usize, path: &[String], items: &[Item]) {
        let mut module = Module { file, ..Module::default() };
        for item in items {
            match item {
                Item::Mod(child) => {
                    module.children.insert(child.ident.to_string());
                    if let Some((_, items)) = &child.content {
                        self.add(file, &[path, &[child.ident.to_string()]].concat(), items);
                    }
                }
                Item::Use(import) => module.import(&import.tree),
                _ => module.definitions.extend(definition(item)),
            }
        }
        self.modules.insert(path.to_vec(), module);
    }

    /// Returns the index of the file that defines what `path` names, if this crate does.
    fn definition(&self, path: &Written) -> Option<usize> {
        match self.follow(&path.module, &path.segments, MOST_NAMES)? {
            Target::Definition(file) => Some(file),
            Target::Module(_) => None,
        }
    }

    /// Follows a path that is written in the module `from`, through at most `names` names.
    fn follow(&self, from: &[String], segments: &[String], names: usize) -> Option<Target> {
        let mut at = from.to_vec();
        for segment in segments {
            match segment.as_str() {
                "self" | "*" => {}
                "crate" => at.clear(),
                "super" => drop(at.pop()?),
                name => match self.named(&at, name, names.checked_sub(1)?)? {
                    Target::Module(module) => at = module,
                    definition @ Target::Definition(_) => return Some(definition),
                },
            }
        }
        Some(Target::Module(at))
    }

    /// Returns what `name` is in the module `at`.
    fn named(&self, at: &[String], name: &str, names: usize) -> Option<Target> {
        let module = self.modules.get(at)?;
        if module.children.contains(name) {
            return Some(Target::Module([at, &[name.to_string()]].concat()));
        }
        if module.definitions.contains(name) {
            return Some(Target::Definition(module.file));
        }
        if let Some(path) = module.imports.get(name) {
            return self.follow(at, path, names);
        }
        module.globs.iter().find_map(|glob| match self.follow(at, glob, names)? {
            Target::Module(whole) => self.named(&whole, name, names.checked_sub(1)?),
            Target::Definition(_) => None,
        })
    }
}

impl Module {
    fn import(&mut self, tree: &UseTree) {
        for Import { name, path, .. } in imports_of(tree, &[]) {
            if name == "*" {
                self.globs.push(path);
            } else {
                self.imports.insert(name, path);
            }
        }
    }
}

/// Returns the name that an item defines in its module.
fn definition(item: &Item) -> Option<String> {
    let name = match item {
        Item::Const(item) => &item.ident,
        Item::Enum(item) => &item.ident,
        Item::Fn(item) => &item.sig.ident,
        Item::Macro(item) => item.ident.as_ref()?,
        Item::Static(item) => &item.ident,
        Item::Struct(item) => &item.ident,
        Item::Trait(item) => &item.ident,
        Item::Type(item) => &item.ident,
        Item::Union(item) => &item.ident,
        _ => return None,
    };
    Some(name.to_string())
}
