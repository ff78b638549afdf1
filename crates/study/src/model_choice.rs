//! The counter model that a user chooses.

use crate::Error;
use serde_json::Value as Json;
use std::path::{Path, PathBuf};
use tunesmith_model::counters::CounterModel;
use tunesmith_space::did_you_mean;

/// The counter model for strategies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ModelChoice {
    /// The counters that the recording itself has.
    Exact,
    /// Trees fitted to random halves of the recording. Searches use the halves in turn.
    Trees,
    /// The model in a file, or trees fitted to random halves of another recording: of another
    /// device, input or space.
    File(PathBuf),
}

impl ModelChoice {
    /// Returns the choice for `text`: `exact`, `trees` or a file.
    pub fn from_text(text: &str) -> Self {
        match text {
            "exact" => Self::Exact,
            "trees" => Self::Trees,
            file => Self::File(file.into()),
        }
    }

    /// Returns the text that [`from_text`](Self::from_text) takes.
    pub fn text(&self) -> String {
        match self {
            Self::Exact => "exact".to_string(),
            Self::Trees => "trees".to_string(),
            Self::File(file) => file.display().to_string(),
        }
    }
}

/// Reads the counter model in `file`.
///
/// # Errors
/// The file cannot be read or holds no counter model.
pub fn read_model(file: &Path) -> Result<CounterModel, Error> {
    let remedy = || Some("name a counter model, which `tunesmith train counters` writes".to_string());
    let text = tunesmith_files::read_text(file, tunesmith_files::DATA)
        .map_err(|error| Error::request(format!("cannot read the model `{}`: {error}", file.display()), remedy()))?;
    CounterModel::from_json(&text).map_err(|error| Error::request(format!("`{}`: {error}", file.display()), remedy()))
}

/// Returns the `kind` of a model file.
///
/// # Errors
/// The file cannot be read or is not a model.
pub fn model_kind(file: &Path) -> Result<String, Error> {
    let text =
        tunesmith_files::read_text(file, tunesmith_files::DATA).map_err(|error| no_model(file, &error.to_string()))?;
    let json: Json = serde_json::from_str(&text)
        .map_err(|error| no_model(file, &format!("not readable as JSON: {error}; was the file cut off or edited?")))?;
    let kind = json.get("kind").and_then(Json::as_str).map(str::to_string);
    kind.ok_or_else(|| no_model(file, "it has no `kind`"))
}

/// Returns the error for a file that is not a model.
pub fn no_model(file: &Path, reason: &str) -> Error {
    let remedy = "name a counter model (`tunesmith train counters` makes one of recordings), a timing model (`train timing`), a device file \
                  (`calibrate`), or `exact` or `trees` of a replayed recording";
    let name = file.to_string_lossy();
    let similar = did_you_mean(&name, ["exact", "trees"]).filter(|_| !file.exists());
    let remedy = similar.map_or(remedy.to_string(), |similar| format!("{similar} Or {remedy}"));
    Error::request(format!("`{name}` is no model: {reason}"), Some(remedy))
}
