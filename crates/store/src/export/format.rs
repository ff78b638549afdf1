//! The formats of exports.

use std::path::Path;
use tunesmith_core::Refusal;

/// A format that recordings are written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A CSV with a JSON file beside it that describes it.
    Csv,
    /// T4 results, schema 1.0.0.
    T4,
    /// A cache file of Kernel Tuner.
    KernelTuner,
}

impl Format {
    /// Every format.
    pub const ALL: [Self; 3] = [Self::Csv, Self::T4, Self::KernelTuner];

    /// Returns the name by which users call it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::T4 => "t4",
            Self::KernelTuner => "kernel-tuner",
        }
    }

    /// Returns the format for a word; the inverse of [`word`](Self::word).
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.word() == word)
    }

    /// Returns the format for the suffix of `path`, before `.gz`: `.csv`, `.cache.json` for Kernel
    /// Tuner, other `.json` for T4.
    pub fn of_path(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_str()?;
        match name.strip_suffix(".gz").unwrap_or(name) {
            name if name.ends_with(".csv") => Some(Self::Csv),
            name if name.ends_with(".cache.json") => Some(Self::KernelTuner),
            name if name.ends_with(".json") => Some(Self::T4),
            _ => None,
        }
    }

    /// Returns the format that `to` names, or else the format for the suffix of `out`.
    ///
    /// # Errors
    /// There is no such format.
    pub fn chosen(out: &Path, to: Option<&str>) -> Result<Self, Refusal> {
        let known = Self::ALL.map(Self::word).join(", ");
        match to {
            Some(word) => Self::from_word(word).ok_or_else(|| {
                Refusal::new(format!("there is no format `{word}`"), Some(format!("formats are {known}")))
            }),
            None => Self::of_path(out).ok_or_else(|| {
                let remedy =
                    format!("name it .csv, .json (T4) or .cache.json (Kernel Tuner), or add --to with one of {known}");
                Refusal::new(format!("the suffix of `{}` is not that of a format", out.display()), Some(remedy))
            }),
        }
    }
}
