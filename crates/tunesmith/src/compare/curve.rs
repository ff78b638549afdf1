//! How one search went: the best so far after every evaluation.

use std::collections::HashSet;
use tunesmith_core::Run;

/// The best times of one search in milliseconds; infinite while nothing is correct.
#[derive(Clone, Debug, Default)]
pub(super) struct Curve {
    /// After every evaluation, profiled re-runs included.
    pub(super) best_by_evaluation: Vec<f64>,
    /// After every distinct configuration.
    pub(super) best_by_config: Vec<f64>,
    /// What the search took beside measuring: the strategy and the loop.
    pub(super) seconds: f64,
}

impl Curve {
    pub(super) fn of(run: &Run) -> Self {
        let mut curve = Self { seconds: run.seconds.total.as_secs_f64(), ..Self::default() };
        let (mut best, mut seen) = (f64::INFINITY, HashSet::new());
        for scored in run.history.iter() {
            best = scored.score.map_or(best, |score| score.min(best));
            curve.best_by_evaluation.push(best);
            if seen.insert(scored.evaluation.request.config) {
                curve.best_by_config.push(best);
            } else if let Some(last) = curve.best_by_config.last_mut() {
                *last = best;
            }
        }
        curve
    }

    /// How many evaluations the search made.
    pub(super) fn evaluations(&self) -> usize {
        self.best_by_evaluation.len()
    }

    /// The best after `count` distinct configurations; the last best when there were fewer.
    pub(super) fn best_after(&self, count: u64) -> f64 {
        at(&self.best_by_config, count)
    }

    /// The best after `count` evaluations; the last best when there were fewer.
    pub(super) fn best_after_evaluations(&self, count: u64) -> f64 {
        at(&self.best_by_evaluation, count)
    }

    /// The number of the first evaluation within `limit_ms`, from 1.
    pub(super) fn first_hit(&self, limit_ms: f64) -> Option<u64> {
        self.best_by_evaluation.iter().position(|best| *best <= limit_ms).map(|position| position as u64 + 1)
    }
}

fn at(best: &[f64], count: u64) -> f64 {
    let last = usize::try_from(count).unwrap_or(usize::MAX).min(best.len());
    last.checked_sub(1).map_or(f64::INFINITY, |position| best[position])
}
