//! A function of Python in place of a device.

use crate::error::{Class, request, wrong_type};
use crate::observed::Observed;
use crate::value::dict;
use pyo3::exceptions::{PyAssertionError, PyException, PyTimeoutError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyList, PyTuple};
use std::sync::{Arc, Mutex, PoisonError};
use tunesmith::core::{Clock as _, Failure, FailureKind, Interrupt, Measurement, SystemClock};
use tunesmith::device::Function;
use tunesmith::space::{ConfigId, Space};

/// A function that takes a configuration, runs it, and returns its time in seconds, or several. With an
/// objective, it returns the value of that.
pub(crate) struct PythonFunction {
    function: Py<PyAny>,
    name: String,
    objective: Option<String>,
    clock: SystemClock,
    ended: Ended,
    observed: Observed,
}

/// The exception that ends a run: one that is no failure of a configuration.
#[derive(Clone, Default)]
pub(crate) struct Ended(Arc<Mutex<Option<PyErr>>>);

impl Ended {
    pub(crate) fn take(&self) -> Option<PyErr> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    pub(crate) fn set(&self, error: PyErr) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    }
}

impl PythonFunction {
    /// Takes `function`, called `name` in journals. Shows the run's progress by `observed` before
    /// each call.
    pub(crate) fn new(function: Py<PyAny>, name: String, ended: Ended, observed: Observed) -> Self {
        Self { function, name, objective: None, clock: SystemClock::new(), ended, observed }
    }

    /// Takes what the function returns as a number of this name, not as a time.
    pub(crate) fn with_objective(self, objective: Option<String>) -> Self {
        Self { objective, ..self }
    }

    fn measure(&self, py: Python<'_>, space: &Space, config: ConfigId) -> Result<Measurement, Stopped> {
        // Ctrl-C ends the run even if the function runs no code of Python.
        py.check_signals().and_then(|()| self.observed.show(py)).map_err(Stopped::Run)?;
        let config = dict(py, space, config).map_err(Stopped::Run)?;
        let start = self.clock.now();
        let returned = self.function.bind(py).call1((&config,)).map_err(|error| Stopped::of(py, error))?;
        let elapsed = self.clock.now() - start;
        let what = || self.objective.as_ref().map_or("its time in seconds".to_string(), |name| format!("its `{name}`"));
        let numbers = numbers(&returned).map_err(Stopped::Run)?.ok_or_else(|| {
            Stopped::Run(wrong_type(format!(
                "the function returned {returned} for {config}; return {}, a float",
                what()
            )))
        })?;
        if numbers.iter().any(|number| !number.is_finite()) {
            let text = format!("the function returned {returned}; {} is a finite number", what());
            return Err(Stopped::Configuration(Failure::new(FailureKind::Runtime, text)));
        }
        if let Some(name) = &self.objective {
            let each_ms = (elapsed.as_secs_f64() * 1e3 / numbers.len() as f64).max(f64::MIN_POSITIVE);
            let times_ms = vec![each_ms; numbers.len()];
            let values = [(name.clone(), numbers)].into();
            return Ok(Measurement { times_ms, values, ..Measurement::default() });
        }
        if numbers.iter().all(|number| *number > 0.0) {
            let times_ms = numbers.into_iter().map(|seconds| seconds * 1e3).collect();
            return Ok(Measurement { times_ms, ..Measurement::default() });
        }
        // Nobody measures such a time: the number means something else, and others of it may be positive.
        Err(Stopped::Run(request(format!(
            "the function returned {returned} for {config}; without an objective, a function returns {}, which is \
             positive; give what it returns a name, as in `objective=\"minimise cost\"`, or raise an exception if the \
             configuration failed",
            what()
        ))))
    }
}

impl Function for PythonFunction {
    fn name(&self) -> &str {
        &self.name
    }

    fn call(&self, space: &Space, config: ConfigId, _: &Interrupt) -> Result<Option<Measurement>, Failure> {
        Python::attach(|py| match self.measure(py, space, config) {
            Ok(measured) => Ok(Some(measured)),
            Err(Stopped::Configuration(failure)) => Err(failure),
            Err(Stopped::Run(error)) => {
                self.ended.set(error);
                Ok(None)
            }
        })
    }
}

/// The extent of what a call without a time ends.
enum Stopped {
    /// The configuration alone.
    Configuration(Failure),
    /// The run.
    Run(PyErr),
}

impl Stopped {
    /// Returns the meaning of an exception: a failure of the configuration, unless it asks for the end
    /// of the program, as Ctrl-C does.
    fn of(py: Python<'_>, error: PyErr) -> Self {
        if !error.is_instance_of::<PyException>(py) {
            return Self::Run(error);
        }
        Self::Configuration(failure(py, &error))
    }
}

/// Returns the failure of a configuration that an exception stands for.
pub(crate) fn failure(py: Python<'_>, error: &PyErr) -> Failure {
    Failure::new(kind(py, error), message(py, error))
}

/// Returns the kind of failure that a class of exceptions stands for.
fn kind(py: Python<'_>, error: &PyErr) -> FailureKind {
    if Class::Failed.of(py).is_ok_and(|class| error.is_instance(py, class)) {
        let word = error.value(py).getattr("kind").and_then(|kind| kind.extract::<String>());
        return word.ok().and_then(|word| FailureKind::from_word(&word)).unwrap_or(FailureKind::Runtime);
    }
    match error {
        error if error.is_instance_of::<PyTimeoutError>(py) => FailureKind::Timeout,
        error if error.is_instance_of::<PyAssertionError>(py) => FailureKind::Correctness,
        _ => FailureKind::Runtime,
    }
}

/// Returns the class and the text of an exception, and behind them the lines that it came from. The
/// failures that users raise on purpose have only their text.
pub(crate) fn message(py: Python<'_>, error: &PyErr) -> String {
    let text = error.value(py).str().map(|text| text.to_string_lossy().into_owned()).unwrap_or_default();
    if Class::Failed.of(py).is_ok_and(|class| error.is_instance(py, class)) {
        return text;
    }
    let class = error.get_type(py).qualname().map(|name| name.to_string()).unwrap_or_default();
    let headline = if text.is_empty() { class } else { format!("{class}: {text}") };
    let lines = error.traceback(py).and_then(|traceback| traceback.format().ok()).unwrap_or_default();
    format!("{headline}\n{lines}").trim_end().to_string()
}

/// Returns the numbers that a function returned: one, or a list of samples. `None` if it returned anything
/// else.
fn numbers(returned: &Bound<'_, PyAny>) -> PyResult<Option<Vec<f64>>> {
    if let Some(number) = number(returned) {
        return Ok(Some(vec![number]));
    }
    let is_list = returned.is_instance_of::<PyList>() || returned.is_instance_of::<PyTuple>();
    let is_array = returned.getattr("ndim").and_then(|ndim| ndim.extract::<usize>()).is_ok_and(|ndim| ndim == 1);
    if !is_list && !is_array {
        return Ok(None);
    }
    let samples = returned.try_iter()?.map(|sample| Ok(number(&sample?)));
    let samples = samples.collect::<PyResult<Option<Vec<f64>>>>()?;
    Ok(samples.filter(|samples| !samples.is_empty()))
}

fn number(object: &Bound<'_, PyAny>) -> Option<f64> {
    let is_truth = object.is_instance_of::<PyBool>();
    object.extract::<f64>().ok().filter(|_| !is_truth)
}
