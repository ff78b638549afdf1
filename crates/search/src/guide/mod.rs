//! A counter model prepared for one space and one device.

mod candidates;
mod encoder;
mod features;
mod readings;
mod time_model;

pub use features::{counter_data, number};
pub use readings::{name_of, readings, size};
pub(crate) use time_model::{BELIEF, TimeModel};

use candidates::Candidates;
use encoder::Encoder;
use rand::{RngExt as _, SeedableRng as _};
use std::collections::HashSet;
use std::sync::Arc;
use tunesmith_core::Rng;
use tunesmith_core::counters::{CounterSet, Hardware};
use tunesmith_model::bottleneck::{Bottlenecks, Variant};
use tunesmith_model::bottleneck::{Family, Quantity, Rules, Size, scores, wanted_changes};
use tunesmith_model::counters::CounterModel;
use tunesmith_space::{ConfigId, Neighbourhood, Space};

/// Maximum size of a space whose configurations are all predicted and scored. In a larger space,
/// only a sampled neighbourhood is.
const WHOLE: u128 = 500_000;
/// Number of configurations sampled from a larger space. Predicting them costs little compared with
/// a measurement.
const SAMPLE: usize = 20_000;
/// Maximum number of neighbours of one configuration to score. If there are more, a random part is
/// scored.
const NEIGHBOURS: u64 = 512;
/// The factor by which the authors' program multiplies the scores of trees.
const TREE_SCALE: f64 = 2.0;

/// The predicted counters of a space's configurations, and the properties of the tuned device.
/// Clones share them.
///
/// A large space is scored in part: a uniform sample and the neighbourhoods that a search passes
/// through.
#[derive(Clone, Debug)]
pub struct Guide {
    basis: Arc<Basis>,
    candidates: Arc<Candidates>,
}

/// The part of a guide that does not depend on the candidates.
#[derive(Debug)]
struct Basis {
    set: &'static CounterSet,
    family: &'static Family,
    size: Size,
    scale: f64,
    notes: Vec<String>,
    /// The model that predicts further configurations of a space scored in part.
    beyond: Option<(CounterModel, Encoder)>,
}

/// The reason why a counter model cannot guide a search of this space.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GuideError {
    /// The model needs parameters that the problem lacks.
    #[error(
        "the counter model needs the tuning parameters {missing}, which the problem does not have; train one on this kernel"
    )]
    Parameters {
        /// The names of the parameters.
        missing: String,
    },
    /// The model's counters belong to no table.
    #[error("there is no table for the counters of the model, `{set}`; known are {known}")]
    Set {
        /// The model's set of counters.
        set: String,
        /// The sets with tables.
        known: String,
    },
}

impl Guide {
    /// Returns a guide with the predictions of `model` for `space`, on a device of this size.
    /// Parameters that the model does not know have no influence; [`notes`](Self::notes) names
    /// them. Costs a prediction for every configuration, or 20,000 predictions in a space of more
    /// than 500,000.
    ///
    /// # Errors
    /// The model needs parameters that `space` lacks, or its counters have no table.
    pub fn new(model: &CounterModel, hardware: &Hardware, space: &Space) -> Result<Self, GuideError> {
        let tables = CounterSet::named(&model.provenance.counter_set);
        let set = tables.zip(tables.and_then(|set| Family::of_set(set.name)));
        let (set, family) = set.ok_or_else(|| GuideError::Set {
            set: model.provenance.counter_set.clone(),
            known: CounterSet::ALL.map(|set| set.name).join(", "),
        })?;
        let mut notes = Vec::new();
        let encoder = Encoder::new(model, space, &mut notes)?;
        let is_whole = space.len().is_some_and(|size| size <= WHOLE);
        let configs: Vec<ConfigId> = if is_whole {
            space.iter().collect()
        } else {
            notes.push(format!(
                "the space is too large to score whole: {SAMPLE} random configurations are scored, with the \
                     neighbours of the best"
            ));
            space.sample_distinct(SAMPLE, &mut Rng::seed_from_u64(0))
        };
        let predicted = model.predict(&encoder.table(space, &configs));
        let scale = if model.is_exact() { 1.0 } else { TREE_SCALE };
        let beyond = (!is_whole).then(|| (model.clone(), encoder));
        let basis = Basis { set, family, size: size(hardware), scale, notes, beyond };
        Ok(Self { basis: Arc::new(basis), candidates: Arc::new(Candidates::new(configs, predicted, set)) })
    }

    /// Returns true if the space is scored in part. Places then come and go.
    pub(crate) fn is_sampled(&self) -> bool {
        self.basis.beyond.is_some()
    }

    /// Replaces the candidates of a space scored in part by `kept` and a new uniform sample. The
    /// places change.
    pub(crate) fn resample(&mut self, space: &Space, kept: &[ConfigId], rng: &mut Rng) {
        let Some((model, encoder)) = &self.basis.beyond else { return };
        let mut seen = HashSet::new();
        let configs = kept.iter().copied().chain(space.sample_distinct(SAMPLE, rng));
        let configs: Vec<ConfigId> = configs.filter(|config| seen.insert(*config)).collect();
        let predicted = model.predict(&encoder.table(space, &configs));
        self.candidates = Arc::new(self.candidates.replaced(configs, predicted, self.basis.set));
    }

    /// Gives `configs` places in a space scored in part.
    pub(crate) fn include(&mut self, space: &Space, configs: &[ConfigId]) {
        let Some((model, encoder)) = &self.basis.beyond else { return };
        let is_new = |config: &&ConfigId| !self.candidates.places.contains_key(*config);
        let mut new: Vec<ConfigId> = configs.iter().filter(is_new).copied().collect();
        new.sort_unstable();
        new.dedup();
        if !new.is_empty() {
            let predicted = model.predict(&encoder.table(space, &new));
            Arc::make_mut(&mut self.candidates).append(&new, predicted, self.basis.set);
        }
    }

    /// Includes the configurations of a space scored in part that differ from `config` in one
    /// parameter. Returns true if this was not done before.
    pub(crate) fn expand(&mut self, space: &Space, config: ConfigId, rng: &mut Rng) -> bool {
        if !self.is_sampled() || self.candidates.expanded.contains(&config) {
            return false;
        }
        let all = space.neighbours(config, Neighbourhood::Hamming);
        let configs: Vec<ConfigId> = if all.len() <= NEIGHBOURS {
            all.iter().map(|neighbour| neighbour.id).collect()
        } else {
            let random = (0..NEIGHBOURS).filter_map(|_| all.get(rng.random_range(0..all.len())));
            random.map(|neighbour| neighbour.id).collect()
        };
        self.include(space, &configs);
        Arc::make_mut(&mut self.candidates).expanded.insert(config)
    }

    /// Returns notes for the user: parameters without influence, and a space scored in part.
    pub fn notes(&self) -> &[String] {
        &self.basis.notes
    }

    /// Returns the size of the device that is tuned.
    pub(crate) fn size(&self) -> Size {
        self.basis.size
    }

    /// Returns the configurations that have a place, in its order.
    pub(crate) fn configs(&self) -> &[ConfigId] {
        &self.candidates.configs
    }

    /// Returns the place of `config` if its counters are predicted.
    pub(crate) fn place(&self, config: ConfigId) -> Option<usize> {
        self.candidates.places.get(&config).copied().filter(|place| self.is_predicted(*place))
    }

    /// Returns true if the model knows the configuration at `place`.
    pub(crate) fn is_predicted(&self, place: usize) -> bool {
        self.candidates.predicted.known[place]
    }

    /// Returns the factor by which the authors' program multiplies scores.
    pub(crate) fn authors_scale(&self) -> f64 {
        self.basis.scale
    }

    /// Returns the score of every configuration (Eq. 16): how well it brings the changes that
    /// `bottlenecks`, of the configuration at `profiled`, call for. The score is NaN if the
    /// configuration is not predicted.
    pub(crate) fn scores(&self, bottlenecks: &Bottlenecks, profiled: usize, rules: &Rules) -> Vec<f64> {
        let wanted = wanted_changes(bottlenecks, self.basis.family, rules);
        let known = wanted.iter().filter_map(|(quantity, change)| Some((*change, self.column(*quantity)?)));
        let (changes, columns): (Vec<f64>, Vec<&[f64]>) = known.unzip();
        if columns.is_empty() {
            return vec![0.0; self.candidates.configs.len()];
        }
        let before: Vec<f64> = columns.iter().map(|column| column[profiled]).collect();
        // The mended rules treat a drop of zeros like the authors' program.
        let variant = if rules.variant == Variant::Paper { Variant::Paper } else { Variant::Authors };
        let mut scores = scores(&changes, &before, &columns, variant);
        // A configuration without predictions has no counters at all. Its score would be the
        // extreme by which weights are normalised.
        let known = self.candidates.predicted.known.iter();
        scores.iter_mut().zip(known).filter(|(_, known)| !**known).for_each(|(score, _)| *score = f64::NAN);
        scores
    }

    /// Returns the model that predicts times on the tuned device.
    pub(crate) fn times(&self) -> &TimeModel {
        &self.candidates.times
    }

    fn column(&self, quantity: Quantity) -> Option<&[f64]> {
        self.candidates.predicted.column(name_of(self.basis.set, quantity)?)
    }
}
