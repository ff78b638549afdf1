//! How far a run has come: the pure input of stop conditions and progress displays.

use crate::RegretBound;
use std::time::Duration;

/// The progress of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Progress {
    /// Evaluations recorded, failures and earlier parts of a resumed run included.
    pub evaluations: u64,
    /// Time since the start, earlier parts of a resumed run included.
    pub elapsed: Duration,
    /// Number of configurations in the space; infinite where it exceeds the range.
    pub space_size: f64,
    /// The best score that a model holds possible, where there is one.
    pub limit: Option<f64>,
    /// The probability that the best is near the optimum, for each share that the stop condition
    /// names: the latest estimates, none where none was made.
    pub regret: Vec<RegretBound>,
    /// Every improvement of the best score, in order; the last is the best.
    pub improvements: Vec<Improvement>,
}

/// A new best score and when it was found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Improvement {
    /// The number of evaluations recorded, this one included.
    pub evaluations: u64,
    /// Time since the start.
    pub elapsed: Duration,
    /// The score reached.
    pub score: f64,
}

impl Progress {
    /// Returns the best score so far.
    pub fn best(&self) -> Option<f64> {
        self.improvements.last().map(|improvement| improvement.score)
    }

    /// Returns the best score among the improvements for which `old` holds.
    pub fn best_where(&self, old: impl Fn(&Improvement) -> bool) -> Option<f64> {
        self.improvements.iter().rev().find(|improvement| old(improvement)).map(|improvement| improvement.score)
    }
}
