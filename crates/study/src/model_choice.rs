//! The counter model that a user chooses.

use crate::Error;
use std::path::{Path, PathBuf};
use tunesmith_model::counters::CounterModel;

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
