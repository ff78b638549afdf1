//! Recorded runs.

use crate::error::{entry, raised, request};
use crate::table::Table;
use crate::value::json;
use pyo3::exceptions::PyFileExistsError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyList};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;
use tunesmith::core::StopReason;
use tunesmith::store::{Entry, read, read_header};
use tunesmith::{Outcome, Problem, top};

/// Keeps alive what a run needs whose journal nobody named.
#[derive(Clone)]
pub(crate) enum Kept {
    /// Nothing: the journal is a file of the user's.
    Nothing,
    /// A temporary folder.
    Folder(Arc<TempDir>),
    /// A problem made in code, with its temporary folder.
    Problem(Box<Problem>),
}

impl Kept {
    /// Makes a temporary folder for the journal of a run.
    pub(crate) fn in_temporary_folder() -> PyResult<Self> {
        let folder = tempfile::Builder::new().prefix("tunesmith-").tempdir()?;
        Ok(Self::Folder(Arc::new(folder)))
    }

    /// Returns the path of a journal of the subject `name`.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        let stem: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).take(40).collect();
        match self {
            Self::Folder(folder) => folder.path().join(format!("{stem}.jsonl")),
            Self::Problem(problem) => problem.beside("jsonl"),
            Self::Nothing => PathBuf::from(format!("{stem}.jsonl")),
        }
    }
}

/// A run in its journal.
#[pyclass(frozen, module = "tunesmith._native")]
pub(crate) struct Recorded {
    journal: PathBuf,
    /// Facts that only the process of the run knows. `None` for a run that was loaded.
    end: Option<End>,
    /// Held, never read.
    _kept: Kept,
}

struct End {
    stop_reason: String,
    /// True if the run gave up because its first evaluations showed that all will fail.
    doomed: bool,
    wall_seconds: f64,
    notes: Vec<String>,
}

impl Recorded {
    /// Returns the run of `outcome`, with the remarks that were made while it ran.
    pub(crate) fn of(outcome: &Outcome, mut notes: Vec<String>, kept: Kept) -> Self {
        notes.dedup();
        let doomed = matches!(outcome.stop_reason, StopReason::Doomed { .. } | StopReason::NoValue(_));
        let stop_reason = match &outcome.stop_reason {
            StopReason::Doomed { failure, .. } => format!("{}: {failure}", outcome.stop_reason),
            reason => reason.to_string(),
        };
        let end = End { stop_reason, doomed, wall_seconds: outcome.wall_seconds, notes };
        Self { journal: outcome.out.clone(), end: Some(end), _kept: kept }
    }
}

#[pymethods]
impl Recorded {
    /// Opens a journal.
    #[staticmethod]
    fn load(journal: PathBuf) -> PyResult<Self> {
        entry(|| {
            read_header(&journal).map_err(|error| raised(&error.into()))?;
            Ok(Self { journal, end: None, _kept: Kept::Nothing })
        })
    }

    /// The path of the journal.
    #[getter]
    fn journal(&self) -> &Path {
        &self.journal
    }

    /// Returns the facts about the run, and its `count` best configurations after all ties.
    fn summary<'py>(&self, py: Python<'py>, count: usize) -> PyResult<Bound<'py, PyAny>> {
        entry(|| {
            let document = py.detach(|| self.document(count));
            json(py, &document.map_err(|error| raised(&error))?)
        })
    }

    /// Returns every evaluation as a dict, in the order made.
    fn evaluations<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        entry(|| {
            let recorded = py.detach(|| read(&self.journal)).map_err(|error| raised(&error.into()))?;
            let list = PyList::empty(py);
            recorded.entries.iter().try_for_each(|entry| list.append(evaluation(py, entry)?))?;
            Ok(list)
        })
    }

    /// Returns the evaluations by column, each a list.
    fn columns<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        entry(|| self.table(py)?.lists(py))
    }

    /// Returns the evaluations as a stream of Arrow.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        entry(|| {
            // A consumer that wishes for another schema must convert by itself, as the protocol
            // allows.
            let _ = requested_schema;
            let stream = self.table(py)?.stream().map_err(|error| request(error.to_string()))?;
            PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
        })
    }

    /// Returns the report: one HTML page.
    fn page(&self, py: Python<'_>) -> PyResult<String> {
        entry(|| {
            py.detach(|| tunesmith::page::page(std::slice::from_ref(&self.journal))).map_err(|error| raised(&error))
        })
    }

    /// Writes the report to a file.
    fn write_page(&self, py: Python<'_>, out: PathBuf) -> PyResult<()> {
        entry(|| {
            let written = py.detach(|| tunesmith::page::write_page(std::slice::from_ref(&self.journal), &out));
            written.map(drop).map_err(|error| raised(&error))
        })
    }

    /// Copies the journal to a new file.
    fn save(&self, out: PathBuf) -> PyResult<()> {
        entry(|| {
            if out.exists() {
                let text = format!("`{}` exists; name a new file, or remove it first", out.display());
                return Err(PyFileExistsError::new_err(text));
            }
            std::fs::copy(&self.journal, &out)?;
            Ok(())
        })
    }
}

impl Recorded {
    fn document(&self, count: usize) -> Result<serde_json::Value, tunesmith::Error> {
        let header = read_header(&self.journal)?;
        let first = top(&self.journal, 1)?;
        let top = top(&self.journal, (1 + first.ties + first.not_compared).saturating_add(count))?;
        let end = self.end.as_ref();
        Ok(json!({
            "device": header.identity.get("device"),
            "strategy": header.strategy,
            "seed": header.seed,
            "space_size": header.space_size,
            "parameters": header.parameters,
            "default": header.default,
            "stop_reason": end.map(|end| &end.stop_reason),
            "doomed": end.is_some_and(|end| end.doomed),
            "wall_seconds": end.map(|end| end.wall_seconds),
            "notes": end.map(|end| end.notes.clone()).unwrap_or_default(),
            "top": top,
        }))
    }

    fn table(&self, py: Python<'_>) -> PyResult<Table> {
        let read = py.detach(|| read(&self.journal).map(|recorded| Table::new(&recorded)));
        read.map_err(|error| raised(&error.into()))
    }
}

fn evaluation<'py>(py: Python<'py>, entry: &Entry) -> PyResult<Bound<'py, PyAny>> {
    let document = serde_json::to_value(entry).map_err(|error| request(error.to_string()))?;
    json(py, &document)
}
