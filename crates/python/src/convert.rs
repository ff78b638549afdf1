//! Recordings in the formats of other tools.

use crate::error::{entry, raised};
use pyo3::prelude::*;
use std::path::PathBuf;

/// Writes recordings of one subject to a file in another format, and returns the number of
/// configurations.
///
/// Args:
///     inputs: The recordings: journals, caches of Kernel Tuner, T4, CSV and others.
///     out: The file. An existing one is replaced, unless it is one of the recordings.
///     to: "csv", "t4" or "kernel-tuner". The default is the format for the suffix of the file.
///
/// Raises:
///     RequestError: A recording cannot be read, or the recordings are of different subjects: kernel,
///         device, sizes, parameters or objective.
#[pyfunction]
#[pyo3(signature = (inputs, out, to = None))]
pub(crate) fn convert(py: Python<'_>, inputs: Vec<PathBuf>, out: PathBuf, to: Option<String>) -> PyResult<usize> {
    entry(|| {
        let options = tunesmith::study::ConvertOptions { to, ..tunesmith::study::ConvertOptions::default() };
        let converted = py.detach(|| tunesmith::study::convert(&inputs, &out, &options));
        converted.map(|converted| converted.configurations).map_err(|error| raised(&error))
    })
}
