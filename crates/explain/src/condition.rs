//! Conditions on one parameter, as people write them.

use crate::axis::Axis;
use serde::{Serialize, Serializer};
use std::fmt;
use tunesmith_space::Value;

/// A condition on the value of one parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    /// The parameter.
    pub parameter: String,
    /// The values that meet it.
    pub span: Span,
}

/// Some of the values of a parameter.
#[derive(Clone, Debug, PartialEq)]
pub enum Span {
    /// All of them.
    Any,
    /// This value.
    Is(Value),
    /// This value and smaller ones.
    AtMost(Value),
    /// This value and larger ones.
    AtLeast(Value),
    /// These values and those between them.
    Between(Value, Value),
    /// These values.
    OneOf(Vec<Value>),
}

impl Span {
    /// Returns the values of `axis` from place `first` to place `last`. Texts have no order, so that
    /// they are listed.
    pub(crate) fn of(axis: &Axis, first: usize, last: usize) -> Self {
        let values = axis.values();
        match (first == 0, last + 1 == values.len()) {
            (true, true) => Self::Any,
            _ if first == last => Self::Is(values[first].clone()),
            _ if !axis.is_ordered() => Self::OneOf(values[first..=last].to_vec()),
            (true, false) => Self::AtMost(values[last].clone()),
            (false, true) => Self::AtLeast(values[first].clone()),
            (false, false) => Self::Between(values[first].clone(), values[last].clone()),
        }
    }

    /// Returns the smallest span of `axis` with all of `places`. These are ascending and not empty.
    pub(crate) fn around(axis: &Axis, places: &[usize]) -> Self {
        if axis.is_ordered() || places.len() == axis.values().len() || places.len() == 1 {
            return Self::of(axis, places[0], places[places.len() - 1]);
        }
        Self::OneOf(places.iter().map(|place| axis.values()[*place].clone()).collect())
    }
}

impl Condition {
    /// Returns the condition as an expression of a problem file.
    pub fn expression(&self) -> String {
        let name = &self.parameter;
        match &self.span {
            Span::Any => "True".to_string(),
            Span::Is(value) => format!("{name} == {}", literal(value)),
            Span::AtMost(value) => format!("{name} <= {}", literal(value)),
            Span::AtLeast(value) => format!("{name} >= {}", literal(value)),
            Span::Between(low, high) => format!("{} <= {name} <= {}", literal(low), literal(high)),
            Span::OneOf(values) => {
                let equal = |value| format!("{name} == {}", literal(value));
                format!("({})", values.iter().map(equal).collect::<Vec<_>>().join(" or "))
            }
        }
    }
}

/// Returns a value as a Python literal.
fn literal(value: &Value) -> String {
    match value {
        Value::Bool(true) => "True".to_string(),
        Value::Bool(false) => "False".to_string(),
        Value::Str(text) => format!("'{text}'"),
        Value::Int(_) | Value::Float(_) => value.to_string(),
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = &self.parameter;
        match &self.span {
            Span::Any => write!(f, "{name} has any value"),
            Span::Is(value) => write!(f, "{name} = {value}"),
            Span::AtMost(value) => write!(f, "{name} <= {value}"),
            Span::AtLeast(value) => write!(f, "{name} >= {value}"),
            Span::Between(low, high) => write!(f, "{name} from {low} to {high}"),
            Span::OneOf(values) => {
                let values: Vec<String> = values.iter().map(Value::to_string).collect();
                write!(f, "{name} = {}", values.join(" or "))
            }
        }
    }
}

impl Serialize for Condition {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tunesmith_space::Parameter;

    #[test]
    fn conditions_read_as_people_write_them() {
        let tile = Axis::new(&Parameter::new("TILE", [1, 2, 4, 8].map(Value::Int)).unwrap());
        let text = |first, last| Condition { parameter: "TILE".into(), span: Span::of(&tile, first, last) }.to_string();
        assert_eq!(text(3, 3), "TILE = 8");
        assert_eq!(text(2, 3), "TILE >= 4");
        assert_eq!(text(0, 1), "TILE <= 2");
        assert_eq!(text(1, 2), "TILE from 2 to 4");
        assert_eq!(text(0, 3), "TILE has any value");
        let mode = Axis::new(&Parameter::new("MODE", ["a", "b", "c"].map(Value::from)).unwrap());
        let text =
            |places: &[usize]| Condition { parameter: "MODE".into(), span: Span::around(&mode, places) }.to_string();
        assert_eq!(text(&[0, 2]), "MODE = a or c");
        assert_eq!(text(&[1]), "MODE = b");
    }

    #[test]
    fn conditions_are_expressions_of_problem_files() {
        let [one, four, text] = [Value::Int(1), Value::Int(4), Value::from("fast")];
        let spans = [
            (Span::Any, true),
            (Span::Is(four.clone()), true),
            (Span::AtMost(one.clone()), false),
            (Span::AtLeast(four.clone()), true),
            (Span::Between(one.clone(), four.clone()), true),
            (Span::OneOf(vec![one, text]), false),
            (Span::Is(Value::Bool(true)), false),
        ];
        for (span, expected) in spans {
            let condition = Condition { parameter: "TILE".to_string(), span };
            let expression = tunesmith_space::Expr::parse(&condition.expression()).unwrap();
            let value = expression.evaluate(&|name| (name == "TILE").then(|| four.clone())).unwrap();
            assert_eq!(value.as_float() == Some(1.0), expected, "{}", condition.expression());
        }
    }
}
