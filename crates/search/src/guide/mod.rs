//! A counter model made ready for one space and one device.

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

/// Configurations of a space up to which all are predicted and scored; of larger ones a sampled
/// neighbourhood.
const WHOLE: u128 = 500_000;
/// Configurations sampled of a space too large to score whole: what predicting them costs is little
/// beside a measurement.
const SAMPLE: usize = 20_000;
/// The most neighbours of one configuration that are scored, a random part where there are more.
const NEIGHBOURS: u64 = 512;
/// The factor by which the authors' program multiplies the scores of trees.
const TREE_SCALE: f64 = 2.0;

/// Predicted counters of the configurations of a space, and what is known of the device that is
/// tuned. Clones share it.
///
/// Of a space too large to score whole these are a uniform sample and the neighbourhoods that a
/// search comes through.
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
    /// The model that predicts more configurations of a space too large to score whole.
    beyond: Option<(CounterModel, Encoder)>,
}

/// A counter model cannot guide a search of this space.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GuideError {
    /// The model needs parameters that the problem lacks.
    #[error(
        "the counter model needs the tuning parameters {missing}, which the problem does not have; train one on this kernel"
    )]
    Parameters {
        /// Their names.
        missing: String,
    },
    /// The model's counters belong to no table.
    #[error("there is no table for the counters of the model, `{set}`; known are {known}")]
    Set {
        /// The model's set of counters.
        set: String,
        /// Those with tables.
        known: String,
    },
}

impl Guide {
    /// Creates the predictions of `model` for `space`, on a device of this size.
    ///
    /// # Errors
    /// The model needs parameters that `space` lacks, or its counters have no table. Parameters
    /// that it does not know have no influence, which [`notes`](Self::notes) says. Costs a
    /// prediction for every configuration, 20,000 of a space of more than 500,000.
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
                "the space is too large to score whole: {SAMPLE} random configurations are scored, and the neighbours of the best"
            ));
            space.sample_distinct(SAMPLE, &mut Rng::seed_from_u64(0))
        };
        let predicted = model.predict(&encoder.table(space, &configs));
        let scale = if model.is_exact() { 1.0 } else { TREE_SCALE };
        let beyond = (!is_whole).then(|| (model.clone(), encoder));
        let basis = Basis { set, family, size: size(hardware), scale, notes, beyond };
        Ok(Self { basis: Arc::new(basis), candidates: Arc::new(Candidates::new(configs, predicted, set)) })
    }

    /// Returns whether the space is too large to score whole, so that places come and go.
    pub(crate) fn is_sampled(&self) -> bool {
        self.basis.beyond.is_some()
    }

    /// Replaces the candidates of a space scored in part by `kept` and a new uniform sample. Places
    /// change.
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
    /// parameter. Returns whether any of this was still to be done.
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

    /// Returns what a user should know: parameters without influence, a space scored in part.
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

    /// Returns the place of `config`, if its counters are predicted.
    pub(crate) fn place(&self, config: ConfigId) -> Option<usize> {
        self.candidates.places.get(&config).copied().filter(|place| self.is_predicted(*place))
    }

    /// Returns whether the model knows the configuration at `place`.
    pub(crate) fn is_predicted(&self, place: usize) -> bool {
        self.candidates.predicted.known[place]
    }

    /// Returns what the authors' program multiplies scores by.
    pub(crate) fn authors_scale(&self) -> f64 {
        self.basis.scale
    }

    /// Returns how well every configuration brings what `bottlenecks` of the configuration at
    /// `profiled` want (Eq. 16); NaN of those that are not predicted.
    pub(crate) fn scores(&self, bottlenecks: &Bottlenecks, profiled: usize, rules: &Rules) -> Vec<f64> {
        let wanted = wanted_changes(bottlenecks, self.basis.family, rules);
        let known = wanted.iter().filter_map(|(quantity, change)| Some((*change, self.column(*quantity)?)));
        let (changes, columns): (Vec<f64>, Vec<&[f64]>) = known.unzip();
        if columns.is_empty() {
            return vec![0.0; self.candidates.configs.len()];
        }
        let before: Vec<f64> = columns.iter().map(|column| column[profiled]).collect();
        // What the drops of zeros mean for the mended rules is what the authors' program does.
        let variant = if rules.variant == Variant::Paper { Variant::Paper } else { Variant::Authors };
        let mut scores = scores(&changes, &before, &columns, variant);
        // Nothing predicted is no counters at all, which would be the extreme that weights are
        // normalised by.
        let known = self.candidates.predicted.known.iter();
        scores.iter_mut().zip(known).filter(|(_, known)| !**known).for_each(|(score, _)| *score = f64::NAN);
        scores
    }

    /// Returns what times on the tuned device are predicted from.
    pub(crate) fn times(&self) -> &TimeModel {
        &self.candidates.times
    }

    fn column(&self, quantity: Quantity) -> Option<&[f64]> {
        self.candidates.predicted.column(name_of(self.basis.set, quantity)?)
    }
}
