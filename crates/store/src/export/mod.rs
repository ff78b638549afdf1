//! Writes recordings in formats of other tools, one format per file.

mod csv;
mod kernel_tuner;
mod t4;

use flate2::{Compression, write::GzEncoder};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use tunesmith_core::{Recording, Refusal};

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

/// A recording cannot be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write `{}`: {source}", path.display())]
pub struct ExportError {
    /// The file.
    pub path: PathBuf,
    /// The reason.
    pub source: std::io::Error,
}

/// Writes `recording` to `path` in `format` and returns the files written. Compresses them if the
/// name ends in `.gz`. Replaces an existing file.
///
/// No format keeps everything. CSV keeps one time per configuration, with counters, costs and
/// constraints. T4 and Kernel Tuner keep all samples and costs, but no constraints. Kernel Tuner
/// names kinds of failures by its own classes.
///
/// # Errors
/// The disk refused.
pub fn export(recording: &Recording, format: Format, path: &Path) -> Result<Vec<PathBuf>, ExportError> {
    let written = match format {
        Format::Csv => vec![(path.to_path_buf(), csv::table(recording)), (sidecar(path), csv::sidecar(recording))],
        Format::T4 => vec![(path.to_path_buf(), t4::text(recording))],
        Format::KernelTuner => vec![(path.to_path_buf(), kernel_tuner::text(recording))],
    };
    for (path, text) in &written {
        write(path, text).map_err(|source| ExportError { path: path.clone(), source })?;
    }
    Ok(written.into_iter().map(|(path, _)| path).collect())
}

/// Returns the path where [`import`](crate::import) expects the description of a CSV.
fn sidecar(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    path.with_file_name(format!("{}.json", name.strip_suffix(".csv").unwrap_or(name)))
}

fn write(path: &Path, text: &str) -> std::io::Result<()> {
    if path.extension().is_some_and(|extension| extension == "gz") {
        let mut encoder = GzEncoder::new(fs::File::create(path)?, Compression::default());
        encoder.write_all(text.as_bytes())?;
        return encoder.finish().map(|_| ());
    }
    fs::write(path, text)
}
