//! Reads files of measurements of this and other tools into a [`Recording`], one format per file.
//!
//! The content decides the format, not the name. Only the sidecar of a CSV is found by its name.
//! Compressed files (gzip) are read as well. A file that is cut short gives an error or a shorter
//! recording.

mod baco;
mod checks;
mod cltune;
pub(crate) mod columns;
mod csv;
mod document;
mod error;
mod journal;
pub(crate) mod kernel_tuner;
mod ktt;
mod number;
mod sidecar;
mod stated;
mod status;
pub(crate) mod t4;
mod text;

pub use error::ImportError;

use crate::Outline;
use checks::check_columns;
use error::Flaw;
use serde_json::Value as Json;
use std::path::Path;
use tunesmith_core::Recording;

/// Reads the recording at `path`, plain or compressed. It may be one of our journals, a CSV with or
/// without its JSON sidecar (such as BaCO's), a cache file of Kernel Tuner, T4 results, or results
/// of KTT, CLTune or CLBlast. Costs the file's length.
///
/// # Errors
/// The file cannot be read, is in none of these formats, or has a fault, which the error names with
/// its place.
pub fn import(path: &Path) -> Result<Recording, ImportError> {
    Ok(import_with_outline(path)?.0)
}

/// Reads the recording at `path` like [`import`]. Of a journal it also returns the outline, so that
/// nobody reads the file twice.
///
/// # Errors
/// As of [`import`].
pub fn import_with_outline(path: &Path) -> Result<(Recording, Option<Outline>), ImportError> {
    let io = |source| ImportError::Io { path: path.to_path_buf(), source };
    let bytes = tunesmith_files::read(path, tunesmith_files::RECORD).map_err(io)?;
    let located = |Flaw { place, reason, remedy }| ImportError::Malformed { path: path.into(), place, reason, remedy };
    let text = text::of_file(bytes).map_err(located)?;
    let name = name(path);
    if journal::is_journal(&text) {
        let outline = journal::read(path, text)?;
        return Ok((journal::recording(path, &name, &outline)?, Some(outline)));
    }
    let read = match text.trim_start().as_bytes().first() {
        Some(b'{' | b'[') => json(&name, &text),
        _ => {
            let sidecar = sidecar(path).map_err(io)?.map(text::of_file).transpose();
            csv::read(&name, &text, sidecar.map_err(|flaw| located(flaw.in_sidecar()))?.as_deref())
        }
    };
    Ok((read.map_err(located)?, None))
}

/// Returns the recording's name: the file's name without the suffixes of its format.
fn name(path: &Path) -> String {
    let mut name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    for suffix in [".gz", ".csv", ".jsonl", ".json"] {
        name = name.strip_suffix(suffix).map_or(name.clone(), str::to_string);
    }
    name
}

/// Returns the content of the JSON file beside a CSV, if there is one.
fn sidecar(path: &Path) -> std::io::Result<Option<Vec<u8>>> {
    let sidecar = path.with_file_name(format!("{}.json", name(path)));
    let is_there = sidecar != path && sidecar.is_file();
    is_there.then(|| tunesmith_files::read(&sidecar, text::MAX_BYTES)).transpose()
}

/// Reads a JSON document of another tool. Its keys identify the tool.
fn json(name: &str, text: &str) -> Result<Recording, Flaw> {
    let document: Json = match document::parse(text) {
        Ok(document) => document,
        Err(error) => kernel_tuner::closed(text).filter(|_| !error.is_data()).ok_or_else(|| document::flaw(&error))?,
    };
    check_columns(&document)?;
    if document.get("cache").is_some() {
        return kernel_tuner::read(name, &document);
    }
    match (document.get("Results"), document.get("results")) {
        (Some(results), _) => ktt::read(name, &document, results),
        (None, Some(results)) if cltune::is_ours(results) => cltune::read(name, &document, results),
        (None, Some(results)) => t4::read(name, &document, results),
        (None, None) => Err(unknown_format()),
    }
}

/// Describes a document of no known tool.
fn unknown_format() -> Flaw {
    let remedy = "known formats are journals, CSV, Kernel Tuner caches, T4 results, KTT and CLTune results; of a CSV, \
                  name the .csv file";
    Flaw::new("whole file", "not in a known format", remedy)
}
