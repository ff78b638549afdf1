//! Adds up the time of a run by its use.

use super::full_entry::FullEntry;
use std::collections::BTreeSet;
use tunesmith_core::{FailureKind, Role};
use tunesmith_report::Spent;
use tunesmith_store::{Again, Brief, Outline};

/// The results that a stretch of time may end with, in the order in which reports list them.
const RESULTS: [&str; 10] = [
    "correct configurations",
    "compile failures",
    "runtime failures",
    "time-outs",
    "wrong results",
    "refused configurations",
    "infeasible configurations",
    "probes for drift",
    "final re-measurement",
    "cut configurations",
];

/// The position of those that limits from the best time cut.
const CUT: usize = RESULTS.len() - 1;

/// Returns the wall time by its result, from all clocks, and the activities within evaluations, from
/// those `looked_at` in full. The best time cut the evaluations at the positions `cut`.
pub(super) fn of(outline: &Outline, cut: &BTreeSet<usize>, looked_at: &[FullEntry]) -> Spent {
    let briefs = outline.entries.briefs();
    let result = |at: usize, brief: &Brief| if cut.contains(&at) { CUT } else { of_failure(brief.failure) };
    let evaluated = briefs.iter().enumerate().map(|(at, brief)| (brief.clock, result(at, brief)));
    let measured_again = outline.again.iter().map(|again| (again.entry.clock, of_again(again)));
    let mut ends: Vec<(f64, usize)> = evaluated.chain(measured_again).collect();
    ends.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mut seconds, mut before) = ([0.0; RESULTS.len()], 0.0);
    for (clock, result) in ends {
        seconds[result] += clock - before;
        before = clock;
    }
    let results = RESULTS.iter().zip(seconds).filter(|(_, seconds)| *seconds > 0.0);
    let results = results.map(|(label, seconds)| ((*label).to_string(), seconds)).collect();
    Spent { results, activities: activities(briefs.len(), looked_at) }
}

fn of_failure(failure: Option<FailureKind>) -> usize {
    match failure {
        None => 0,
        Some(FailureKind::Compile) => 1,
        Some(FailureKind::Runtime) => 2,
        Some(FailureKind::Timeout) => 3,
        Some(FailureKind::Correctness) => 4,
        Some(FailureKind::Constraints) => 5,
        Some(FailureKind::Infeasible) => 6,
    }
}

fn of_again(again: &Again) -> usize {
    if again.role() == Some(Role::Reference) { 7 } else { 8 }
}

/// Returns the seconds of compilers, first launches and samples of `count` evaluations.
fn activities(count: usize, looked_at: &[FullEntry]) -> Vec<(String, f64)> {
    let share = count as f64 / looked_at.len().max(1) as f64 / 1e3;
    let sum = |of: &dyn Fn(&FullEntry) -> f64| looked_at.iter().map(of).sum::<f64>() * share;
    let all = [
        ("compiling", sum(&|(_, entry)| entry.compile.as_ref().map_or(0.0, |compile| compile.time_ms))),
        ("first launches", sum(&|(_, entry)| entry.warmup_ms.unwrap_or(0.0))),
        ("timed samples", sum(&|(_, entry)| entry.times_ms.iter().sum())),
    ];
    let estimated = if looked_at.len() < count { " (estimated)" } else { "" };
    let some = all.into_iter().filter(|(_, seconds)| *seconds > 0.0);
    some.map(|(label, seconds)| (format!("{label}{estimated}"), seconds)).collect()
}
