//! Tuning parameters.

use std::collections::HashMap;

use crate::error::SpaceError;
use crate::value::{Value, ValueKind};

/// A tuning parameter: a name and a list of possible values, in the user's order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    name: String,
    values: Vec<Value>,
}

impl Parameter {
    /// Returns a parameter called `name` with the given values.
    ///
    /// Integers among floats become floats, so a list such as `[0.5, 1, 2]` has one type.
    ///
    /// # Errors
    /// The list is empty, contains a value twice, mixes types, or contains a float that is infinite
    /// or not a number.
    pub fn new(name: impl Into<String>, values: impl IntoIterator<Item = Value>) -> Result<Parameter, SpaceError> {
        let name = name.into();
        let mut values: Vec<Value> = values.into_iter().collect();
        let Some(first) = values.first() else {
            return Err(SpaceError::NoValues { parameter: name });
        };
        let first = first.kind();
        if values.iter().any(|value| value.kind() == ValueKind::Float) {
            values.iter_mut().for_each(widen);
        }
        let kind = values[0].kind();
        if let Some(other) = values.iter().find(|value| value.kind() != kind) {
            return Err(SpaceError::MixedKinds { parameter: name, first, other: other.kind() });
        }
        if let Some(value) = values.iter().find(|value| value.as_float().is_some_and(|float| !float.is_finite())) {
            return Err(SpaceError::NotFinite { parameter: name, value: value.clone() });
        }
        let mut seen = HashMap::with_capacity(values.len());
        if let Some(value) = values.iter().find(|value| seen.insert(*value, ()).is_some()) {
            return Err(SpaceError::DuplicateValue { parameter: name, value: value.clone() });
        }
        Ok(Parameter { name, values })
    }

    /// Returns the name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the values in the user's order. There is at least one, and none occurs twice.
    pub fn values(&self) -> &[Value] {
        &self.values
    }

    /// Returns the common kind of all values.
    pub fn kind(&self) -> ValueKind {
        self.values[0].kind()
    }

    /// Returns the index of `value` in the list. In a list of floats, an integer finds the float of
    /// the same value.
    ///
    /// Searches the list linearly.
    pub fn index_of(&self, value: &Value) -> Option<usize> {
        let mut wanted = value.clone();
        if self.kind() == ValueKind::Float {
            widen(&mut wanted);
        }
        self.values.iter().position(|candidate| *candidate == wanted)
    }

    /// Returns the index of the value that another program may have written as `value`, if exactly one is
    /// meant: `32.0` and `"32"` mean 32, `"TRUE"` and 1 mean true, and `true` means the text `True`.
    ///
    /// Searches the list twice.
    pub fn index_alike(&self, value: &Value) -> Option<usize> {
        let alike = || {
            let mut found = (0..self.values.len()).filter(|at| self.values[*at].is_alike(value));
            let first = found.next()?;
            found.next().is_none().then_some(first)
        };
        self.index_of(value).or_else(alike)
    }
}

/// Returns the values of a column in one kind. Numbers stay numbers. A column that mixes kinds is
/// categorical: its values become the texts that Python prints, which are the names that Kernel Tuner
/// gives them.
pub fn of_one_kind(values: Vec<Value>) -> Vec<Value> {
    let class = |value: &Value| match value.kind() {
        // Integers among floats become floats.
        ValueKind::Int => ValueKind::Float,
        other => other,
    };
    if values.windows(2).all(|pair| class(&pair[0]) == class(&pair[1])) {
        return values;
    }
    values.iter().map(|value| Value::from(value.python_str().as_str())).collect()
}

/// Turns an integer into the float of the same value. Turns -0.0 into 0.0, so that zero cannot
/// occur twice.
fn widen(value: &mut Value) {
    match *value {
        Value::Int(int) => *value = Value::Float(int as f64),
        Value::Float(0.0) => *value = Value::Float(0.0),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_among_floats_become_floats() {
        let parameter = Parameter::new("scale", [Value::Int(1), Value::Float(0.5)]).unwrap();
        assert_eq!(parameter.values(), [Value::Float(1.0), Value::Float(0.5)]);
        assert_eq!(parameter.index_of(&Value::Int(1)), Some(0));
    }

    #[test]
    fn lists_that_make_no_parameter_are_refused() {
        let refused = |values: &[Value]| Parameter::new("p", values.to_vec()).unwrap_err().to_string();
        assert_eq!(refused(&[]), "parameter `p` has no values");
        assert_eq!(refused(&[1.into(), 1.into()]), "parameter `p` lists the value 1 twice");
        assert_eq!(refused(&[1.into(), 1.0.into()]), "parameter `p` lists the value 1.0 twice");
        assert_eq!(
            refused(&[1.into(), "a".into()]),
            "parameter `p` mixes values of type integer and string; a parameter has one type"
        );
        assert_eq!(refused(&[f64::NAN.into()]), "parameter `p` has the value NaN, which is not a finite number");
    }
}
