//! Estimates the probability that the best found is near the optimum.

mod extremes;
mod surrogate;
mod tail;
mod unseen;

use crate::gaussian_process::features::Features;
use extremes::excess;
use rand::SeedableRng as _;
use std::collections::HashSet;
use surrogate::RegretSurrogate;
use tail::upper_tail;
use tunesmith_core::{History, RegretEstimator, Rng};
use tunesmith_model::Hyperparameters;
use tunesmith_space::{ConfigId, Space};
use unseen::Unevaluated;

/// Number of best configurations whose neighbours are examined in a space that is not listed.
const LEADERS: usize = 5;
/// Minimum number of correct evaluations for a claim: the spacings of the best need as many.
const FEWEST_SUCCESSES: usize = 6;

/// Estimates how far the best found may be from the optimum of the space. It uses the evaluations
/// alone; the strategy that asked for them does not matter. Two estimates have to agree.
///
/// **What the model expects.** A Gaussian process with the features and targets of the strategy
/// `gaussian_process` is fitted to the evaluations. `E` is the number of unseen configurations that
/// it expects to be better than the best divided by `1 + share`: the sum of the tails of Student's
/// distribution with 20 degrees of freedom around its means. The deviations are multiplied by a
/// factor of at least 1. The factor is the root mean square of the standardised errors of the
/// model's predictions for its best quarter, each predicted from all the others. Normal tails
/// claimed too much early in a search: kernels have cliffs that a smooth process calls impossible.
/// With 8 degrees, hardly anything was ever claimed. If unseen configurations were independent,
/// none would be better with the probability `exp(-E)`. They resemble each other, so this estimate
/// is too careful.
///
/// **What the extremes say.** The model cannot predict configurations unlike any it has seen. `X`
/// is the chance that a better configuration, if there is one, is better by more than the regret.
/// It follows from the spacings of the best scores and is high if the best stands alone. On a
/// recording in which one configuration of 4,363 is 7 % ahead of all others, the model was sure,
/// and wrong, for hundreds of evaluations, by 4 to 8 of its deviations.
///
/// The probability claimed is `(1 - X) exp(-E)`. It is 0 with fewer than six correct evaluations
/// and 1 when the space is evaluated. `bench/results/regret.md` checks it against nine recordings.
///
/// A space of up to 20,000 configurations is listed: the 2048 with the lowest means are examined,
/// and 2048 others represent the rest. In a larger space, the neighbours of the best five and 2048
/// random configurations are examined. Each random one represents its share of the space, and the
/// sum of so many tails seldom allows a claim.
///
/// Cost: a fit to 100 evaluations, the inverse of a matrix of 300, and 300^2 / 2 products for each
/// of 4096 candidates.
#[derive(Debug, Default)]
pub struct RegretModel {
    prepared: Option<RegretMemory>,
}

/// The state kept from one estimate to the next.
#[derive(Debug)]
struct RegretMemory {
    features: Features,
    source: Unevaluated,
    parameters: Hyperparameters,
}

/// The parts of an estimate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RegretParts {
    /// Number of unseen configurations that the model expects to be better than the regret allows.
    pub expected: f64,
    /// The chance that a better configuration is better by more than the regret, estimated from the
    /// extremes of the scores seen.
    pub excess: f64,
}

impl RegretParts {
    /// Returns the probability that the best is within the regret.
    pub fn probability(&self) -> f64 {
        (1.0 - self.excess) * (-self.expected).exp()
    }
}

/// The evaluated configurations, each once, and their scores.
struct Seen {
    configs: Vec<ConfigId>,
    scores: Vec<Option<f64>>,
    known: HashSet<ConfigId>,
}

impl Seen {
    fn new(history: &History) -> Self {
        let mut known = HashSet::new();
        let all = history.iter().map(|scored| scored.evaluation.request.config);
        let configs: Vec<ConfigId> = all.filter(|config| known.insert(*config)).collect();
        let score = |config: &ConfigId| history.of(*config).and_then(|scored| scored.score);
        Self { scores: configs.iter().map(score).collect(), configs, known }
    }

    fn successes(&self) -> impl Iterator<Item = f64> {
        self.scores.iter().copied().flatten()
    }
}

impl RegretModel {
    /// Returns the parts of the estimates for `shares` (0.02 is 2 %). Returns `None` while fewer
    /// than six evaluations were correct.
    pub fn parts(&mut self, space: &Space, history: &History, shares: &[f64]) -> Option<Vec<RegretParts>> {
        let seen = Seen::new(history);
        if seen.successes().count() < FEWEST_SUCCESSES {
            return None;
        }
        let prepared = self.prepared.get_or_insert_with(|| RegretMemory::new(space));
        let tails = prepared.tails(space, &seen);
        let parts =
            |&share: &f64| RegretParts { expected: tails.beyond(share), excess: excess(seen.successes(), share) };
        Some(shares.iter().map(parts).collect())
    }
}

impl RegretEstimator for RegretModel {
    fn within(&mut self, space: &Space, history: &History, shares: &[f64]) -> Vec<f64> {
        let seen = Seen::new(history);
        if space.len() == Some(seen.configs.len() as u128) && history.best().is_some() {
            return vec![1.0; shares.len()];
        }
        let parts = self.parts(space, history, shares);
        parts.map_or_else(|| vec![0.0; shares.len()], |parts| parts.iter().map(RegretParts::probability).collect())
    }
}

/// The predictions for unseen configurations.
struct Tails {
    /// Mean, deviation (with noise and inflation) and weight of each prediction.
    predicted: Vec<(f64, f64, f64)>,
}

impl Tails {
    /// Returns the expected number of configurations that are better than the best by more than the
    /// factor `1 + share`.
    fn beyond(&self, share: f64) -> f64 {
        // Targets have the slope 1 at the best, whose target is 0.
        let goal = -share.ln_1p();
        let chance = |&(mean, deviation, weight): &(f64, f64, f64)| weight * upper_tail((mean - goal) / deviation);
        self.predicted.iter().map(chance).sum()
    }
}

impl RegretMemory {
    fn new(space: &Space) -> Self {
        let features = Features::new(space);
        let source = Unevaluated::new(space, &features);
        let parameters = Hyperparameters::typical(features.features());
        Self { features, source, parameters }
    }

    /// Fits the model to the configurations seen and predicts unseen ones.
    fn tails(&mut self, space: &Space, seen: &Seen) -> Tails {
        let surrogate =
            RegretSurrogate::fit(space, &self.features, (&seen.configs, &seen.scores), self.parameters.clone());
        self.parameters = surrogate.parameters.clone();
        let leaders = &surrogate.ranked[..surrogate.ranked.len().min(LEADERS)];
        // A generator of its own: requests do not depend on whether the regret is estimated.
        let mut rng = Rng::seed_from_u64(seen.configs.len() as u64);
        let unseen = self.source.unseen(space, &self.features, &seen.known, leaders, &surrogate, &mut rng);
        Tails { predicted: surrogate.predict(unseen) }
    }
}

#[cfg(test)]
mod tests;
