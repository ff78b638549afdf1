//! Search spaces.

use crate::error::{Class, entry, request};
use crate::value::{dict, dicts, id, object, value};
use pyo3::exceptions::{PyIndexError, PyOverflowError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString, PyTuple};
use rand::SeedableRng;
use std::sync::{Arc, Mutex, PoisonError};
use tunesmith::core::recording::{Column, Row};
use tunesmith::core::{Recording, Rng};
use tunesmith::space::{ConfigId, Constraint, Neighbourhood, Parameter, Space as Built, Value, Values};

/// A search space: tuning parameters and constraints between them.
#[pyclass(frozen, subclass, module = "tunesmith._native")]
pub(crate) struct Space {
    pub(crate) built: Built,
    /// Named numbers that constraints use.
    pub(crate) sizes: Vec<(String, Value)>,
}

/// A constraint as Python gives it: its name, its text or a function, and the scope of a function.
pub(crate) type Given<'py> = (String, Bound<'py, PyAny>, Vec<String>);

#[pymethods]
impl Space {
    #[new]
    #[pyo3(signature = (parameters, constraints, sizes, built = None))]
    fn new(
        py: Python<'_>,
        parameters: Vec<(String, Vec<Bound<'_, PyAny>>)>,
        constraints: Vec<Given<'_>>,
        sizes: Vec<(String, Bound<'_, PyAny>)>,
        built: Option<Bound<'_, Self>>,
    ) -> PyResult<Self> {
        entry(|| {
            if let Some(built) = built {
                return Ok(Self { built: built.get().built.clone(), sizes: built.get().sizes.clone() });
            }
            let mut builder = Built::builder();
            for (name, values) in parameters {
                let values = values.iter().map(value).collect::<PyResult<Vec<Value>>>()?;
                builder = builder.parameter(Parameter::new(name, values).map_err(|error| request(error.to_string()))?);
            }
            let sizes =
                sizes.into_iter().map(|(name, size)| Ok((name, value(&size)?))).collect::<PyResult<Vec<_>>>()?;
            for (name, size) in &sizes {
                builder = builder.constant(name, size.clone());
            }
            let raised = Raised::default();
            for given in constraints {
                builder = builder.constraint(constraint(given, &raised)?);
            }
            // Functions of the user lock the interpreter again.
            let built = py.detach(|| builder.build());
            match raised.take() {
                Some(error) => Err(error),
                None => Ok(Self { built: built.map_err(|error| request(error.to_string()))?, sizes }),
            }
        })
    }

    /// Returns the space that has exactly `rows`, each with one value for every parameter.
    #[staticmethod]
    fn with_rows(
        py: Python<'_>,
        parameters: Vec<(String, Vec<Bound<'_, PyAny>>)>,
        rows: Vec<Vec<Bound<'_, PyAny>>>,
    ) -> PyResult<Self> {
        entry(|| {
            let listed = |values: &[Bound<'_, PyAny>]| values.iter().map(value).collect::<PyResult<Vec<Value>>>();
            let column = |(name, values): &(String, Vec<Bound<'_, PyAny>>)| {
                Ok(Column { name: name.clone(), values: Some(listed(values)?) })
            };
            let columns = parameters.iter().map(column).collect::<PyResult<Vec<_>>>()?;
            let rows = rows.iter().map(|values| Ok(Row { values: listed(values)?, ..Row::default() }));
            let rows = rows.collect::<PyResult<Vec<_>>>()?;
            let recording = Recording::new("rows", columns, rows).map_err(|error| request(error.to_string()))?;
            let built = py.detach(|| recording.space()).map_err(|error| request(error.to_string()))?;
            Ok(Self { built, sizes: Vec::new() })
        })
    }

    /// The exact number of valid configurations.
    #[getter]
    fn size<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        entry(|| whole(py, &self.built.size().to_string()))
    }

    /// The number of combinations of values, valid or not.
    #[getter]
    fn cartesian_size<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        entry(|| whole(py, &self.built.cartesian_size().to_string()))
    }

    /// The parameters with their values.
    #[getter]
    fn parameters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        entry(|| {
            let parameters = PyDict::new(py);
            for parameter in self.built.parameters() {
                let values = PyList::empty(py);
                parameter.values().iter().try_for_each(|value| values.append(object(py, value)?))?;
                parameters.set_item(parameter.name(), values)?;
            }
            Ok(parameters)
        })
    }

    /// The digest that identifies the space and its indices.
    #[getter]
    fn digest(&self) -> &str {
        self.built.digest()
    }

    /// The names of the parameters that constraints join, directly or through others.
    #[getter]
    fn groups(&self) -> Vec<Vec<&str>> {
        let name = |index: &usize| self.built.parameters()[*index].name();
        self.built.groups().iter().map(|group| group.iter().map(name).collect()).collect()
    }

    /// Returns `n` distinct configurations, drawn uniformly; all of them if there are no more.
    #[pyo3(signature = (n, seed = 1))]
    fn sample<'py>(&self, py: Python<'py>, n: usize, seed: u64) -> PyResult<Bound<'py, PyList>> {
        entry(|| {
            self.length()?;
            let ids = py.detach(|| self.built.sample_distinct(n, &mut Rng::seed_from_u64(seed)));
            dicts(py, &self.built, ids)
        })
    }

    /// Returns the valid configurations near `config`.
    #[pyo3(signature = (config, kind = "hamming"))]
    fn neighbours<'py>(&self, config: &Bound<'py, PyDict>, kind: &str) -> PyResult<Bound<'py, PyList>> {
        entry(|| {
            self.length()?;
            let kind = match kind {
                "hamming" => Neighbourhood::Hamming,
                "adjacent" => Neighbourhood::Adjacent,
                "coordinates" => Neighbourhood::Coordinates,
                other => {
                    let text = format!("there is no neighbourhood {other:?}; name hamming, adjacent or coordinates");
                    return Err(request(text));
                }
            };
            let neighbours = self.built.neighbours(id(&self.built, config)?, kind);
            dicts(config.py(), &self.built, neighbours.iter().map(|neighbour| neighbour.id))
        })
    }

    /// Returns the rank of a valid configuration.
    fn index(&self, config: &Bound<'_, PyDict>) -> PyResult<u128> {
        entry(|| {
            self.length()?;
            Ok(id(&self.built, config)?.rank())
        })
    }

    /// Returns the names of the constraints that exclude a configuration.
    fn violated(&self, config: &Bound<'_, PyDict>) -> PyResult<Vec<String>> {
        entry(|| {
            let configuration = crate::value::configuration(&self.built, config)?;
            let violated = self.built.violated(&configuration);
            Ok(violated.iter().map(|constraint| constraint.name().to_string()).collect())
        })
    }

    fn __contains__(&self, config: &Bound<'_, PyAny>) -> PyResult<bool> {
        entry(|| {
            let Ok(config) = config.cast::<PyDict>() else { return Ok(false) };
            let configuration = crate::value::configuration(&self.built, config);
            Ok(configuration.is_ok_and(|configuration| self.built.contains(&configuration)))
        })
    }

    fn __len__(&self) -> PyResult<usize> {
        entry(|| {
            usize::try_from(self.length()?)
                .ok()
                .filter(|length| isize::try_from(*length).is_ok())
                .ok_or_else(|| PyOverflowError::new_err("the space is too large for len(); use its attribute `size`"))
        })
    }

    fn __bool__(&self) -> bool {
        true
    }

    fn __getitem__<'py>(&self, py: Python<'py>, index: i128) -> PyResult<Bound<'py, PyDict>> {
        entry(|| {
            let length = self.length()?;
            let rank = match u128::try_from(index) {
                Ok(rank) => Some(rank),
                Err(_) => length.checked_sub(index.unsigned_abs()),
            };
            let id = rank.and_then(|rank| self.built.id(rank));
            let id = id.ok_or_else(|| {
                PyIndexError::new_err(format!("the space has no configuration {index}; it has {length} of them"))
            })?;
            dict(py, &self.built, id)
        })
    }

    fn __iter__(&self) -> PyResult<Configurations> {
        entry(|| {
            self.length()?;
            Ok(Configurations { space: self.built.clone(), next: Mutex::new(0) })
        })
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Self>().is_ok_and(|other| other.get().built.digest() == self.built.digest())
    }

    fn __hash__(&self) -> u64 {
        u64::from_str_radix(&self.built.digest()[..16], 16).unwrap_or_default()
    }

    fn __repr__(&self) -> String {
        let parameters = self.built.parameters().len();
        format!("<tunesmith.Space: {parameters} parameters, {} configurations>", self.built.size())
    }
}

impl Space {
    /// Returns the number of configurations, each of which has a rank.
    pub(crate) fn length(&self) -> PyResult<u128> {
        self.built.len().ok_or_else(|| {
            let size = self.built.size();
            request(format!("the space has {size} configurations, more than 2^128; add constraints or shorten lists"))
        })
    }
}

/// The configurations of a space, in the order of their indices.
#[pyclass(frozen, module = "tunesmith._native")]
pub(crate) struct Configurations {
    space: Built,
    next: Mutex<u128>,
}

#[pymethods]
impl Configurations {
    fn __iter__(this: Bound<'_, Self>) -> Bound<'_, Self> {
        this
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        entry(|| {
            let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
            let id: Option<ConfigId> = self.space.id(*next);
            *next += u128::from(id.is_some());
            drop(next);
            id.map(|id| dict(py, &self.space, id)).transpose()
        })
    }
}

/// The first exception of the constraints that are functions.
#[derive(Clone, Default)]
pub(crate) struct Raised(Arc<Mutex<Option<PyErr>>>);

impl Raised {
    pub(crate) fn take(&self) -> Option<PyErr> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn set(&self, error: PyErr) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    }

    fn is_set(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }
}

/// Returns true if a constraint is an expression, and false if it is a function.
pub(crate) fn is_text((_, condition, _): &Given<'_>) -> bool {
    condition.is_instance_of::<PyString>()
}

/// Returns a constraint. The first exception of a function is kept in `raised`, and the function is
/// not called any more.
pub(crate) fn constraint((name, condition, scope): Given<'_>, raised: &Raised) -> PyResult<Constraint> {
    if let Ok(text) = condition.cast::<PyString>() {
        let text = text.to_cow()?;
        let expression = tunesmith::space::Expr::parse(&text);
        let expression = expression.map_err(|error| {
            let remedy = error.remedy.as_ref().map(|remedy| format!("; {remedy}")).unwrap_or_default();
            request(format!("constraint `{name}`: {error}{remedy}"))
        })?;
        return Ok(Constraint::new(name, expression));
    }
    let (function, raised) = (condition.unbind(), raised.clone());
    let names: Vec<&str> = scope.iter().map(String::as_str).collect();
    let (label, parameters) = (name.clone(), scope.clone());
    let test = move |values: &[Value]| {
        // A space that cannot be built asks no more questions.
        !raised.is_set()
            && Python::attach(|py| {
                holds(py, &function, values).unwrap_or_else(|error| {
                    raised.set(explained(py, error, &label, &parameters, values));
                    false
                })
            })
    };
    Ok(Constraint::closure(name, 1, &names, test))
}

fn holds(py: Python<'_>, function: &Py<PyAny>, values: &[Value]) -> PyResult<bool> {
    let values = values.iter().map(|value| object(py, value)).collect::<PyResult<Vec<_>>>()?;
    function.bind(py).call1(PyTuple::new(py, values)?)?.is_truthy()
}

/// Returns the exception that says on what configuration a constraint raised `error`, its cause.
fn explained(py: Python<'_>, error: PyErr, name: &str, parameters: &[String], values: &[Value]) -> PyErr {
    if !error.is_instance_of::<pyo3::exceptions::PyException>(py) {
        return error;
    }
    let on: Vec<String> =
        parameters.iter().zip(values).map(|(name, value)| format!("{name} = {}", value.python())).collect();
    let text = format!("constraint `{name}` raised {error} for {}", on.join(", "));
    let explained = Class::Request.with(py, text);
    explained.set_cause(py, Some(error));
    explained
}

/// Returns the whole number written in decimal.
fn whole<'py>(py: Python<'py>, digits: &str) -> PyResult<Bound<'py, PyAny>> {
    py.get_type::<pyo3::types::PyInt>().call1((digits,))
}

/// Returns the powers of two from `first` to `last`.
#[pyfunction]
pub(crate) fn pow2<'py>(py: Python<'py>, first: i64, last: i64) -> PyResult<Bound<'py, PyList>> {
    entry(|| list(py, Values::pow2(first, last)))
}

/// Returns the divisors of `n`.
#[pyfunction]
pub(crate) fn divisors(py: Python<'_>, n: i64) -> PyResult<Bound<'_, PyList>> {
    entry(|| list(py, Values::divisors_of(n)))
}

fn list(py: Python<'_>, values: Result<Vec<Value>, tunesmith::space::SpaceError>) -> PyResult<Bound<'_, PyList>> {
    let values = values.map_err(|error| request(error.to_string()))?;
    PyList::new(py, values.iter().map(|value| object(py, value)).collect::<PyResult<Vec<_>>>()?)
}
