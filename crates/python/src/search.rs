//! Ask and tell.

use crate::error::{entry, raised, request};
use crate::function::failure;
use crate::space::Space;
use crate::value::{dict, dicts, id};
use pyo3::exceptions::PyBaseException;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::sync::{Arc, Mutex, PoisonError};
use tunesmith::StrategySpec;
use tunesmith::core::{AskTell, FailureKind, TellError};
use tunesmith::search::{Knowledge, catalogue};
use tunesmith::space::ConfigId;

/// Returns the names of all strategies.
///
/// >>> import tunesmith
/// >>> "default" in tunesmith.strategies()
/// True
#[pyfunction]
pub(crate) fn strategies() -> Vec<&'static str> {
    catalogue().iter().map(|strategy| strategy.name).collect()
}

/// A strategy that is asked for configurations and told what they cost.
///
/// The program measures in a way of its own: in another process, on a cluster, by hand. Answers may
/// come in any order, and configurations that were never asked for may be told, too. The same seed
/// and the same order of questions and answers give the same configurations.
///
/// Args:
///     space: The space.
///     strategy: The strategy, such as "default" or "annealing(temperature=0.1)".
///     seed: The seed.
///     budget: The number of evaluations that the program intends. Cooling schedules use it.
///
/// >>> import tunesmith
/// >>> search = tunesmith.Search(tunesmith.Space({"X": range(1, 9)}), strategy="random", seed=3)
/// >>> while configs := search.ask(4):
/// ...     for config in configs:
/// ...         search.tell(config, 1 + abs(config["X"] - 5))
/// >>> search.best
/// ({'X': 5}, 1.0)
#[pyclass(frozen, module = "tunesmith._native")]
pub(crate) struct Search {
    search: Mutex<AskTell>,
    space: Py<Space>,
}

#[pymethods]
impl Search {
    #[new]
    #[pyo3(signature = (space, strategy = "default", seed = 1, *, budget = None))]
    fn new(space: Bound<'_, Space>, strategy: &str, seed: u64, budget: Option<u64>) -> PyResult<Self> {
        entry(|| {
            space.get().length()?;
            let spec = strategy.parse::<StrategySpec>().map_err(|error| raised(&error.into()))?;
            let searcher = spec.build(&Knowledge::default()).map_err(|error| raised(&error.into()))?;
            let search = AskTell::new(Arc::new(space.get().built.clone()), searcher, seed);
            let search = budget.into_iter().fold(search, AskTell::with_budget);
            Ok(Self { search: Mutex::new(search), space: space.unbind() })
        })
    }

    /// Returns at most `n` configurations to evaluate next, none of which was told or is in flight.
    ///
    /// An empty list while configurations are in flight means that the strategy waits for one of
    /// them. An empty list with nothing in flight ends the search.
    #[pyo3(signature = (n = 1))]
    fn ask<'py>(&self, py: Python<'py>, n: usize) -> PyResult<Bound<'py, PyList>> {
        entry(|| {
            let asked = py.detach(|| self.lock().ask(n));
            dicts(py, &self.space.get().built, asked)
        })
    }

    /// Tells the cost of a configuration: a finite number, or its failure, an exception.
    ///
    /// Exceptions mean what they mean to `tune`: a `Failure` what it says, a `TimeoutError` a
    /// timeout, an `AssertionError` a wrong result, and any other a run-time failure.
    ///
    /// Refuses anything else with a `TunesmithError`. The configuration then counts as failed, so that the strategy
    /// goes on.
    fn tell(&self, config: &Bound<'_, PyDict>, cost: &Bound<'_, PyAny>) -> PyResult<()> {
        entry(|| {
            let py = config.py();
            let id = id(&self.space.get().built, config)?;
            let (cost, refused) = match cost.cast::<PyBaseException>() {
                Ok(_) => (Err(failure(py, &PyErr::from_value(cost.clone()))), None),
                Err(_) => number(cost).map_or_else(|error| (Ok(f64::NAN), Some(error)), |cost| (Ok(cost), None)),
            };
            let told = py.detach(|| self.lock().tell(id, cost));
            told.map_err(|error| match (error, refused) {
                (TellError::ToldTwice, _) => {
                    request(format!("{config} was told before; a search takes one answer for each"))
                }
                (_, Some(refused)) => refused,
                (other, None) => request(format!("{config}: {other}")),
            })
        })
    }

    /// The configuration of the least cost told so far, and this cost; `None` before the first.
    #[getter]
    fn best<'py>(&self, py: Python<'py>) -> PyResult<Option<(Bound<'py, PyDict>, f64)>> {
        entry(|| {
            let best: Option<(ConfigId, f64)> = self.lock().best();
            best.map(|(id, cost)| Ok((dict(py, &self.space.get().built, id)?, cost))).transpose()
        })
    }

    /// The number of configurations that were told, failures included.
    #[getter]
    fn told(&self) -> usize {
        self.lock().told()
    }

    /// The number of failures that were told.
    #[getter]
    fn failed(&self) -> usize {
        let search = self.lock();
        FailureKind::ALL.into_iter().map(|kind| search.failed(kind)).sum()
    }

    /// The number of configurations that were asked for and not told yet.
    #[getter]
    fn in_flight(&self) -> usize {
        self.lock().in_flight()
    }

    /// The space.
    #[getter]
    fn space(&self, py: Python<'_>) -> Py<Space> {
        self.space.clone_ref(py)
    }

    fn __repr__(&self) -> String {
        let search = self.lock();
        format!("<tunesmith.Search: {} told, {} in flight>", search.told(), search.in_flight())
    }
}

impl Search {
    fn lock(&self) -> std::sync::MutexGuard<'_, AskTell> {
        self.search.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn number(cost: &Bound<'_, PyAny>) -> PyResult<f64> {
    cost.extract::<f64>().map_err(|_| {
        let remedy = "the configuration counts as failed; tell an exception for a failure";
        request(format!("a cost is a number, and {cost} is not: {remedy}"))
    })
}
