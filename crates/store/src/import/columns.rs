//! Decides the role of each column of a CSV.

use super::number::milliseconds;
use super::sidecar::Sidecar;
use std::collections::HashMap;
use tunesmith_core::counters::{CounterSet, GLOBAL_SIZE, LOCAL_SIZE, REGISTERS};
use tunesmith_core::recording::Column;

/// Columns of KTT that stand before the parameters.
const BEFORE: [&str; 7] =
    ["Kernel name", "Computation duration (us)", "Global size", "Local size", "run", "step", "profiled"];

/// The content of a column.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Role {
    /// Values of the parameter at this position.
    Parameter(usize),
    /// The time, in this many milliseconds.
    Time(f64),
    /// One of several times, in milliseconds.
    Sample,
    Status,
    /// The correctness of the configuration, as a truth value.
    Feasible,
    RelStd,
    /// The compile time, in this many milliseconds.
    Compile(f64),
    Benchmark,
    Verification,
    /// The tuner's own time, in this many milliseconds.
    Framework(f64),
    Search,
    /// The limit from the best time that cut the configuration, in milliseconds.
    CutLimit,
    /// The best time behind it.
    CutBest,
    Kernel,
    Counter,
    /// Another number of the run, or a column that is not kept.
    Further,
}

/// The columns of a CSV with the roles of their names.
pub(super) struct Columns {
    pub(super) roles: Vec<Role>,
    pub(super) parameters: Vec<Column>,
}

impl Columns {
    /// Assigns roles to the columns named in `header`. The sidecar lists the parameters. If it
    /// lists none, they are the columns before the status, the time or the first counter, except
    /// those that KTT writes before the parameters.
    pub(super) fn new(header: &[&str], sidecar: &Sidecar) -> Self {
        let (samples, mut parameters) = (samples(header), sidecar.columns.clone());
        if parameters.is_empty() {
            let is_before = |name: &&&str| BEFORE.contains(*name);
            let starts = header.iter().take_while(is_before).count();
            let is_parameter = |name: &&&str| is_plain(name, sidecar);
            let names = header[starts..samples].iter().take_while(is_parameter);
            parameters = names.map(|name| Column::of_rows(*name)).collect();
        }
        let places: HashMap<&str, usize> =
            parameters.iter().enumerate().map(|(place, one)| (one.name.as_str(), place)).collect();
        let role = |(at, name): (usize, &&str)| match places.get(*name) {
            Some(place) => Role::Parameter(*place),
            None if at >= samples => Role::Sample,
            None => role(name, sidecar),
        };
        Self { roles: header.iter().enumerate().map(role).collect(), parameters }
    }

    /// Returns the column of each parameter, or `None` for one that has no column.
    pub(super) fn places(&self) -> Vec<Option<usize>> {
        let mut places = vec![None; self.parameters.len()];
        for (at, role) in self.roles.iter().enumerate() {
            if let Role::Parameter(place) = role {
                places[*place] = Some(at);
            }
        }
        places
    }
}

/// Returns the position of the first of the last columns `t1`, `t2`, ..., which hold the samples of a
/// configuration. Returns the number of columns if there are fewer than two of them.
fn samples(header: &[&str]) -> usize {
    let Some(from) = header.iter().rposition(|name| *name == "t1") else { return header.len() };
    let is_numbered = header[from..].iter().zip(1..).all(|(name, number)| *name == format!("t{number}"));
    if is_numbered && header.len() - from > 1 { from } else { header.len() }
}

/// Returns true if a column behind the parameters is not kept as a number called `name`: it has a role
/// of its own, it may be a sample, or it is kept by another name.
pub(crate) fn is_key(name: &str) -> bool {
    let is_sample =
        name.strip_prefix('t').is_some_and(|number| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()));
    let is_number = matches!(role(name, &Sidecar::default()), Role::Counter | Role::Further);
    is_sample || !is_number || further(name) != name
}

/// Returns true if a name is not one of those that follow the parameters.
fn is_plain(name: &str, sidecar: &Sidecar) -> bool {
    role(name, sidecar) == Role::Further
}

fn role(name: &str, sidecar: &Sidecar) -> Role {
    match name {
        "status" => Role::Status,
        "rel_std" => Role::RelStd,
        "compile_ms" => Role::Compile(1.0),
        "compile_and_overhead_us" => Role::Compile(1e-3),
        "benchmark_ms" => Role::Benchmark,
        "verification_ms" => Role::Verification,
        "framework_ms" => Role::Framework(1.0),
        "data_movement_us" => Role::Framework(1e-3),
        "search_ms" => Role::Search,
        "cut_limit_ms" => Role::CutLimit,
        "cut_best_ms" => Role::CutBest,
        "Kernel name" => Role::Kernel,
        "Computation duration (us)" => Role::Time(1e-3),
        // NVIDIA's counters from Volta on have `__` in their names; there are thousands.
        _ if name.contains("__") || CounterSet::knows(name) || sidecar.counters.contains(name) => Role::Counter,
        _ => {
            let unit = name.strip_prefix("time_").or_else(|| name.strip_prefix("duration_"));
            unit.and_then(milliseconds).map_or(Role::Further, Role::Time)
        }
    }
}

/// Returns the name by which a further number is kept. Files of KTT have three names for the sizes
/// of a launch.
pub(super) fn further(name: &str) -> &str {
    match name {
        "Global size" | "global_size_threads" => GLOBAL_SIZE,
        "Local size" => LOCAL_SIZE,
        "Registers count" => REGISTERS,
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_end_at_the_status_or_the_first_counter() {
        let names = |header: &[&str]| -> Vec<String> {
            Columns::new(header, &Sidecar::default()).parameters.into_iter().map(|column| column.name).collect()
        };
        assert_eq!(names(&["tile", "VEC", "time_ms", "status", "rel_std"]), ["tile", "VEC"]);
        let ktt = ["Kernel name", "Computation duration (us)", "Global size", "Local size", "X", "dram_utilization"];
        assert_eq!(names(&ktt), ["X"]);
        assert_eq!(names(&["t", "t0", "t1", "t2", "t3"]), ["t", "t0"]);
        assert_eq!(names(&["t1", "t2", "time_ms"]), ["t1", "t2"]);
        assert_eq!(names(&["run", "step", "profiled", "Y", "status", "duration_us", "registers"]), ["Y"]);
    }
}
