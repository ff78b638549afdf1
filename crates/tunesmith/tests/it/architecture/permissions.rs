//! Rules of the form: only these files do that.

use std::collections::BTreeSet;
use std::path::Path;

use crate::architecture::house::House;
use crate::architecture::source::Source;

/// A rule about what only some files do.
pub(crate) struct Rule {
    /// The word for doing it, as in "asks" or "opens".
    pub(crate) verb: &'static str,
    /// The files and folders that it is the work of.
    pub(crate) modules: &'static [&'static str],
    /// The other files that may do it, and the reason of each.
    pub(crate) allowed: &'static [(&'static str, &'static str)],
    /// Returns the lines of a file that do it, with the words by which they do.
    pub(crate) done: fn(&Source) -> Vec<(usize, String)>,
}

impl Rule {
    /// Returns the places outside the modules that do it, and the permissions that nobody uses.
    pub(crate) fn faults(&self, house: &House) -> Vec<String> {
        let Self { verb, modules, allowed, done } = self;
        let (mut used, mut faults) = (BTreeSet::new(), Vec::new());
        for source in house.crates.iter().flat_map(|one| one.sources()) {
            let path = house.short(&source.path);
            if modules.iter().any(|module| Path::new(&path).starts_with(module)) {
                continue;
            }
            let places = done(&source);
            match allowed.iter().find(|(allowed, _)| *allowed == path) {
                Some((allowed, _)) if !places.is_empty() => drop(used.insert(*allowed)),
                Some(_) => {}
                None => faults.extend(places.iter().map(|(line, word)| format!("{path}:{line} {verb} by `{word}`"))),
            }
        }
        let is_there = |allowed: &&str| house.crates.iter().any(|one| allowed.starts_with(&house.short(&one.folder)));
        let unused = allowed.iter().map(|(allowed, _)| *allowed).filter(|allowed| !used.contains(allowed));
        faults.extend(unused.filter(is_there).map(|path| format!("{path} {verb} no more: remove its permission")));
        faults
    }
}
