//! The state of a worker's process that one configuration could leave changed for the next.

use crate::backends::{float_controls, openmp_settings};
use std::collections::BTreeMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

/// The lines of `/proc/self/status` that matter.
const STATUS: [&str; 8] =
    ["Threads", "Umask", "SigBlk", "SigIgn", "SigCgt", "Cpus_allowed", "Mems_allowed", "NoNewPrivs"];

/// The state of this process, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ProcessState(BTreeMap<String, String>);

impl ProcessState {
    /// Returns the present state.
    pub(crate) fn current() -> Self {
        let read = |path| std::fs::read_to_string(path).unwrap_or_default();
        let mut state = BTreeMap::new();
        let status = read("/proc/self/status");
        let lines = status.lines().filter_map(|line| line.split_once(':')).filter(|(name, _)| STATUS.contains(name));
        state.extend(lines.map(|(name, value)| (name.to_owned(), value.trim().to_owned())));
        let limits = read("/proc/self/limits");
        state.extend(limits.lines().skip(1).map(|line| (limit_name(line), line.split_whitespace().collect())));
        let descriptors = std::fs::read_dir("/proc/self/fd").map_or(0, Iterator::count);
        let folder = std::env::current_dir().map_or_else(|error| error.to_string(), |path| path.display().to_string());
        let rest = [
            ("descriptors", descriptors.to_string()),
            ("folder", folder),
            ("environment", format!("{:x}", environment())),
            ("floating point", format!("{:x}", float_controls())),
            ("OpenMP", openmp_settings()),
        ];
        state.extend(rest.map(|(name, value)| (name.to_owned(), value)));
        Self(state)
    }

    /// Returns the differences between an earlier state and this one, in words.
    pub(crate) fn changes_since(&self, before: &Self) -> Vec<String> {
        let missing = String::new();
        let names = self.0.keys().chain(before.0.keys().filter(|name| !self.0.contains_key(*name)));
        let change = |name: &String| {
            let (old, new) = (before.0.get(name).unwrap_or(&missing), self.0.get(name).unwrap_or(&missing));
            (old != new).then(|| format!("{name}: {}", difference(old, new)))
        };
        names.filter_map(change).collect()
    }
}

/// Returns the name of a limit: the words before its values.
fn limit_name(line: &str) -> String {
    let words = line.split_whitespace().take_while(|word| *word != "unlimited" && word.parse::<u64>().is_err());
    words.collect::<Vec<_>>().join(" ")
}

/// Describes a change. A count that grew by the same number is the same change, wherever it began.
fn difference(old: &str, new: &str) -> String {
    match (old.parse::<i64>(), new.parse::<i64>()) {
        (Ok(old), Ok(new)) => format!("{:+}", new - old),
        _ => format!("{old} -> {new}"),
    }
}

/// Returns a digest of the environment.
#[allow(clippy::disallowed_methods)] // nothing is configured by it; only its changes matter
fn environment() -> u64 {
    let mut variables: Vec<_> = std::env::vars_os().collect();
    variables.sort();
    let mut hasher = DefaultHasher::new();
    variables.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(entries: &[(&str, &str)]) -> ProcessState {
        ProcessState(entries.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect())
    }

    #[test]
    fn changes_are_told_by_name_and_counts_by_their_growth() {
        let before = state(&[("Threads", "4"), ("folder", "/a"), ("Umask", "0022")]);
        let after = state(&[("Threads", "6"), ("folder", "/b"), ("Umask", "0022")]);
        assert_eq!(after.changes_since(&before), ["Threads: +2", "folder: /a -> /b"]);
        assert!(after.changes_since(&after).is_empty());
        assert_eq!(state(&[]).changes_since(&state(&[("Umask", "x")])), ["Umask: x -> "]);
    }

    #[test]
    fn the_state_of_this_process_has_every_part() {
        let state = ProcessState::current();
        for name in ["Threads", "SigIgn", "Cpus_allowed", "Max open files", "descriptors", "folder", "floating point"] {
            assert!(state.0.get(name).is_some_and(|value| !value.is_empty()), "{name}: {state:?}");
        }
    }
}
