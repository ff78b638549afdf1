//! Converts recordings from one format to another.

use crate::Error;
use crate::top::best_of;
use serde::Serialize;
use std::path::{Path, PathBuf};
use tunesmith_core::RecordingError;
use tunesmith_store::Format;

/// The result of a conversion.
#[derive(Clone, Debug, Serialize)]
pub struct Converted {
    /// The recording's name.
    pub recording: String,
    /// Number of its configurations.
    pub configurations: usize,
    /// Number of correct ones among them.
    pub correct: usize,
    /// The time of the best in milliseconds: of one journal, by its verdict, else the least of the
    /// recorded times.
    pub optimum_ms: Option<f64>,
    /// The format written.
    pub format: &'static str,
    /// The files written.
    pub out: Vec<PathBuf>,
}

/// Reads `inputs`, in any format, as one recording and writes it to `out` in the format named `to`,
/// by default the one for its suffix. Several inputs must have the same parameters and values.
/// Their rows are joined.
///
/// # Errors
/// The format does not exist or cannot be determined, an input cannot be read, the inputs are of
/// different spaces, or the disk is full.
pub fn convert(inputs: &[PathBuf], out: &Path, to: Option<&str>) -> Result<Converted, Error> {
    let format = Format::chosen(out, to)?;
    let nothing = || Error::request("there is nothing to convert", Some("name a recording".to_string()));
    let (first, others) = inputs.split_first().ok_or_else(nothing)?;
    tunesmith_store::refuse_overwriting(format, out, inputs)?;
    let mut recording = tunesmith_store::import(first)?;
    for other in others {
        recording.merge(tunesmith_store::import(other)?).map_err(|error: RecordingError| {
            Error::request(error.to_string(), Some("convert recordings of different spaces one by one".to_string()))
        })?;
    }
    let optimum_ms = match (others, best_of(first)) {
        ([], Some(best)) => best.map(|best| best.time_ms),
        _ => recording.optimum_ms(),
    };
    let written = tunesmith_store::export(&recording, format, out)?;
    Ok(Converted {
        configurations: recording.rows().len(),
        correct: recording.correct(),
        optimum_ms,
        recording: recording.name,
        format: format.word(),
        out: written,
    })
}
