//! The errors of the library as exceptions of Python, which are classes of `tunesmith._errors`.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;
use tunesmith::Error;
use tunesmith::problem::ProblemError;

/// A class of exceptions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// The request is wrong.
    Request,
    /// A device or the disk failed.
    Run,
    /// A failure of one configuration, raised by a function of the user.
    Failed,
}

impl Class {
    /// Returns the class in Python.
    pub(crate) fn of(self, py: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
        static REQUEST: PyOnceLock<Py<PyType>> = PyOnceLock::new();
        static RUN: PyOnceLock<Py<PyType>> = PyOnceLock::new();
        static FAILED: PyOnceLock<Py<PyType>> = PyOnceLock::new();
        let (cell, name) = match self {
            Self::Request => (&REQUEST, "RequestError"),
            Self::Run => (&RUN, "RunError"),
            Self::Failed => (&FAILED, "Failure"),
        };
        cell.import(py, "tunesmith._errors", name)
    }

    /// Returns an exception with this text.
    pub(crate) fn with(self, py: Python<'_>, text: String) -> PyErr {
        match self.of(py) {
            Ok(class) => PyErr::from_type(class.clone(), text),
            Err(error) => error,
        }
    }
}

/// Returns the exception for a wrong request: what is wrong, and the remedy.
pub(crate) fn request(text: impl Into<String>) -> PyErr {
    let text = text.into();
    Python::attach(|py| Class::Request.with(py, text))
}

/// Returns the exception for a value of a wrong type.
pub(crate) fn wrong_type(text: impl Into<String>) -> PyErr {
    PyTypeError::new_err(text.into())
}

/// Returns the exception for an error of the library.
pub(crate) fn raised(error: &Error) -> PyErr {
    let class = if error.is_request() { Class::Request } else { Class::Run };
    let text = match (error.downcast_ref::<ProblemError>(), error.remedy()) {
        (Some(problem), _) => problem.messages.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"),
        (None, Some(remedy)) => format!("{error}; {remedy}"),
        (None, None) => error.to_string(),
    };
    Python::attach(|py| class.with(py, text))
}

/// Runs the body of a function that Python calls. A panic becomes a `RunError`: PyO3's own
/// exception for it passes every `except Exception`.
pub(crate) fn entry<T>(body: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
    without_panic(|| {
        #[cfg(debug_assertions)]
        planted::spring();
        body()
    })?
}

/// A panic that a test plants. Packages that are shipped have none: they are built without
/// assertions.
#[cfg(debug_assertions)]
pub(crate) mod planted {
    use std::sync::atomic::{AtomicBool, Ordering};

    static PLANTED: AtomicBool = AtomicBool::new(false);

    /// Makes the next call of a function of this module panic.
    #[pyo3::pyfunction]
    pub(crate) fn plant_panic() {
        PLANTED.store(true, Ordering::Relaxed);
    }

    pub(super) fn spring() {
        assert!(!PLANTED.swap(false, Ordering::Relaxed), "a planted fault");
    }
}

/// Calls `work`, and turns a panic into an exception: a panic is a bug of ours, and no Python program
/// must end by it.
pub(crate) fn without_panic<T>(work: impl FnOnce() -> T) -> PyResult<T> {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)).map_err(|panic| bug(panic.as_ref()))
}

/// Returns the exception for a panic.
pub(crate) fn bug(panic: &(dyn std::any::Any + Send)) -> PyErr {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("without a message");
    let text = format!("a bug of tunesmith: {text}; please report it with the lines printed above");
    Python::attach(|py| Class::Run.with(py, text))
}
