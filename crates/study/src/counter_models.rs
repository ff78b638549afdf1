//! Trains counter models from recordings and runs.

use crate::Error;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use tunesmith_core::counters::CounterSet;
use tunesmith_core::output::{is_marked, refuse_overwriting};
use tunesmith_core::recording::Row;
use tunesmith_core::{Clock, Recording};
use tunesmith_model::counters::{CounterData, CounterModel, Method, Provenance};
use tunesmith_search::profile_guided::counter_data;
use tunesmith_space::closest;

/// The data and settings for training a counter model.
#[derive(Clone, Debug, Default)]
pub struct TrainOptions {
    /// Recordings and journals with counters, all of one kernel's parameters.
    pub inputs: Vec<PathBuf>,
    /// The file to write.
    pub out: PathBuf,
    /// `tree`, `trees`, `least_squares` or `exact`.
    pub method: String,
    /// The seed of random draws: the half that is fitted to, and the trees.
    pub seed: u64,
}

/// A trained model. Its JSON form is a contract: see `train --json` in the interface.
#[derive(Clone, Debug, Serialize)]
pub struct Trained {
    /// `counters`.
    pub kind: &'static str,
    /// The method of the model.
    pub method: String,
    /// Number of configurations that the model was fitted to.
    pub rows: usize,
    /// Number of tuning parameters that it needs.
    pub features: usize,
    /// Time of the fit.
    pub fit_seconds: f64,
    /// By counter: the mean absolute error on configurations that it was not fitted to, as a share
    /// of the mean.
    pub held_out: BTreeMap<String, f64>,
    /// The file.
    pub out: PathBuf,
    /// Notes for the user: counters that were left out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// The methods by name.
pub const METHODS: [(&str, Method); 4] = [
    ("trees", Method::Trees { share: 0.5 }),
    ("tree", Method::Tree),
    ("least_squares", Method::LeastSquares),
    ("exact", Method::Exact),
];

/// Trains a counter model and writes it as JSON.
///
/// # Errors
/// The method is wrong; an input cannot be read, has no counters or does not belong to the others;
/// or a file cannot be written.
pub fn train_counters(options: &TrainOptions, clock: &dyn Clock) -> Result<Trained, Error> {
    let method = method(&options.method)?;
    refuse_overwriting(&options.out, options.inputs.iter().map(PathBuf::as_path), |file| {
        is_marked(file, &["\"kind\": \"counters\""])
    })?;
    let recording = merged(&options.inputs)?;
    let (data, provenance) = learnable(&recording, &options.inputs[0])?;
    let notes = left_out(&recording, &data);
    let began = clock.now();
    let model = CounterModel::train(&data, method, provenance, options.seed)
        .map_err(|error| Error::request(error.to_string(), None))?;
    let fit_seconds = (clock.now() - began).as_secs_f64();
    tunesmith_files::replace(&options.out, model.to_json()).map_err(Error::write(&options.out))?;
    Ok(Trained {
        kind: "counters",
        method: options.method.clone(),
        rows: model.provenance.rows,
        features: model.columns().len(),
        fit_seconds,
        held_out: model.provenance.held_out,
        out: options.out.clone(),
        notes,
    })
}

fn method(name: &str) -> Result<Method, Error> {
    let found = METHODS.iter().find(|(known, _)| *known == name).map(|(_, method)| *method);
    found.ok_or_else(|| {
        let names = METHODS.map(|(name, _)| name);
        let suggestion = closest(name, names).map_or_else(String::new, |name| format!("; did you mean `{name}`?"));
        let remedy = format!("methods are {}", names.join(", "));
        Error::request(format!("there is no method `{name}`{suggestion}"), Some(remedy))
    })
}

/// Joins the inputs to one recording. All must have counters of the same set.
fn merged(inputs: &[PathBuf]) -> Result<Recording, Error> {
    let mut all: Option<(Recording, &'static CounterSet)> = None;
    for path in inputs {
        let recording = tunesmith_store::import(path)?;
        let set = set_of(&recording).ok_or_else(|| no_counters(&recording, path))?;
        all = Some(match all {
            None => (recording, set),
            Some((_, first)) if first != set => {
                let text = format!(
                    "`{}` has counters of `{}`, but the inputs before it have those of `{}`",
                    path.display(),
                    set.name,
                    first.name
                );
                return Err(Error::request(text, Some("train a model of each".to_string())));
            }
            Some((mut first, set)) => {
                let refuse =
                    |error| Error::request(format!("`{}`: {error}", path.display()), Some(SAME_SPACE.to_string()));
                first.device = first.device.filter(|device| Some(device) == recording.device.as_ref());
                first.merge(recording).map_err(refuse)?;
                (first, set)
            }
        });
    }
    let nothing =
        || Error::request("there is nothing to train from", Some("name a recording with counters".to_string()));
    all.map(|(recording, _)| recording).ok_or_else(nothing)
}

const SAME_SPACE: &str = "inputs of one model have the same parameters with the same values; train from one of them";

fn profiled(recording: &Recording) -> impl Iterator<Item = &Row> {
    recording.rows().iter().filter(|row| !row.measurement.counters.is_empty())
}

/// Returns the set that the recording's counters belong to.
fn set_of(recording: &Recording) -> Option<&'static CounterSet> {
    profiled(recording).find_map(|row| CounterSet::of(row.measurement.counters.keys().map(String::as_str)))
}

/// Returns the training data in `recording`, the content of `path`. Leaves out parameters with a
/// single value, since a problem need not have them.
///
/// # Errors
/// The recording has no counters that can be learned from.
pub fn learnable(recording: &Recording, path: &Path) -> Result<(CounterData, Provenance), Error> {
    let (data, provenance) = counter_data(recording).ok_or_else(|| no_counters(recording, path))?;
    Ok((data.varying(), provenance))
}

fn no_counters(recording: &Recording, path: &Path) -> Error {
    let names: BTreeSet<&str> =
        profiled(recording).flat_map(|row| row.measurement.counters.keys().map(String::as_str)).collect();
    if names.is_empty() {
        let text = format!("`{}` has no counters to learn from", path.display());
        let remedy = "record runs with counters (`tune --profile` on a CUDA device, KTT with profiling), or name another recording";
        return Error::request(text, Some(remedy.to_string()));
    }
    let some: Vec<String> = names.iter().take(3).map(|name| format!("`{name}`")).collect();
    let text = format!("none of the usable counters in `{}` is known; it has {}", path.display(), some.join(", "));
    let known = CounterSet::ALL.map(|set| format!("{} (`{}`)", set.name, set.counters[0].name));
    Error::request(text, Some(format!("rename them to those of a known set: {}", known.join(", "))))
}

/// Returns a sentence for every counter that the model leaves out although it could have a meaning.
fn left_out(recording: &Recording, data: &CounterData) -> Vec<String> {
    let Some(set) = set_of(recording) else { return Vec::new() };
    let rows: Vec<&Row> = profiled(recording).collect();
    let names: BTreeSet<&String> = rows.iter().flat_map(|row| row.measurement.counters.keys()).collect();
    let note = |name: &&String| {
        if !CounterSet::knows(name) {
            return Some(unknown(name, set));
        }
        let means_something = set.counter(name).is_some_and(|counter| !counter.quantity.is_empty());
        let is_usable = |row: &&&Row| row.measurement.counters.get(*name).is_some_and(|value| value.is_finite());
        let bad = rows.len() - rows.iter().filter(is_usable).count();
        let count = rows.len();
        (means_something && bad > 0 && !data.counters().contains(*name))
            .then(|| format!("counter `{name}` is left out: no number in {bad} of {count} profiled configurations"))
    };
    names.iter().filter_map(note).collect()
}

/// Returns a sentence about a counter that no table has.
pub fn unknown(name: &str, set: &'static CounterSet) -> String {
    let suggestion = closest(name, set.counters.iter().map(|counter| counter.name));
    let suggestion = suggestion.map_or_else(String::new, |name| format!("; did you mean `{name}`?"));
    format!("counter `{name}` is left out: no table has it{suggestion}")
}
