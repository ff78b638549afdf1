//! Values and configurations, from Python and back.

use crate::error::{request, wrong_type};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString};
use serde_json::Value as Json;
use tunesmith::space::{ConfigId, Configuration, Space, Value, ValueKind};

/// Returns the value of a parameter, a size or a default. Scalars of NumPy count as the numbers that
/// they hold.
pub(crate) fn value(object: &Bound<'_, PyAny>) -> PyResult<Value> {
    match plain(object)? {
        Some(value) => Ok(value),
        None => {
            let item = object.getattr("item").and_then(|item| item.call0());
            let value = item.ok().map(|item| plain(&item)).transpose()?.flatten();
            value.ok_or_else(|| {
                let kind = object.get_type();
                wrong_type(format!("{object} of type {kind} is no value; values are int, float, bool and str"))
            })
        }
    }
}

/// Returns the value of an object of one of Python's own types, or `None` for any other.
fn plain(object: &Bound<'_, PyAny>) -> PyResult<Option<Value>> {
    if let Ok(value) = object.cast::<PyBool>() {
        return Ok(Some(Value::Bool(value.is_true())));
    }
    if object.is_instance_of::<PyInt>() {
        let whole = object.extract::<i64>();
        return whole.map(|whole| Some(Value::Int(whole))).map_err(|_| {
            request(format!("the value {object} does not fit into 64 bits; write it as a float or a str"))
        });
    }
    if let Ok(value) = object.cast::<PyFloat>() {
        return Ok(Some(Value::Float(value.value())));
    }
    if let Ok(text) = object.cast::<PyString>() {
        return Ok(Some(Value::Str(text.to_cow()?.as_ref().into())));
    }
    Ok(None)
}

/// Returns a value as an object of Python.
pub(crate) fn object<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::Int(value) => value.into_pyobject(py)?.into_any(),
        Value::Float(value) => value.into_pyobject(py)?.into_any(),
        Value::Bool(value) => PyBool::new(py, *value).to_owned().into_any(),
        Value::Str(text) => PyString::new(py, text).into_any(),
    })
}

/// Returns a configuration as a dict, in the user's order.
pub(crate) fn dict<'py>(py: Python<'py>, space: &Space, id: ConfigId) -> PyResult<Bound<'py, PyDict>> {
    let config = PyDict::new(py);
    for (name, value) in space.values(&space.unrank(id)) {
        config.set_item(name, object(py, value)?)?;
    }
    Ok(config)
}

/// Returns configurations as a list of dicts.
pub(crate) fn dicts<'py>(
    py: Python<'py>,
    space: &Space,
    ids: impl IntoIterator<Item = ConfigId>,
) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    for id in ids {
        list.append(dict(py, space, id)?)?;
    }
    Ok(list)
}

/// Returns the valid configuration that a mapping describes.
///
/// # Errors
/// A name or a value is not of the space, a parameter is missing, or a constraint excludes it.
pub(crate) fn id(space: &Space, config: &Bound<'_, PyDict>) -> PyResult<ConfigId> {
    let configuration = configuration(space, config)?;
    space.rank(&configuration).ok_or_else(|| {
        let violated = space.violated(&configuration);
        let names: Vec<String> = violated.iter().map(|constraint| format!("`{}`", constraint.name())).collect();
        request(format!("the configuration {config} violates {}", names.join(", ")))
    })
}

/// Returns the configuration that a mapping describes, which constraints may exclude.
pub(crate) fn configuration(space: &Space, config: &Bound<'_, PyDict>) -> PyResult<Configuration> {
    let mut pairs = Vec::with_capacity(config.len());
    for (name, given) in config {
        let name = name.cast_into::<PyString>().map_err(|_| wrong_type("the names of a configuration are str"))?;
        pairs.push((name, value(&given)?));
    }
    let named = pairs.iter().map(|(name, value)| {
        let name = name.to_str()?;
        Ok((name, of_kind(space, name, value)))
    });
    let named = named.collect::<PyResult<Vec<(&str, Value)>>>()?;
    let configuration = space.configuration(&named, None).map_err(|error| request(error.to_string()))?;
    let missing = space.parameters().iter().map(|parameter| parameter.name());
    let missing: Vec<&str> = missing.filter(|name| !named.iter().any(|(given, _)| given == name)).collect();
    if missing.is_empty() {
        return Ok(configuration);
    }
    Err(request(format!("the configuration {config} lacks {}; name every parameter", missing.join(", "))))
}

/// Returns `value` in the kind of the parameter's values, if Python takes both for equal.
fn of_kind(space: &Space, parameter: &str, value: &Value) -> Value {
    let parameter = space.parameter_index(parameter).map(|index| &space.parameters()[index]);
    let kind = parameter.and_then(|parameter| parameter.values().first()).map(Value::kind);
    let converted = match kind {
        Some(ValueKind::Int) => whole(value).map(Value::Int),
        Some(ValueKind::Float) => value.as_float().map(Value::Float),
        Some(ValueKind::Bool) => {
            whole(value).filter(|whole| matches!(whole, 0 | 1)).map(|whole| Value::Bool(whole == 1))
        }
        Some(ValueKind::Str) | None => None,
    };
    converted.unwrap_or_else(|| value.clone())
}

fn whole(value: &Value) -> Option<i64> {
    value.as_int().or_else(|| Value::of_number(value.as_float()?).as_int())
}

/// Returns a document of JSON as objects of Python.
pub(crate) fn json<'py>(py: Python<'py>, document: &Json) -> PyResult<Bound<'py, PyAny>> {
    Ok(match document {
        Json::Null => py.None().into_bound(py),
        Json::Bool(value) => PyBool::new(py, *value).to_owned().into_any(),
        Json::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(whole), _) => whole.into_pyobject(py)?.into_any(),
            (None, Some(whole)) => whole.into_pyobject(py)?.into_any(),
            (None, None) => number.as_f64().into_pyobject(py)?,
        },
        Json::String(text) => PyString::new(py, text).into_any(),
        Json::Array(items) => {
            let list = PyList::empty(py);
            items.iter().try_for_each(|item| list.append(json(py, item)?))?;
            list.into_any()
        }
        Json::Object(entries) => {
            let dict = PyDict::new(py);
            entries.iter().try_for_each(|(name, entry)| dict.set_item(name, json(py, entry)?))?;
            dict.into_any()
        }
    })
}
