//! Explains the speed of a configuration by its counters: its bottlenecks, and the tuning parameters
//! that would relieve them.

use crate::counter_gaps::lacking;
use serde::Serialize;
use serde_json::{Map, Value as Json};
use std::path::Path;
use tunesmith_core::counters::{CounterSet, GLOBAL_SIZE, Hardware};
use tunesmith_core::recording::Row;
use tunesmith_core::{Measurement, Recording, Refusal};
use tunesmith_model::Table;
use tunesmith_model::bottleneck::{
    Bottleneck, Bottlenecks, Family, Quantity, Rules, Variant, analyse, scores, wanted_changes,
};
use tunesmith_model::counters::{CounterModel, Predicted};
use tunesmith_search::profile_guided::{name_of, number, readings, size};
use tunesmith_space::{Parameter, Value};
use tunesmith_store::{Journal, arguments};

/// Maximum number of parameter changes shown.
const SUGGESTIONS: usize = 8;

/// The advice for a recording without counters.
pub const REMEDY: &str = "record counters (`tune --profile` on a CUDA device, KTT with profiling), or replay such a recording (--device replay:FILE)";

/// The explanation of a configuration's speed.
#[derive(Clone, Debug, Serialize)]
pub struct CounterExplanation {
    /// The configuration.
    pub config: Map<String, Json>,
    /// Its median time.
    pub time_ms: Option<f64>,
    /// The set of its counters.
    pub counter_set: &'static str,
    /// The bottlenecks, the tightest first.
    pub bottlenecks: Vec<BottleneckShare>,
    /// The changes of counters that would relieve the bottlenecks, the most wanted first. With a
    /// model, in the model's counters.
    pub wanted: Vec<Wanted>,
    /// Changes of one parameter that bring these changes according to the model, the best first.
    pub parameters: Vec<Effect>,
    /// Notes on missing information.
    pub notes: Vec<String>,
}

/// One bottleneck.
#[derive(Clone, Debug, Serialize)]
pub struct BottleneckShare {
    /// The name.
    pub name: &'static str,
    /// From 0, no stress, to 1, the peak.
    pub share: f64,
    /// The counters that it is computed from, with their readings.
    pub counters: Vec<(String, f64)>,
}

/// A wanted change of a counter.
#[derive(Clone, Debug, Serialize)]
pub struct Wanted {
    /// The counter.
    pub counter: &'static str,
    /// From -1, less of it, to 1, more of it.
    pub change: f64,
}

/// The effect of changing one parameter.
#[derive(Clone, Debug, Serialize)]
pub struct Effect {
    /// The parameter.
    pub parameter: String,
    /// Its present value.
    pub from: String,
    /// The other value.
    pub to: String,
    /// The degree to which the change brings the wanted ones (Eq. 16). Above 0 it relieves.
    pub score: f64,
    /// The wanted counters that it moves, each with the change as a share of its reading.
    pub counters: Vec<(&'static str, f64)>,
    /// The measured time of the changed configuration, if there is one.
    pub time_ms: Option<f64>,
}

impl CounterExplanation {
    /// Returns the configuration in the form that `--config` takes.
    pub fn arguments(&self) -> String {
        arguments(&self.config)
    }

    /// Adds notes on the counters that `measurement` lacks.
    #[must_use]
    pub fn with_gaps(self, measurement: &Measurement) -> Self {
        Self { notes: lacking(measurement).into_iter().chain(self.notes).collect(), ..self }
    }
}

/// Returns the row of `recording` to explain: the first of `ranked`, best first, that has counters, with
/// the values of `pairs`.
///
/// # Errors
/// A name or a value is unknown, or the configuration was not recorded or has no counters.
pub fn row_with_counters<'a>(
    recording: &'a Recording,
    path: &Path,
    pairs: &[(String, String)],
    ranked: &[&'a Row],
) -> Result<&'a Row, Refusal> {
    let refuse =
        |text: String, remedy: &str| Refusal::new(format!("`{}`: {text}", path.display()), Some(remedy.into()));
    let has_counters = |row: &&&Row| !row.measurement.counters.is_empty();
    let Some(fastest) = ranked.iter().find(has_counters) else {
        return Err(refuse("no configuration has counters".to_string(), REMEDY));
    };
    let mut values = fastest.values.clone();
    for (name, text) in pairs {
        let names = || recording.parameters().iter().map(Parameter::name).collect::<Vec<_>>().join(", ");
        let at = recording.parameters().iter().position(|parameter| parameter.name() == name);
        let at = at
            .ok_or_else(|| refuse(format!("there is no parameter `{name}`"), &format!("parameters are {}", names())))?;
        let parameter = &recording.parameters()[at];
        let value = Value::parse_as(text, parameter.values()).and_then(|value| parameter.index_of(&value));
        let unknown = || {
            let values = parameter.values().iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
            refuse(format!("`{name}` is never {text}"), &format!("its values are {values}"))
        };
        values[at] = parameter.values()[value.ok_or_else(unknown)?].clone();
    }
    let row = recording.rows().iter().find(|row| row.values == values);
    let row =
        row.ok_or_else(|| refuse("this configuration was not recorded".to_string(), "name a recorded configuration"))?;
    if row.measurement.counters.is_empty() {
        return Err(refuse(
            "this configuration has no counters".to_string(),
            "leave --config out to explain the fastest configuration that has counters",
        ));
    }
    Ok(row)
}

/// A configuration with its context.
pub struct CounterSubject<'a> {
    /// The parameters.
    pub parameters: &'a [Parameter],
    /// Their values.
    pub values: &'a [Value],
    /// The size of the device.
    pub hardware: &'a Hardware,
    /// Its median time.
    pub time_ms: Option<f64>,
}

/// The knowledge about a configuration that an explanation may suggest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Suggestible {
    /// It is not to be suggested: it is no configuration, or failed.
    No,
    /// Nobody measured it.
    Unmeasured,
    /// It has this median time.
    Measured(f64),
}

/// Returns the knowledge about the configuration with these values.
pub type CounterLook<'a> = dyn Fn(&[Value]) -> Suggestible + 'a;

impl CounterSubject<'_> {
    /// Returns the explanation of `measurement`, or the reason why there is none.
    ///
    /// # Errors
    /// No table has its counters, or they do not suffice.
    pub fn explain(
        &self,
        measurement: &Measurement,
        model: Option<&CounterModel>,
        look: &CounterLook<'_>,
    ) -> Result<CounterExplanation, String> {
        let set = CounterSet::of(measurement.counters.keys().map(String::as_str));
        let (set, (family, readings)) = set.zip(readings(measurement)).ok_or("no table has its counters")?;
        let rules = Rules::of_run(Variant::Mended, &readings, family, size(self.hardware));
        let found = analyse(&readings, family, size(self.hardware), &rules).map_err(|error| error.to_string())?;
        let tables = model.and_then(|model| CounterSet::named(&model.provenance.counter_set));
        let foreign = tables.and_then(|set| Some((set, Family::of_set(set.name)?)));
        let wanted = wanted(&found.bottlenecks, foreign.unwrap_or((set, family)), &rules);
        let parameters = match model {
            Some(model) if foreign.is_none() => {
                Err(format!("no table has the counters of the model, `{}`", model.provenance.counter_set))
            }
            Some(model) => self.effects(model, &wanted, look),
            None => {
                Err("the parameters that would bring the changes are unknown without a counter model (--model FILE)"
                    .to_string())
            }
        };
        let (parameters, note) = parameters.map_or_else(|note| (Vec::new(), Some(note)), |effects| (effects, None));
        let pairs = self.parameters.iter().zip(self.values);
        Ok(CounterExplanation {
            config: pairs.map(|(parameter, value)| (parameter.name().to_string(), Journal::value(value))).collect(),
            time_ms: self.time_ms,
            counter_set: set.name,
            bottlenecks: shares(&found.bottlenecks, set, measurement),
            wanted,
            parameters,
            notes: note.into_iter().collect(),
        })
    }

    /// Returns the effects of changing one parameter on the wanted counters, according to the
    /// model.
    fn effects(&self, model: &CounterModel, wanted: &[Wanted], look: &CounterLook<'_>) -> Result<Vec<Effect>, String> {
        let place = |name: &str| self.parameters.iter().position(|parameter| parameter.name() == name);
        let columns = model.columns();
        let missing: Vec<&str> =
            columns.iter().map(|column| column.name.as_str()).filter(|name| place(name).is_none()).collect();
        if !missing.is_empty() {
            return Err(format!(
                "the counter model needs the parameters {}, but the recording lacks them",
                missing.join(", ")
            ));
        }
        let places: Vec<usize> = columns.iter().filter_map(|column| place(&column.name)).collect();
        let row = |values: &[Value]| -> Vec<f64> {
            places.iter().zip(columns).map(|(at, column)| number(&values[*at], column)).collect()
        };
        let mut changed: Vec<(usize, &Value, Option<f64>)> = Vec::new();
        let mut rows = vec![row(self.values)];
        for at in places.iter().copied() {
            for value in self.parameters[at].values().iter().filter(|value| **value != self.values[at]) {
                let mut values = self.values.to_vec();
                values[at] = value.clone();
                let time = match look(&values) {
                    Suggestible::No => continue,
                    Suggestible::Unmeasured => None,
                    Suggestible::Measured(time) => Some(time),
                };
                rows.push(row(&values));
                changed.push((at, value, time));
            }
        }
        let predicted = model.predict(&Table::from_rows(columns.to_vec(), rows));
        if !predicted.known[0] {
            return Err("the counter model does not know this configuration".to_string());
        }
        Ok(self.ranked(&predicted, wanted, &changed))
    }

    fn ranked(
        &self,
        predicted: &Predicted,
        wanted: &[Wanted],
        changed: &[(usize, &Value, Option<f64>)],
    ) -> Vec<Effect> {
        let known = wanted.iter().filter_map(|wanted| Some((wanted, predicted.column(wanted.counter)?)));
        let (wanted, columns): (Vec<&Wanted>, Vec<&[f64]>) = known.unzip();
        let changes: Vec<f64> = wanted.iter().map(|wanted| wanted.change).collect();
        let before: Vec<f64> = columns.iter().map(|column| column[0]).collect();
        let scores = scores(&changes, &before, &columns, Variant::Authors);
        let moved = |row: usize| {
            let share = |at: usize| if before[at] > 0.0 { columns[at][row] / before[at] - 1.0 } else { 0.0 };
            let moves = (0..wanted.len()).map(|at| (wanted[at].counter, share(at)));
            moves.filter(|(_, share)| share.abs() >= 0.01).collect::<Vec<_>>()
        };
        let effect = |(at, (place, value, time)): (usize, &(usize, &Value, Option<f64>))| Effect {
            parameter: self.parameters[*place].name().to_string(),
            from: self.values[*place].to_string(),
            to: value.to_string(),
            score: scores.get(at + 1).copied().unwrap_or(0.0),
            counters: moved(at + 1),
            time_ms: *time,
        };
        let all = changed.iter().enumerate().filter(|(at, _)| predicted.known[at + 1]).map(effect);
        let mut effects: Vec<Effect> = all.filter(|effect| effect.score > 0.0).collect();
        effects.sort_by(|a, b| b.score.total_cmp(&a.score));
        effects.truncate(SUGGESTIONS);
        effects
    }
}

/// Returns the bottlenecks with the counters behind them, the tightest first.
fn shares(found: &Bottlenecks, set: &'static CounterSet, measurement: &Measurement) -> Vec<BottleneckShare> {
    let share = |(bottleneck, share): (Bottleneck, f64)| BottleneckShare {
        name: bottleneck.title(),
        share,
        counters: behind(bottleneck, set, measurement),
    };
    let mut shares: Vec<BottleneckShare> = found.iter().map(share).collect();
    shares.sort_by(|a, b| b.share.total_cmp(&a.share));
    shares
}

/// Returns the changes of counters that would relieve the bottlenecks, the most wanted first, in
/// the counters of `set`.
fn wanted(found: &Bottlenecks, (set, family): (&'static CounterSet, &Family), rules: &Rules) -> Vec<Wanted> {
    let mut changes = wanted_changes(found, family, rules);
    changes.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
    let named =
        |(quantity, change): &(Quantity, f64)| Some(Wanted { counter: name_of(set, *quantity)?, change: *change });
    changes.iter().filter_map(named).collect()
}

/// Returns the counters that `bottleneck` is computed from, with their readings.
fn behind(bottleneck: Bottleneck, set: &'static CounterSet, measurement: &Measurement) -> Vec<(String, f64)> {
    let reading = |quantity: Quantity| {
        let name = name_of(set, quantity)?;
        let value = match name {
            GLOBAL_SIZE => measurement.values.get(name)?.first().copied(),
            name => measurement.counters.get(name).copied(),
        };
        Some((name.to_string(), value?))
    };
    bottleneck.quantities().into_iter().filter_map(reading).collect()
}
