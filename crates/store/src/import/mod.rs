//! Reads files of measurements of this and other tools into a [`Recording`], one format per file.
//!
//! The content decides the format, not the name. Only the sidecar of a CSV is found by its name.
//! Compressed files (gzip) are read as well. A file that is cut short gives an error or a shorter
//! recording.

mod baco;
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
use error::Flaw;
use serde_json::Value as Json;
use std::path::Path;
use tunesmith_core::Recording;
use tunesmith_core::recording::Column;

/// Maximum number of columns of a table, or of numbers of one result. GPUs have some thousands of
/// counters.
pub(crate) const MAX_COLUMNS: usize = 20_000;

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
    if journal::is_journal(&text) {
        let outline = journal::read(path, text)?;
        return Ok((journal::recording(path, &outline)?, Some(outline)));
    }
    let name = name(path);
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

/// Refuses a parameter of the record with the number `at` that the first record lacks: it would be lost.
fn check_known<'a>(at: usize, mut names: impl Iterator<Item = &'a str>, columns: &[Column]) -> Result<(), Flaw> {
    match names.find(|name| columns.iter().all(|column| column.name != *name)) {
        Some(name) => Err(Flaw::record(at, format!("it has a parameter `{name}`, which the first result lacks"))),
        None => Ok(()),
    }
}

/// Refuses a result with more keys than a table may have columns. Every one of them may be a column
/// of its own, so that all results together could need their square.
fn check_columns(document: &Json) -> Result<(), Flaw> {
    let entries = |key: &str| document.get(key).and_then(Json::as_array).into_iter().flatten();
    let cached = document.get("cache").and_then(Json::as_object).into_iter().flat_map(|cache| cache.values());
    let results = entries("Results").chain(entries("results")).chain(cached);
    for (at, result) in results.enumerate() {
        let most = columns(result);
        if most > MAX_COLUMNS {
            return Err(Flaw::record(at, format!("it has {most} values; at most {MAX_COLUMNS} are read")));
        }
    }
    Ok(())
}

/// Returns the largest number of values in one place of a result.
fn columns(json: &Json) -> usize {
    match json {
        Json::Object(map) => map.values().map(columns).fold(map.len(), usize::max),
        Json::Array(list) => list.iter().map(columns).fold(0, usize::max),
        _ => 0,
    }
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
