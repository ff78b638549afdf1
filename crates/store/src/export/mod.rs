//! Writes recordings in formats of other tools, one format per file.

mod csv;
mod kernel_tuner;
mod names;
mod t4;

use flate2::{Compression, read::MultiGzDecoder, write::GzEncoder};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use tunesmith_core::recording::Ranking;
use tunesmith_core::{Direction, Objective, Recording, Refusal};
use tunesmith_space::{ErrorClass, UserError};

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

impl UserError for ExportError {
    fn class(&self) -> ErrorClass {
        ErrorClass::Run
    }
}

/// The objective as files of other tools name it.
struct ObjectiveNames<'a> {
    name: &'a str,
    direction: Option<Direction>,
    unit: Option<&'a str>,
    /// The objectives of a front, of which other tools know the first.
    front: Option<&'a Objective>,
}

impl<'a> ObjectiveNames<'a> {
    fn of(recording: &'a Recording) -> Self {
        let single = |objective: &'a Objective| Self {
            name: objective.name(),
            direction: Some(objective.direction()),
            unit: objective.unit(),
            front: None,
        };
        match recording.ranking() {
            Ranking::Undirected { name, unit } => Self { name, direction: None, unit: unit.as_deref(), front: None },
            Ranking::Known(objective) => match objective.parts() {
                [] => single(objective),
                [first, ..] => Self { front: Some(objective), ..single(first) },
            },
        }
    }

    /// Returns the names of the objectives.
    fn names(&self) -> Vec<&'a str> {
        self.front.map_or(vec![self.name], |front| front.parts().iter().map(Objective::name).collect())
    }
}

/// Writes `recording` to `path` in `format` and returns the files written. Compresses them if the
/// name ends in `.gz`. Replaces an existing file.
///
/// No format keeps everything. CSV keeps one time per configuration, with counters, costs and
/// constraints. T4 and Kernel Tuner keep all samples and costs, but no constraints. Kernel Tuner
/// names kinds of failures by its own classes. A measured number whose name the format takes for one
/// of its keys is left out: a number called `time` is no time.
///
/// # Errors
/// The disk refused, or the format cannot hold a name or value
/// ([`InvalidInput`](std::io::ErrorKind::InvalidInput)).
pub fn export(recording: &Recording, format: Format, path: &Path) -> Result<Vec<PathBuf>, ExportError> {
    let kept = names::kept(recording, format).map_err(|reason| {
        let source = std::io::Error::new(std::io::ErrorKind::InvalidInput, reason);
        ExportError { path: path.to_path_buf(), source }
    })?;
    let own = path.to_path_buf();
    let written = match format {
        Format::Csv => {
            vec![(own, csv::table(recording, &kept)), (sidecar(path), csv::sidecar(recording, &kept))]
        }
        Format::T4 => vec![(own, t4::text(recording, &kept))],
        Format::KernelTuner => vec![(own, kernel_tuner::text(recording, &kept))],
    };
    for (path, text) in &written {
        write(path, text).map_err(|source| ExportError { path: path.clone(), source })?;
    }
    Ok(written.into_iter().map(|(path, _)| path).collect())
}

/// Refuses to [`export`] in `format` to `path` if that would overwrite one of `inputs`, or a file
/// that no export wrote. A CSV was written by an export if its description says so.
///
/// # Errors
/// The refusal, with the remedy.
pub fn refuse_overwriting(format: Format, path: &Path, inputs: &[PathBuf]) -> Result<(), Refusal> {
    let described = inputs.iter().map(|input| sidecar(input)).collect::<Vec<_>>();
    let inputs: Vec<&Path> = inputs.iter().chain(&described).map(PathBuf::as_path).collect();
    let is_csv = format == Format::Csv;
    let telling = if is_csv { sidecar(path) } else { path.to_path_buf() };
    let outputs = std::iter::once(path.to_path_buf()).chain(is_csv.then(|| telling.clone()));
    outputs.into_iter().try_for_each(|out| {
        tunesmith_core::output::refuse_overwriting(&out, inputs.iter().copied(), |_| is_export(&telling))
    })
}

/// The key by which exports tell that they are ours.
pub(crate) const WRITTEN_BY: &str = "written_by";

/// Returns the text of [`WRITTEN_BY`].
pub(crate) fn written_by() -> String {
    format!("Tunesmith {}", env!("CARGO_PKG_VERSION"))
}

/// Returns true if `file` is an export, compressed or not.
fn is_export(file: &Path) -> bool {
    const HEAD: u64 = 64 << 10;
    let head = || -> std::io::Result<String> {
        let mut head = Vec::new();
        let opened = tunesmith_files::open(file)?;
        if file.extension().is_some_and(|extension| extension == "gz") {
            MultiGzDecoder::new(opened).take(HEAD).read_to_end(&mut head)?;
        } else {
            opened.take(HEAD).read_to_end(&mut head)?;
        }
        Ok(String::from_utf8_lossy(&head).into_owned())
    };
    head().is_ok_and(|head| head.contains(&format!("\"{WRITTEN_BY}\"")))
}

/// Returns the path where [`import`](crate::import) expects the description of a CSV.
fn sidecar(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    path.with_file_name(format!("{}.json", name.strip_suffix(".csv").unwrap_or(name)))
}

fn write(path: &Path, text: &str) -> std::io::Result<()> {
    if path.extension().is_some_and(|extension| extension == "gz") {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(text.as_bytes())?;
        return tunesmith_files::replace(path, encoder.finish()?);
    }
    tunesmith_files::replace(path, text)
}
