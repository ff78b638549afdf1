//! The state of a worker's process that one configuration could leave changed for the next.

use std::collections::BTreeMap;
use std::collections::hash_map::DefaultHasher;
use std::ffi::OsString;
use std::hash::{Hash, Hasher};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use tunesmith_backend::{float_controls, interval_timers, openmp_settings, signal_handlers};

/// The lines of `/proc/self/status` that matter.
const STATUS: [&str; 8] =
    ["Threads", "Umask", "SigBlk", "SigIgn", "SigCgt", "Cpus_allowed", "Mems_allowed", "NoNewPrivs"];

/// The fields of `/proc/self/stat` that tell the scheduling, by their places behind the name.
const SCHEDULING: [(usize, &str); 3] = [(16, "priority"), (37, "real-time priority"), (38, "scheduling policy")];

/// The state of this process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ProcessState {
    /// The parts whose values mean the same in every process, by name.
    parts: BTreeMap<String, String>,
    /// The parts that are told without their values, because those differ between processes that are
    /// in the same state. A new one is told by a count among the other parts.
    places: BTreeMap<String, String>,
}

impl ProcessState {
    /// Returns the present state.
    pub(crate) fn current() -> Self {
        let read = |path| tunesmith_files::system_text(path).unwrap_or_default();
        let mut state = BTreeMap::new();
        let status = read("/proc/self/status");
        let lines = status.lines().filter_map(|line| line.split_once(':')).filter(|(name, _)| STATUS.contains(name));
        state.extend(lines.map(|(name, value)| (name.to_owned(), value.trim().to_owned())));
        state.extend(scheduling(&read("/proc/self/stat")));
        let limits = read("/proc/self/limits");
        state.extend(limits.lines().skip(1).map(|line| (limit_name(line), line.split_whitespace().collect())));
        let descriptors = descriptors();
        let folder = std::env::current_dir().map_or_else(|error| error.to_string(), |path| path.display().to_string());
        let rest = [
            ("descriptors", descriptors.len().to_string()),
            ("folder", folder),
            ("interval timers", interval_timers()),
            ("timers", read("/proc/self/timers").lines().filter(|line| line.starts_with("ID:")).count().to_string()),
            ("environment", format!("{:x}", environment())),
            ("floating point", format!("{:x}", float_controls())),
            ("OpenMP", openmp_settings()),
        ];
        state.extend(rest.map(|(name, value)| (name.to_owned(), value)));
        let handlers = signal_handlers().into_iter();
        let handlers = handlers.map(|(signal, handler)| (format!("the handler of signal {signal}"), handler));
        Self { parts: state, places: handlers.chain(descriptors).collect() }
    }

    /// Returns the differences between an earlier state and this one, in words.
    pub(crate) fn changes_since(&self, before: &Self) -> Vec<String> {
        let missing = String::new();
        let (old, new) = (&before.parts, &self.parts);
        let names = new.keys().chain(old.keys().filter(|name| !new.contains_key(*name)));
        let change = |name: &String| {
            let (old, new) = (old.get(name).unwrap_or(&missing), new.get(name).unwrap_or(&missing));
            (old != new).then(|| format!("{name}: {}", difference(old, new)))
        };
        let moved = before.places.iter().filter_map(|(name, old)| match self.places.get(name) {
            None => Some(format!("{name} is gone")),
            Some(new) => (old != new).then(|| format!("{name} is another")),
        });
        names.filter_map(change).chain(moved).collect()
    }
}

/// Returns the priority and the policy of the process's first thread. `stat` has the form of
/// `/proc/self/stat`.
fn scheduling(stat: &str) -> impl Iterator<Item = (String, String)> {
    let fields: Vec<&str> = stat.rsplit_once(')').map_or("", |(_, rest)| rest).split_whitespace().collect();
    let told = |(place, name): (usize, &str)| Some((name.to_owned(), (*fields.get(place)?).to_owned()));
    SCHEDULING.into_iter().filter_map(told).collect::<Vec<_>>().into_iter()
}

/// Returns the open descriptors with what they are open for.
fn descriptors() -> Vec<(String, String)> {
    let folder = Path::new("/proc/self/fd");
    let names: Vec<_> = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|one| one.file_name()).collect();
    // The descriptor that read the folder is closed by now, and leads nowhere.
    let target = |name: OsString| Some((format!("descriptor {}", name.display()), target(&folder.join(&name))?));
    names.into_iter().filter_map(target).collect()
}

/// Returns what a descriptor is open for. A file is told by its number, because others may rename or
/// remove it. What is not in the file system may share its number with others of another kind.
fn target(descriptor: &Path) -> Option<String> {
    let (link, file) = (std::fs::read_link(descriptor).ok()?, std::fs::metadata(descriptor).ok()?);
    let kind = if link.is_absolute() { String::new() } else { link.display().to_string() };
    Some(format!("{}:{} {kind}", file.dev(), file.ino()))
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
    use std::os::fd::AsRawFd;

    fn state(entries: &[(&str, &str)]) -> ProcessState {
        let parts = entries.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        ProcessState { parts: parts.collect(), ..ProcessState::default() }
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
        let names = ["Threads", "SigIgn", "Cpus_allowed", "Max open files", "descriptors", "folder", "floating point"];
        for name in names.into_iter().chain(SCHEDULING.map(|(_, name)| name)) {
            assert!(state.parts.get(name).is_some_and(|value| !value.is_empty()), "{name}: {state:?}");
        }
        assert!(state.places.contains_key("descriptor 0") && state.places.contains_key("the handler of signal 11"));
    }

    #[test]
    fn the_scheduling_is_read_behind_any_name_of_a_program() {
        let fields: Vec<String> = (3..=52).map(|field| field.to_string()).collect();
        let told: Vec<(String, String)> = scheduling(&format!("7 (a) b) c) {}", fields.join(" "))).collect();
        let values: Vec<&str> = told.iter().map(|(_, value)| value.as_str()).collect();
        assert_eq!(values, ["19", "40", "41"]);
    }

    #[test]
    fn a_descriptor_stays_the_same_when_its_file_loses_its_name() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let other = tempfile::tempfile().unwrap();
        let of = |file: &std::fs::File| target(Path::new(&format!("/proc/self/fd/{}", file.as_raw_fd()))).unwrap();
        let before = of(file.as_file());
        let file = file.into_file();
        assert!(of(&file) == before && of(&other) != before);
    }

    #[test]
    fn what_took_the_place_of_another_is_told_without_its_value() {
        let with = |places: &[(&str, &str)]| {
            let places = places.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
            ProcessState { places: places.collect(), ..ProcessState::default() }
        };
        let before = with(&[("descriptor 3", "/a"), ("descriptor 4", "socket:[1]"), ("descriptor 5", "/b")]);
        let after = with(&[("descriptor 3", "/a"), ("descriptor 4", "socket:[2]"), ("descriptor 6", "/b")]);
        assert_eq!(after.changes_since(&before), ["descriptor 4 is another", "descriptor 5 is gone"]);
        // A count tells new ones.
        assert!(with(&[("descriptor 3", "/a")]).changes_since(&with(&[])).is_empty());
    }
}
