//! Writes recordings in formats of other tools, one format per file.

mod csv;
mod format;
mod kernel_tuner;
mod names;
mod number_names;
mod objective_names;
mod origin;
mod t4;

pub use format::Format;

use flate2::{Compression, write::GzEncoder};
use origin::is_export;
use std::io::Write;
use std::path::{Path, PathBuf};
use tunesmith_core::{Recording, Refusal};
use tunesmith_space::{ErrorClass, UserError};

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
