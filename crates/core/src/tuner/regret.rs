//! When the regret is estimated.

use super::running::Running;
use crate::{RegretBound, RegretEstimator, Stop};

/// The first estimate: before, a model of a space with several parameters knows next to nothing.
const FIRST: usize = 20;
/// The growth of the evaluations after which the regret is estimated again: 48 times from 20 to 200 evaluations, so
/// that an estimate may cost as much as several steps of a strategy.
const GROWTH: f64 = 1.05;

/// What is known of the estimates to come.
#[derive(Debug, Default)]
pub(super) struct Estimating {
    /// The shares that the stop condition names; empty where there is nothing to estimate.
    shares: Vec<f64>,
    /// Evaluations at the last estimate.
    last: usize,
}

impl Estimating {
    /// What `stop` needs.
    pub(super) fn of(stop: &Stop) -> Self {
        Self { shares: stop.regrets(), last: 0 }
    }

    /// Whether `evaluations` are as many more as make an estimate worth its cost.
    fn is_due(&self, evaluations: usize) -> bool {
        let next = ((self.last as f64 * GROWTH).ceil() as usize).max(self.last + 1).max(FIRST);
        evaluations >= next
    }
}

impl Running<'_> {
    /// Estimates the regret where the stop condition asks for it and it is time.
    ///
    /// From what was told, not from what a resumed journal holds: a resumed run then ends where it would have ended.
    pub(super) fn estimate_regret(&mut self) {
        let evaluations = self.told.len();
        let over = self.is_exhausted() && self.estimating.last < evaluations;
        if self.estimating.shares.is_empty() || !(over || self.estimating.is_due(evaluations)) {
            return;
        }
        let Some(estimator) = &mut self.tuner.regret else { return };
        let started = self.tuner.clock.now();
        let estimator: &mut dyn RegretEstimator = &mut **estimator;
        let probabilities = estimator.within(self.tuner.space, &self.told, &self.estimating.shares);
        let bound = |(&share, probability)| RegretBound { share, probability, evaluations: evaluations as u64 };
        self.progress.regret = self.estimating.shares.iter().zip(probabilities).map(bound).collect();
        self.estimating.last = evaluations;
        self.seconds.search += self.tuner.clock.now() - started;
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
            if estimating.is_due(evaluations) {
                estimating.last = evaluations;
                made.push(evaluations);
            }
        }
        assert_eq!(made[..4], [20, 21, 23, 25]);
        assert!(made.len() < 50 && made.windows(2).all(|pair| pair[1] - pair[0] <= pair[0] / 20 + 1), "{made:?}");
    }
}
