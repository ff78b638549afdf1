//! The values of intermediate results.

use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

use crate::value::Value;

/// Maximum number of elements of a list. Beyond it, one expression could exhaust the memory.
pub(crate) const MAX_ELEMENTS: usize = 1 << 22;

/// A value during evaluation. It has wider integers than [`Value`], and lists.
#[derive(Clone, Debug)]
pub(crate) enum Datum {
    Int(i128),
    Float(f64),
    Bool(bool),
    Str(Arc<str>),
    List(Arc<[Datum]>),
}

impl Datum {
    /// Returns true if the value is true in Python: zero and empty values are false.
    pub(crate) fn truthy(&self) -> bool {
        match self {
            Datum::Int(value) => *value != 0,
            Datum::Float(value) => *value != 0.0,
            Datum::Bool(value) => *value,
            Datum::Str(value) => !value.is_empty(),
            Datum::List(values) => !values.is_empty(),
        }
    }

    /// Returns the name of the value's type in messages.
    pub(crate) fn type_name(&self) -> &'static str {
        match self {
            Datum::Int(_) => "integer",
            Datum::Float(_) => "float",
            Datum::Bool(_) => "boolean",
            Datum::Str(_) => "string",
            Datum::List(_) => "list",
        }
    }

    /// Compares like Python's `==`. Numbers of any type are compared by their exact value, all
    /// other values only within their type.
    pub(crate) fn equals(&self, other: &Datum) -> bool {
        match (self, other) {
            (Datum::Str(a), Datum::Str(b)) => a == b,
            (Datum::List(a), Datum::List(b)) => a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| a.equals(b)),
            _ => self.order_numbers(other) == Some(Ordering::Equal),
        }
    }

    /// Compares in Python's order. Returns `Err` if the types have no order, and `Ok(None)` if a
    /// NaN is involved.
    pub(crate) fn order(&self, other: &Datum) -> Result<Option<Ordering>, ()> {
        match (self, other) {
            (Datum::Str(a), Datum::Str(b)) => Ok(Some(a.cmp(b))),
            (Datum::List(a), Datum::List(b)) => match a.iter().zip(b.iter()).find(|(a, b)| !a.equals(b)) {
                Some((a, b)) => a.order(b),
                None => Ok(Some(a.len().cmp(&b.len()))),
            },
            _ if self.is_number() && other.is_number() => Ok(self.order_numbers(other)),
            _ => Err(()),
        }
    }

    pub(crate) fn is_number(&self) -> bool {
        matches!(self, Datum::Int(_) | Datum::Float(_) | Datum::Bool(_))
    }

    /// Turns booleans into 0 and 1. Returns other values unchanged.
    pub(crate) fn arithmetic(&self) -> Datum {
        match self {
            Datum::Bool(value) => Datum::Int(i128::from(*value)),
            other => other.clone(),
        }
    }

    fn order_numbers(&self, other: &Datum) -> Option<Ordering> {
        match (self.arithmetic(), other.arithmetic()) {
            (Datum::Int(a), Datum::Int(b)) => Some(a.cmp(&b)),
            (Datum::Float(a), Datum::Float(b)) => a.partial_cmp(&b),
            (Datum::Int(a), Datum::Float(b)) => order_int_float(a, b),
            (Datum::Float(a), Datum::Int(b)) => order_int_float(b, a).map(Ordering::reverse),
            _ => None,
        }
    }
}

/// Compares an integer with a float without rounding, as Python does: `2**53 + 1 != float(2**53)`.
fn order_int_float(int: i128, float: f64) -> Option<Ordering> {
    // 2^127, above every i128.
    const LIMIT: f64 = 170_141_183_460_469_231_731_687_303_715_884_105_728.0;
    if float.is_nan() {
        None
    } else if float >= LIMIT {
        Some(Ordering::Less)
    } else if float < -LIMIT {
        Some(Ordering::Greater)
    } else {
        let whole = float.trunc();
        let fraction = float - whole;
        Some(int.cmp(&(whole as i128)).then(0.0_f64.total_cmp(&(fraction + 0.0))))
    }
}

impl From<&Value> for Datum {
    fn from(value: &Value) -> Self {
        match value {
            Value::Int(value) => Datum::Int(i128::from(*value)),
            Value::Float(value) => Datum::Float(*value),
            Value::Bool(value) => Datum::Bool(*value),
            Value::Str(value) => Datum::Str(Arc::clone(value)),
        }
    }
}

impl fmt::Display for Datum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Datum::Int(value) => write!(f, "{value}"),
            Datum::Float(value) => write!(f, "{value:?}"),
            Datum::Bool(value) => f.write_str(if *value { "True" } else { "False" }),
            Datum::Str(value) => write!(f, "{value:?}"),
            Datum::List(values) => {
                f.write_str("[")?;
                for (index, value) in values.iter().enumerate() {
                    write!(f, "{}{value}", if index == 0 { "" } else { ", " })?;
                }
                f.write_str("]")
            }
        }
    }
}
