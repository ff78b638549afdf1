//! Recordings in the formats of other tools.

use crate::error::{entry, raised};
use pyo3::prelude::*;
use std::path::PathBuf;

/// Writes recordings of one space to a file in another format, and returns the number of
/// configurations.
///
/// Args:
///     inputs: The recordings: journals, caches of Kernel Tuner, T4, CSV and others.
///     out: The file. An existing one is replaced, unless it is one of the recordings.
///     to: "csv", "t4" or "kernel-tuner". The default is the format for the suffix of the file.
///
/// Raises:
///     RequestError: A recording cannot be read, or the recordings are of different spaces.
#[pyfunction]
#[pyo3(signature = (inputs, out, to = None))]
pub(crate) fn convert(py: Python<'_>, inputs: Vec<PathBuf>, out: PathBuf, to: Option<&str>) -> PyResult<usize> {
    entry(|| {
        let converted = py.detach(|| tunesmith::convert(&inputs, &out, to));
        converted.map(|converted| converted.configurations).map_err(|error| raised(&error))
    })
}
