//! The candidates of a guide and the model's predictions for them.

use super::time_model::TimeModel;
use std::collections::{HashMap, HashSet};
use tunesmith_core::counters::{CounterSet, Kind};
use tunesmith_model::counters::Predicted;
use tunesmith_space::ConfigId;

/// Configurations, each with a place, and their predicted counters and times. Places are never
/// removed.
#[derive(Clone, Debug)]
pub(super) struct Candidates {
    pub(super) configs: Vec<ConfigId>,
    pub(super) places: HashMap<ConfigId, usize>,
    pub(super) predicted: Predicted,
    pub(super) times: TimeModel,
    /// Configurations whose neighbours are among the candidates.
    pub(super) expanded: HashSet<ConfigId>,
}

impl Candidates {
    /// Returns candidates for `configs`, each once, with their predicted counters.
    pub(super) fn new(configs: Vec<ConfigId>, predicted: Predicted, set: &'static CounterSet) -> Self {
        let times = TimeModel::new(&work(set, &predicted), &predicted.known);
        Self::with_times(configs, predicted, times)
    }

    /// Returns candidates for other configurations. The scales of these candidates predict their
    /// times.
    pub(super) fn replaced(&self, configs: Vec<ConfigId>, predicted: Predicted, set: &'static CounterSet) -> Self {
        let times = self.times.of_others(&work(set, &predicted), configs.len());
        Self::with_times(configs, predicted, times)
    }

    fn with_times(configs: Vec<ConfigId>, predicted: Predicted, times: TimeModel) -> Self {
        let places = configs.iter().enumerate().map(|(at, config)| (*config, at)).collect();
        Self { configs, places, predicted, times, expanded: HashSet::new() }
    }

    /// Adds `configs`, each once. None of them may be a candidate already.
    pub(super) fn append(&mut self, configs: &[ConfigId], predicted: Predicted, set: &'static CounterSet) {
        self.times.append(&work(set, &predicted), configs.len());
        self.predicted.append(predicted);
        self.places.extend(configs.iter().copied().zip(self.configs.len()..));
        self.configs.extend_from_slice(configs);
    }
}

/// Returns the predicted counters of work: one list for each counter, with a value for every
/// configuration.
fn work<'a>(set: &'static CounterSet, predicted: &'a Predicted) -> Vec<&'a [f64]> {
    let is_work = |counter: &&tunesmith_core::counters::Counter| {
        counter.kind == Kind::Operations && counter.unit != "%" && !counter.quantity.is_empty()
    };
    set.counters.iter().filter(is_work).filter_map(|counter| predicted.column(counter.name)).collect()
}
