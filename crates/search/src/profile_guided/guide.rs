//! A counter model made ready for one space and one device.

use super::features::number;
use super::readings::{name_of, size};
use super::time_model::TimeModel;
use rand::SeedableRng as _;
use std::collections::HashMap;
use std::sync::Arc;
use tunesmith_core::Rng;
use tunesmith_core::counters::{CounterSet, Hardware, Kind};
use tunesmith_model::Table;
use tunesmith_model::bottleneck::{Bottlenecks, Variant};
use tunesmith_model::bottleneck::{Family, Quantity, Rules, Size, scores, wanted_changes};
use tunesmith_model::counters::{CounterModel, Predicted};
use tunesmith_space::{ConfigId, Space};

/// Configurations of a space up to which all are predicted and scored; of larger ones a sample.
const WHOLE: u128 = 500_000;
/// Configurations sampled of a space too large to score whole.
const SAMPLE: usize = 50_000;
/// How much the authors' program multiplies the scores of trees.
const TREE_SCALE: f64 = 2.0;

/// Predicted counters of the configurations of a space, and what is known of the device that is tuned. Clones share it.
#[derive(Clone, Debug)]
pub struct Guide(Arc<Parts>);

#[derive(Debug)]
struct Parts {
    configs: Vec<ConfigId>,
    places: HashMap<ConfigId, usize>,
    predicted: Predicted,
    set: &'static CounterSet,
    family: &'static Family,
    size: Size,
    scale: f64,
    times: TimeModel,
    notes: Vec<String>,
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
    /// The predictions of `model` for `space`, on a device of this size.
    ///
    /// # Errors
    /// The model needs parameters that `space` lacks, or its counters have no table. Parameters that it does not know
    /// have no influence, which [`notes`](Self::notes) says. Costs a prediction for every configuration, 50,000 at most of
    /// a space of more than 500,000.
    pub fn new(model: &CounterModel, hardware: &Hardware, space: &Space) -> Result<Self, GuideError> {
        let tables = CounterSet::named(&model.provenance.counter_set);
        let set = tables.zip(tables.and_then(|set| Family::of_set(set.name)));
        let (set, family) = set.ok_or_else(|| GuideError::Set {
            set: model.provenance.counter_set.clone(),
            known: CounterSet::ALL.map(|set| set.name).join(", "),
        })?;
        let mut notes = Vec::new();
        let configs: Vec<ConfigId> = if space.len().is_some_and(|size| size <= WHOLE) {
            space.iter().collect()
        } else {
            notes.push(format!("the space is too large to score whole: {SAMPLE} configurations of it are scored"));
            space.sample_distinct(SAMPLE, &mut Rng::seed_from_u64(0))
        };
        let table = table(model, space, &configs, &mut notes)?;
        let predicted = model.predict(&table);
        let places = configs.iter().enumerate().map(|(at, config)| (*config, at)).collect();
        let scale = if model.is_exact() { 1.0 } else { TREE_SCALE };
        let times = TimeModel::new(operations(set, &predicted), &predicted.known);
        let size = size(hardware);
        Ok(Self(Arc::new(Parts { configs, places, predicted, set, family, size, scale, times, notes })))
    }

    /// What a user should know: parameters without influence, a space scored in part.
    pub fn notes(&self) -> &[String] {
        &self.0.notes
    }

    /// The size of the device that is tuned.
    pub(super) fn size(&self) -> Size {
        self.0.size
    }

    /// The configurations that have a place, in its order.
    pub(super) fn configs(&self) -> &[ConfigId] {
        &self.0.configs
    }

    /// The place of `config`, if its counters are predicted.
    pub(super) fn place(&self, config: ConfigId) -> Option<usize> {
        self.0.places.get(&config).copied().filter(|place| self.is_predicted(*place))
    }

    /// Whether the model knows the configuration at `place`.
    pub(super) fn is_predicted(&self, place: usize) -> bool {
        self.0.predicted.known[place]
    }

    /// What the authors' program multiplies scores by.
    pub(super) fn authors_scale(&self) -> f64 {
        self.0.scale
    }

    /// How well every configuration brings what `bottlenecks` of the configuration at `profiled` want (Eq. 16); NaN
    /// of those that are not predicted.
    pub(super) fn scores(&self, bottlenecks: &Bottlenecks, profiled: usize, rules: &Rules) -> Vec<f64> {
        let wanted = wanted_changes(bottlenecks, self.0.family, rules);
        let known = wanted.iter().filter_map(|(quantity, change)| Some((*change, self.column(*quantity)?)));
        let (changes, columns): (Vec<f64>, Vec<&[f64]>) = known.unzip();
        if columns.is_empty() {
            return vec![0.0; self.0.configs.len()];
        }
        let before: Vec<f64> = columns.iter().map(|column| column[profiled]).collect();
        // What the drops of zeros mean for the mended rules is what the authors' program does.
        let variant = if rules.variant == Variant::Paper { Variant::Paper } else { Variant::Authors };
        let mut scores = scores(&changes, &before, &columns, variant);
        // Nothing predicted is no counters at all, which would be the extreme that weights are normalised by.
        let known = self.0.predicted.known.iter();
        scores.iter_mut().zip(known).filter(|(_, known)| !**known).for_each(|(score, _)| *score = f64::NAN);
        scores
    }

    /// What times on the tuned device are predicted from.
    pub(super) fn times(&self) -> &TimeModel {
        &self.0.times
    }

    fn column(&self, quantity: Quantity) -> Option<&[f64]> {
        self.0.predicted.column(name_of(self.0.set, quantity)?)
    }
}

/// The predicted counters of work done: one list for each, with a value for every place.
fn operations<'a>(set: &'static CounterSet, predicted: &'a Predicted) -> impl Iterator<Item = &'a [f64]> {
    let is_work = |counter: &&tunesmith_core::counters::Counter| {
        counter.kind == Kind::Operations && counter.unit != "%" && !counter.quantity.is_empty()
    };
    set.counters.iter().filter(is_work).filter_map(|counter| predicted.column(counter.name))
}

/// The configurations as the rows that the model takes.
fn table(
    model: &CounterModel,
    space: &Space,
    configs: &[ConfigId],
    notes: &mut Vec<String>,
) -> Result<Table, GuideError> {
    let columns = model.columns();
    let missing: Vec<&str> = columns
        .iter()
        .map(|column| column.name.as_str())
        .filter(|name| space.parameter_index(name).is_none())
        .collect();
    if !missing.is_empty() {
        return Err(GuideError::Parameters { missing: missing.join(", ") });
    }
    for parameter in space.parameters() {
        if parameter.values().len() > 1 && columns.iter().all(|column| column.name != parameter.name()) {
            notes
                .push(format!("the counter model does not know parameter `{}`: it has no influence", parameter.name()));
        }
    }
    let places: Vec<usize> = columns.iter().filter_map(|column| space.parameter_index(&column.name)).collect();
    // Numbers by index, so that values are converted once.
    let numbers: Vec<Vec<f64>> = places
        .iter()
        .zip(columns)
        .map(|(at, column)| space.parameters()[*at].values().iter().map(|value| number(value, column)).collect())
        .collect();
    let mut indices = Vec::new();
    let rows = configs.iter().map(|config| {
        space.unrank_into(*config, &mut indices);
        places.iter().zip(&numbers).map(|(at, numbers)| numbers[indices[*at] as usize]).collect::<Vec<f64>>()
    });
    Ok(Table::from_rows(columns.to_vec(), rows.collect::<Vec<_>>()))
}
