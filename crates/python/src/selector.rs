//! Choosing configurations at run time.

use crate::error::{entry, raised};
use crate::options::Options;
use crate::value::object;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::PathBuf;
use tunesmith::core::Interrupt;
use tunesmith::{Choice, device};

/// Selects configurations from files of wisdom and timing models.
#[pyclass(frozen, module = "tunesmith._native")]
pub(crate) struct Selector(tunesmith::Selector);

#[pymethods]
impl Selector {
    #[new]
    fn new(py: Python<'_>, paths: Vec<PathBuf>) -> PyResult<Self> {
        entry(|| Ok(Self(py.detach(|| tunesmith::Selector::open(paths)))))
    }

    /// The warnings about the files.
    #[getter]
    fn warnings(&self) -> &[String] {
        self.0.warnings()
    }

    /// Returns the choice for an input as a dict, or `None`.
    fn select<'py>(
        &self,
        py: Python<'py>,
        kernel: &str,
        device: &str,
        input: Vec<(String, f64)>,
    ) -> PyResult<Option<Bound<'py, PyDict>>> {
        entry(|| {
            let input: Vec<(&str, f64)> = input.iter().map(|(name, size)| (name.as_str(), *size)).collect();
            self.0.select(kernel, device, &input).map(|choice| dict(py, &choice)).transpose()
        })
    }
}

fn dict<'py>(py: Python<'py>, choice: &Choice<'_>) -> PyResult<Bound<'py, PyDict>> {
    let config = PyDict::new(py);
    for (name, value) in choice.config {
        config.set_item(name, object(py, value)?)?;
    }
    let dict = PyDict::new(py);
    dict.set_item("config", config)?;
    dict.set_item("source", choice.source.to_string())?;
    dict.set_item("is_doubtful", choice.source.is_doubtful())?;
    dict.set_item("time_ms", choice.time_ms)?;
    dict.set_item("judgement", choice.judgement.map(ToString::to_string))?;
    Ok(dict)
}

/// Returns the name of this machine's processor, as runs record it. `None` without a C compiler.
#[pyfunction]
pub(crate) fn processor(py: Python<'_>, options: Options) -> PyResult<Option<String>> {
    entry(|| {
        let machine = options.machine(&Interrupt::default()).map_err(|error| raised(&error))?;
        Ok(py.detach(|| device::processor(&machine.compilers, &machine.worker)).map(|processor| processor.name))
    })
}
