//! The second opinion on candidates: trees, which see conjunctions that a smooth process does not.

use super::features::Features;
use super::told::Told;
use crate::candidates::is_listed;
use tunesmith_core::{Rng, View};
use tunesmith_model::{Feature, LevelForecast, LevelTrees, Prediction, Rows};
use tunesmith_space::{ConfigId, Space};

/// The weight of the trees in the mixture of both models.
const SHARE: f64 = 0.25;
/// The deviation of the trees where all of them agree, in standard deviations of the targets.
const DOUBT: f64 = 0.1;
/// The number of trees.
const TREES: usize = 48;
/// Number of evaluations up to which all trees are grown anew after each. From then on as many are as cost the same.
const ALL_UNTIL: usize = 24;

/// Extremely randomised trees over the evaluations told, for all models of a run.
#[derive(Debug)]
pub(super) struct Opinion {
    features: Features,
    trees: LevelTrees,
    /// The predictions for every configuration of a listed space, by rank.
    whole: Option<LevelForecast>,
    /// The levels of the evaluations told so far.
    rows: Rows,
    /// The least score told. The targets of another cannot be compared with those that refer to it.
    best: f64,
    doubt: f64,
}

impl Opinion {
    /// Returns the model without evaluations.
    pub(super) fn new(features: Features) -> Self {
        let levels: Vec<usize> = features.features().iter().map(|feature: &Feature| feature.levels().len()).collect();
        let rows = Rows::new(levels.len());
        let trees = LevelTrees::new(levels, TREES);
        Self { features, trees, whole: None, rows, best: f64::INFINITY, doubt: 0.0 }
    }

    /// Learns from the evaluations told, whose targets are given. There is one at least.
    pub(super) fn follow(&mut self, view: &View<'_>, (told, targets): (&[Told], &[f64]), rng: &mut Rng) {
        let new: Vec<ConfigId> = told[self.rows.len()..].iter().map(|told| told.config).collect();
        if new.is_empty() {
            return;
        }
        let new = self.features.rows(view.space(), &new);
        (0..new.len()).for_each(|row| self.rows.push(&new.row(row)));
        let best = told.iter().filter_map(Told::measured).fold(f64::INFINITY, f64::min);
        let is_other = best != std::mem::replace(&mut self.best, best);
        let count = if is_other { TREES } else { (TREES * ALL_UNTIL).div_ceil(told.len()) };
        self.trees.renew(&self.rows, targets, count, rng);
        self.doubt = DOUBT * deviation(targets);
        match &mut self.whole {
            Some(whole) => whole.follow(&self.trees),
            None if is_listed(view.space()) => {
                let all: Vec<ConfigId> = view.space().iter().collect();
                self.whole = Some(self.grown(view.space(), &all));
            }
            None => {}
        }
    }

    /// Returns the forecast for candidates, or `None` if that for every configuration serves.
    pub(super) fn forecast(&self, space: &Space, configs: &[ConfigId]) -> Option<LevelForecast> {
        self.whole.is_none().then(|| self.grown(space, configs))
    }

    /// Returns the prediction for a configuration of a listed space.
    pub(super) fn listed(&self, config: ConfigId) -> Option<Prediction> {
        Some(self.whole.as_ref()?.prediction(config.rank() as usize))
    }

    fn grown(&self, space: &Space, configs: &[ConfigId]) -> LevelForecast {
        let mut forecast = LevelForecast::new(&self.trees, &self.features.rows(space, configs));
        forecast.follow(&self.trees);
        forecast
    }

    /// Predicts anew with the trees that were renewed.
    pub(super) fn renew(&self, forecast: &mut LevelForecast) {
        forecast.follow(&self.trees);
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
