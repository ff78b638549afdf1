//! The control experiment of counter-guided search: the result of using another device's times
//! alone.

use super::measures::HIT;
use serde::Serialize;
use std::collections::HashMap;
use tunesmith_core::Recording;
use tunesmith_core::recording::Row;

/// A search that measures configurations in the order of their times on another recording, the
/// fastest there first. Counters guide a search only if it does better than this one.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TimeTransfer {
    /// The recording that is searched.
    pub recording: String,
    /// The recording whose times order the search.
    pub from: String,
    /// Number of configurations that the other times order. No others are tried.
    pub ordered: usize,
    /// Mean number of evaluations until within 1.10 of the optimum, failures included, over all
    /// orders of configurations that are equally fast there. `None` if no such configuration is
    /// among the ordered.
    pub first_hit: Option<f64>,
}

impl TimeTransfer {
    /// Searches `recording` in the order of `other`. Parameters that `other` lacks do not affect
    /// the order. Returns `None` if `other` has further parameters or no configuration in common.
    /// Costs a sort.
    pub(super) fn new(other: &Recording, recording: &Recording) -> Option<Self> {
        let limit_ms = HIT * recording.optimum_ms()?;
        let pairs = shared_parameters(other, recording)?;
        let there = pairs.iter().map(|(_, there)| *there).collect::<Vec<_>>();
        let mut times: HashMap<Vec<String>, f64> = HashMap::new();
        for (row, ms) in other.rows().iter().filter_map(|row| Some((row, row.time_ms()?))) {
            let least = times.entry(key(row, &there)).or_insert(ms);
            *least = least.min(ms);
        }
        let here = pairs.iter().map(|(here, _)| *here).collect::<Vec<_>>();
        let is_hit = |row: &Row| row.time_ms().is_some_and(|ms| ms <= limit_ms);
        let ordered = recording.rows().iter().filter_map(|row| Some((*times.get(&key(row, &here))?, is_hit(row))));
        let mut order: Vec<(f64, bool)> = ordered.collect();
        order.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (recording, from) = (recording.name.clone(), other.name.clone());
        (!order.is_empty()).then(|| Self { recording, from, ordered: order.len(), first_hit: first_hit(&order) })
    }
}

/// Returns the positions in `recording` and in `other` of the parameters that both have. Returns
/// `None` if `other` varies a parameter that `recording` lacks.
fn shared_parameters(other: &Recording, recording: &Recording) -> Option<Vec<(usize, usize)>> {
    let mut pairs = Vec::new();
    for (there, parameter) in other.parameters().iter().enumerate() {
        match recording.parameters().iter().position(|here| here.name() == parameter.name()) {
            Some(here) => pairs.push((here, there)),
            None if parameter.values().len() > 1 => return None,
            None => {}
        }
    }
    Some(pairs)
}

/// Returns the values of a row at these positions.
fn key(row: &Row, positions: &[usize]) -> Vec<String> {
    positions.iter().map(|at| row.values[*at].to_string()).collect()
}

/// Returns the mean number of tries until a hit, in ascending order of times and any order of equal
/// ones.
fn first_hit(order: &[(f64, bool)]) -> Option<f64> {
    let mut before = 0.0;
    for equal in order.chunk_by(|a, b| a.0 == b.0) {
        let hits = equal.iter().filter(|(_, is_hit)| *is_hit).count();
        if hits > 0 {
            return Some(before + (equal.len() + 1) as f64 / (hits + 1) as f64);
        }
        before += equal.len() as f64;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use tunesmith_core::recording::Column;
    use tunesmith_core::{Failure, FailureKind, Measurement};
    use tunesmith_space::Value;

    /// A recording of `X` with these times; 0 is a failure.
    fn recording(name: &str, times: &[(i64, f64)]) -> Recording {
        let row = |(x, ms): &(i64, f64)| Row {
            values: vec![Value::Int(*x)],
            failure: (*ms == 0.0).then(|| Failure::new(FailureKind::Compile, "x")),
            measurement: Measurement { times_ms: vec![*ms], ..Measurement::default() },
            ..Row::default()
        };
        Recording::new(name, vec![Column::of_rows("X")], times.iter().map(row).collect()).unwrap()
    }

    #[test]
    fn the_fastest_elsewhere_are_tried_first_and_failures_here_count() {
        let here = recording("here", &[(1, 1.0), (2, 3.0), (3, 0.0), (4, 2.0)]);
        let there = recording("there", &[(1, 9.0), (2, 8.0), (3, 7.0), (4, 0.0), (5, 1.0)]);
        let found = TimeTransfer::new(&there, &here).unwrap();
        // 5 is not here, 4 failed there: 3, which fails, then 2, then 1.
        assert_eq!((found.ordered, found.first_hit), (3, Some(3.0)));
        assert_eq!((found.recording.as_str(), found.from.as_str()), ("here", "there"));
        let elsewhere = recording("elsewhere", &[(7, 1.0)]);
        assert_eq!(TimeTransfer::new(&elsewhere, &here), None);
        let without_the_best = recording("partly", &[(2, 1.0)]);
        assert_eq!(TimeTransfer::new(&without_the_best, &here).unwrap().first_hit, None);
    }

    #[test]
    fn of_equally_fast_ones_the_mean_of_all_orders_counts() {
        // Two worse ones, then one hit among three: after 2 + (3 + 1) / (1 + 1) on average.
        let order = [(1.0, false), (1.0, false), (2.0, false), (2.0, true), (2.0, false)];
        assert_eq!(first_hit(&order), Some(4.0));
        let names = ["X", "NEW"].map(Column::of_rows).to_vec();
        let row = |x: i64, new: i64, ms: f64| Row {
            values: vec![Value::Int(x), Value::Int(new)],
            measurement: Measurement { times_ms: vec![ms], ..Measurement::default() },
            ..Row::default()
        };
        let rows = vec![row(1, 0, 1.0), row(1, 1, 5.0), row(2, 0, 3.0), row(2, 1, 4.0)];
        let larger = Recording::new("larger", names, rows).unwrap();
        let smaller = recording("smaller", &[(1, 7.0), (2, 6.0)]);
        // Both of 2, then either of 1.
        assert_eq!(TimeTransfer::new(&smaller, &larger).unwrap().first_hit, Some(3.5));
        assert_eq!(TimeTransfer::new(&larger, &smaller), None, "it varies a parameter that is not there");
    }
}
