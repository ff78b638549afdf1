//! Extremely randomised trees over the evaluations of a run, with predictions for candidates.

use super::features::Features;
use crate::candidates::is_listed;
use tunesmith_core::{Rng, View};
use tunesmith_model::{Feature, LevelForecast, LevelTrees, Prediction, Rows};
use tunesmith_space::{ConfigId, Space};

/// The number of trees.
pub(super) const TREES: usize = 48;
/// Number of evaluations up to which all trees are grown anew after each. From then on as many are as cost the same.
const ALL_UNTIL: usize = 24;

/// Trees that predict a number of each configuration.
#[derive(Debug)]
pub(super) struct Forest {
    features: Features,
    trees: LevelTrees,
    /// The predictions for every configuration of a listed space, by rank.
    whole: Option<LevelForecast>,
    /// The levels of the evaluations learned so far.
    rows: Rows,
}

impl Forest {
    /// Returns trees that have learned nothing.
    pub(super) fn new(features: Features) -> Self {
        let levels: Vec<usize> = features.features().iter().map(|feature: &Feature| feature.levels().len()).collect();
        let rows = Rows::new(levels.len());
        Self { features, trees: LevelTrees::new(levels, TREES), whole: None, rows }
    }

    /// Returns the number of evaluations learned.
    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Adds the configurations that were told since the last time. Returns false if there is none.
    pub(super) fn add(&mut self, space: &Space, new: &[ConfigId]) -> bool {
        let new = self.features.rows(space, new);
        (0..new.len()).for_each(|row| self.rows.push(&new.row(row)));
        !new.is_empty()
    }

    /// Learns the targets of all configurations that were added. Grows `count` trees anew.
    pub(super) fn learn(&mut self, view: &View<'_>, targets: &[f64], count: usize, rng: &mut Rng) {
        self.trees.renew(&self.rows, targets, count, rng);
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

    /// Returns the prediction for a candidate: that of a row of `forecast`, or the one for the whole space.
    pub(super) fn prediction(
        &self,
        forecast: Option<&LevelForecast>,
        row: usize,
        config: ConfigId,
    ) -> Option<Prediction> {
        forecast.map_or_else(|| self.listed(config), |forecast| Some(forecast.prediction(row)))
    }

    /// Predicts anew with the trees that were renewed.
    pub(super) fn renew(&self, forecast: &mut LevelForecast) {
        forecast.follow(&self.trees);
    }

    fn grown(&self, space: &Space, configs: &[ConfigId]) -> LevelForecast {
        let mut forecast = LevelForecast::new(&self.trees, &self.features.rows(space, configs));
        forecast.follow(&self.trees);
        forecast
    }
}

/// Returns the number of trees to grow anew after `told` evaluations.
pub(super) fn renewals(told: usize) -> usize {
    (TREES * ALL_UNTIL).div_ceil(told.max(1))
}
