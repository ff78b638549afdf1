//! When the regret is estimated.

use crate::{History, RegretBound, RegretEstimator, Stop};
use tunesmith_space::Space;

/// The first estimate: before, a model of a space with several parameters knows next to nothing.
const FIRST: usize = 20;
/// The growth of the evaluations after which the regret is estimated again: 48 times from 20 to 200
/// evaluations, so that an estimate may cost as much as several steps of a strategy.
const GROWTH: f64 = 1.05;

/// The estimator of the regret, with what decides when it is asked.
#[derive(Default)]
pub(super) struct Estimating<'a> {
    estimator: Option<&'a mut dyn RegretEstimator>,
    /// The shares that the stop condition names; empty where there is nothing to estimate.
    shares: Vec<f64>,
    /// Evaluations at the last estimate.
    last: usize,
}

impl<'a> Estimating<'a> {
    /// Estimates what `stop` needs.
    pub(super) fn new(stop: &Stop, estimator: Option<&'a mut dyn RegretEstimator>) -> Self {
        Self { estimator, shares: stop.regrets(), last: 0 }
    }

    /// Returns true if the stop condition asks for an estimate and it is time. `exhausted` says
    /// that the space is evaluated.
    pub(super) fn is_due(&self, evaluations: usize, exhausted: bool) -> bool {
        let over = exhausted && self.last < evaluations;
        self.estimator.is_some() && !self.shares.is_empty() && (over || self.has_grown(evaluations))
    }

    /// Returns true if `evaluations` are as many more as make an estimate worth its cost.
    fn has_grown(&self, evaluations: usize) -> bool {
        let next = ((self.last as f64 * GROWTH).ceil() as usize).max(self.last + 1).max(FIRST);
        evaluations >= next
    }

    /// Estimates the regret from what was told.
    ///
    /// What a resumed journal holds does not count, so that a resumed run ends where it would have
    /// ended.
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
