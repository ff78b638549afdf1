//! Schedules the estimates of the regret.

use crate::{History, RegretBound, RegretEstimator, Stop};
use tunesmith_space::Space;

/// Number of evaluations at the first estimate. Before, a model of a space with several parameters
/// knows next to nothing.
const FIRST: usize = 20;
/// The growth of the evaluations between two estimates. It gives 48 estimates from 20 to 200
/// evaluations, so an estimate may cost as much as several steps of a strategy.
const GROWTH: f64 = 1.05;

/// The estimator of the regret and its schedule.
#[derive(Default)]
pub(super) struct Estimating<'a> {
    estimator: Option<&'a mut dyn RegretEstimator>,
    /// The shares in the stop condition. Empty if there is nothing to estimate.
    shares: Vec<f64>,
    /// Number of evaluations at the last estimate.
    last: usize,
}

impl<'a> Estimating<'a> {
    /// Creates the schedule for the estimates that `stop` needs.
    pub(super) fn new(stop: &Stop, estimator: Option<&'a mut dyn RegretEstimator>) -> Self {
        Self { estimator, shares: stop.regrets(), last: 0 }
    }

    /// Returns true if the stop condition needs an estimate now. `exhausted` means that every
    /// configuration of the space is evaluated.
    pub(super) fn is_due(&self, evaluations: usize, exhausted: bool) -> bool {
        let over = exhausted && self.last < evaluations;
        self.estimator.is_some() && !self.shares.is_empty() && (over || self.has_grown(evaluations))
    }

    /// Returns true if `evaluations` has grown enough to be worth another estimate.
    fn has_grown(&self, evaluations: usize) -> bool {
        let next = ((self.last as f64 * GROWTH).ceil() as usize).max(self.last + 1).max(FIRST);
        evaluations >= next
    }

    /// Estimates the regret from the told evaluations.
    ///
    /// Evaluations of a resumed journal count only once they are told, so a resumed run ends where
    /// it would have ended.
    pub(super) fn estimate(&mut self, space: &Space, told: &History) -> Vec<RegretBound> {
        let Some(estimator) = &mut self.estimator else { return Vec::new() };
        self.last = told.len();
        let evaluations = told.len() as u64;
        let probabilities = estimator.within(space, told, &self.shares);
        let bound = |(&share, probability)| RegretBound { share, probability, evaluations };
        self.shares.iter().zip(probabilities).map(bound).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn estimates_come_with_every_twentieth_more_and_not_before_the_twentieth() {
        let mut estimating = Estimating::default();
        let mut made = Vec::new();
        for evaluations in 0..=200 {
            if estimating.has_grown(evaluations) {
                estimating.last = evaluations;
                made.push(evaluations);
            }
        }
        assert_eq!(made[..4], [20, 21, 23, 25]);
        assert!(made.len() < 50 && made.windows(2).all(|pair| pair[1] - pair[0] <= pair[0] / 20 + 1), "{made:?}");
    }
}
