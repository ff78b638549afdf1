//! Counter models for the recordings that are compared.

use crate::Error;
use std::path::{Path, PathBuf};
use tunesmith_core::Recording;
use tunesmith_model::counters::{CounterModel, Method};
use tunesmith_search::profile_guided::{Guide, counter_data};
use tunesmith_space::Space;

/// The counter model that strategies are given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ModelChoice {
    /// The counters that the recording itself has.
    Exact,
    /// Trees fitted to a random half of the recording; searches take turns with different halves.
    Trees,
    /// The model of a file.
    File(PathBuf),
}

impl ModelChoice {
    /// The choice that `text` names: `exact`, `trees` or a file.
    pub fn from_text(text: &str) -> Self {
        match text {
            "exact" => Self::Exact,
            "trees" => Self::Trees,
            file => Self::File(file.into()),
        }
    }
}

impl ModelChoice {
    /// The text that [`from_text`](Self::from_text) takes.
    pub fn text(&self) -> String {
        match self {
            Self::Exact => "exact".to_string(),
            Self::Trees => "trees".to_string(),
            Self::File(file) => file.display().to_string(),
        }
    }
}

/// Different halves of a recording that trees are fitted to, so that no single one decides.
const HALVES: u64 = 20;

/// The guides for `space`, of which searches take turns.
///
/// # Errors
/// The recording has no counters to learn from, the file is no counter model, or its parameters or counters do not fit.
pub(super) fn guides(
    choice: &ModelChoice,
    recording: &Recording,
    space: &Space,
    path: &Path,
) -> Result<Vec<Guide>, Error> {
    let models = match choice {
        ModelChoice::Exact => vec![trained(recording, path, Method::Exact, 0)?],
        ModelChoice::Trees => {
            let half = |seed| trained(recording, path, Method::Trees { share: 0.5 }, seed);
            (0..HALVES).map(half).collect::<Result<_, Error>>()?
        }
        ModelChoice::File(file) => vec![read_model(file)?],
    };
    let refuse = |error: &dyn std::fmt::Display| {
        let text = format!("`{}` cannot be searched with this model: {error}", path.display());
        Error::request(text, Some("use --model exact, or a model trained on this kernel".to_string()))
    };
    models.iter().map(|model| Guide::new(model, &recording.hardware, space).map_err(|e| refuse(&e))).collect()
}

fn trained(recording: &Recording, path: &Path, method: Method, seed: u64) -> Result<CounterModel, Error> {
    let nothing = || {
        let text = format!("`{}` has no counters to learn from", path.display());
        Error::request(text, Some("record counters, or name a counter model as --model FILE".to_string()))
    };
    let (data, provenance) = counter_data(recording).ok_or_else(nothing)?;
    CounterModel::train(&data, method, provenance, seed)
        .map_err(|error| Error::request(format!("`{}`: {error}", path.display()), None))
}

/// The counter model in `file`.
///
/// # Errors
/// It cannot be read or is none.
pub(crate) fn read_model(file: &Path) -> Result<CounterModel, Error> {
    let remedy = || Some("name a counter model, or `exact` or `trees`".to_string());
    let text = std::fs::read_to_string(file)
        .map_err(|error| Error::request(format!("cannot read the model `{}`: {error}", file.display()), remedy()))?;
    CounterModel::from_json(&text).map_err(|error| Error::request(format!("`{}`: {error}", file.display()), remedy()))
}
