//! The second opinion on candidates: trees, which see conjunctions that a smooth process does not.

use super::features::Features;
use super::forest::{Forest, TREES, renewals};
use super::told::Told;
use tunesmith_core::{Rng, View};
use tunesmith_model::Prediction;
use tunesmith_space::ConfigId;

/// The weight of the trees in the mixture of both models.
const SHARE: f64 = 0.25;
/// The deviation of the trees where all of them agree, in standard deviations of the targets.
const DOUBT: f64 = 0.1;

/// Extremely randomised trees over the evaluations told, for all models of a run.
#[derive(Debug)]
pub(super) struct Opinion {
    pub(super) forest: Forest,
    /// The least score told. The targets of another cannot be compared with those that refer to it.
    best: f64,
    doubt: f64,
}

impl Opinion {
    /// Returns the model without evaluations.
    pub(super) fn new(features: Features) -> Self {
        Self { forest: Forest::new(features), best: f64::INFINITY, doubt: 0.0 }
    }

    /// Learns from the evaluations told, whose targets are given. There is one at least.
    pub(super) fn follow(&mut self, view: &View<'_>, (told, targets): (&[Told], &[f64]), rng: &mut Rng) {
        let new: Vec<ConfigId> = told[self.forest.len()..].iter().map(|told| told.config).collect();
        if !self.forest.add(view.space(), &new) {
            return;
        }
        let best = told.iter().filter_map(Told::measured).fold(f64::INFINITY, f64::min);
        let is_other = best != std::mem::replace(&mut self.best, best);
        let count = if is_other { TREES } else { renewals(told.len()) };
        self.forest.learn(view, targets, count, rng);
        self.doubt = DOUBT * deviation(targets);
    }

    /// Mixes the mean of the process for a candidate with that of the trees.
    pub(super) fn mean(&self, process: f64, trees: Prediction) -> f64 {
        mix(process, trees.mean)
    }

    /// Mixes the prediction of the process for a candidate with that of the trees: a normal variable with the mean and
    /// the variance of the mixture of both.
    pub(super) fn mix(&self, process: Prediction, trees: Prediction) -> Prediction {
        mixed(process, Prediction { deviation: trees.deviation.hypot(self.doubt), ..trees })
    }
}

/// Returns the mixture of a number of the process and one of the trees.
fn mix(process: f64, trees: f64) -> f64 {
    (1.0 - SHARE) * process + SHARE * trees
}

/// Returns the mean and the deviation of the mixture of two normal variables, of which the second one has the weight
/// [`SHARE`].
fn mixed(process: Prediction, trees: Prediction) -> Prediction {
    let apart = process.mean - trees.mean;
    let variance = mix(process.deviation.powi(2), trees.deviation.powi(2)) + SHARE * (1.0 - SHARE) * apart * apart;
    Prediction { mean: mix(process.mean, trees.mean), deviation: variance.sqrt() }
}

fn deviation(targets: &[f64]) -> f64 {
    let mean = targets.iter().sum::<f64>() / targets.len() as f64;
    (targets.iter().map(|target| (target - mean).powi(2)).sum::<f64>() / targets.len() as f64).sqrt()
}
