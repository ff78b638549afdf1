//! The seconds that evaluations take, and how much they weigh in the choice of the next one.

use super::features::Features;
use super::forest::{Forest, renewals};
use super::told::Told;
use tunesmith_core::{Rng, View};
use tunesmith_model::Prediction;
use tunesmith_space::ConfigId;

/// The power of the seconds by which the expected improvement is divided, where they differ much. Their first power is
/// no better than their root.
const POWER: f64 = 0.5;
/// The logarithms of the ratio of the 90th percentile and the median between which the power rises from 0: where
/// evaluations take equally long, predicted differences are noise.
const SPREAD: [f64; 2] = [0.2, 0.4];
/// Number of evaluations before the seconds are predicted.
const FEWEST: usize = 6;

/// Trees that predict the logarithm of the seconds of an evaluation.
#[derive(Debug)]
pub(super) struct Seconds {
    pub(super) forest: Forest,
    /// The configurations whose seconds are known, and the logarithms of these.
    known: Vec<(ConfigId, f64)>,
    /// The number of evaluations told that were looked at.
    seen: usize,
    /// The power by which the next choice divides.
    power: f64,
}

impl Seconds {
    /// Returns the model without evaluations.
    pub(super) fn new(features: Features) -> Self {
        Self { forest: Forest::new(features), known: Vec::new(), seen: 0, power: 0.0 }
    }

    /// Learns from the evaluations told. `used` is the share of the run's time that is used up: towards the end, no
    /// time is left to use what is saved.
    pub(super) fn follow(&mut self, view: &View<'_>, told: &[Told], used: f64, rng: &mut Rng) {
        let new = told[self.seen..].iter().filter_map(|told| Some((told.config, told.ms?.ln())));
        self.known.extend(new);
        self.seen = told.len();
        let logarithms: Vec<f64> = self.known.iter().map(|(_, logarithm)| *logarithm).collect();
        self.power = if logarithms.len() < FEWEST { 0.0 } else { power(&logarithms) * (1.0 - used) };
        if self.power == 0.0 {
            return;
        }
        let new: Vec<ConfigId> = self.known[self.forest.len()..].iter().map(|(config, _)| *config).collect();
        if self.forest.add(view.space(), &new) {
            self.forest.learn(view, &logarithms, renewals(logarithms.len()), rng);
        }
    }

    /// Returns true if the next choice looks at the seconds.
    pub(super) fn is_heeded(&self) -> bool {
        self.power > 0.0
    }

    /// Returns what to subtract from the logarithm of the expected improvement of a configuration.
    pub(super) fn weight(&self, predicted: Prediction) -> f64 {
        self.power * predicted.mean
    }
}

/// Returns the power of the seconds, from the logarithms of those told.
fn power(logarithms: &[f64]) -> f64 {
    let mut sorted = logarithms.to_vec();
    sorted.sort_by(f64::total_cmp);
    let at = |share: f64| sorted[((sorted.len() - 1) as f64 * share).round() as usize];
    let [from, to] = SPREAD;
    POWER * ((at(0.9) - at(0.5) - from) / (to - from)).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_weigh_only_where_they_differ() {
        let of = |seconds: &[f64]| power(&seconds.iter().map(|seconds| seconds.ln()).collect::<Vec<_>>());
        assert_eq!(of(&[1.0; 10]), 0.0);
        assert_eq!(of(&[1.0, 1.1, 1.0, 1.2, 1.0, 1.1, 1.0, 1.2, 1.1, 1.2]), 0.0);
        assert_eq!(of(&[1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 5.0, 9.0]), POWER);
        // A single slow one of ten says little of the others.
        assert_eq!(of(&[1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 9.0]), 0.0);
    }
}
