//! The progress of a run: the only input of stop conditions and progress displays.

use crate::{Evaluation, RegretBound};
use std::time::Duration;

/// The progress of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Progress {
    /// Evaluations recorded, including failures and earlier parts of a resumed run.
    pub evaluations: u64,
    /// Time since the start, including earlier parts of a resumed run.
    pub elapsed: Duration,
    /// The time at the end of the run that is kept for the final re-measurement. The search ends before it.
    pub reserve: Duration,
    /// Number of configurations in the space, or infinity if it exceeds the range.
    pub space_size: f64,
    /// The best score that a model considers possible, if there is a model.
    pub limit: Option<f64>,
    /// The latest estimate, for each share in the stop condition, of the probability that the best
    /// score is within that share of the optimum. Empty before the first estimate.
    pub regret: Vec<RegretBound>,
    /// Every improvement of the best score, in order. The last one is the best.
    pub improvements: Vec<Improvement>,
}

/// A new best score and the time at which it was found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Improvement {
    /// The number of evaluations recorded, including this one.
    pub evaluations: u64,
    /// Time since the start.
    pub elapsed: Duration,
    /// The score reached.
    pub score: f64,
}

impl Progress {
    /// Counts an evaluation, which reached `score`.
    pub(crate) fn count(&mut self, evaluation: &Evaluation, score: Option<f64>) {
        self.evaluations += 1;
        self.improve(evaluation, score);
    }

    /// Takes over an evaluation that replaces one that was counted, and reached `score`.
    pub(crate) fn improve(&mut self, evaluation: &Evaluation, score: Option<f64>) {
        if let Some(score) = score.filter(|new| self.best().is_none_or(|old| *new < old)) {
            self.improvements.push(Improvement { evaluations: self.evaluations, elapsed: evaluation.clock, score });
        }
    }

    /// Returns the best score so far.
    pub fn best(&self) -> Option<f64> {
        self.improvements.last().map(|improvement| improvement.score)
    }

    /// Returns the best score among the improvements for which `old` holds.
    pub fn best_where(&self, old: impl Fn(&Improvement) -> bool) -> Option<f64> {
        self.improvements.iter().rev().find(|improvement| old(improvement)).map(|improvement| improvement.score)
    }
}
