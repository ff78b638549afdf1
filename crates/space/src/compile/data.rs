//! Values that do not fit into a cell, by number.

use std::collections::HashMap;

use super::cell::{Class, ERROR, MAGNITUDE, float_cell};
use crate::expr::Datum;

/// Numbers the values of terms of class [`Class::Datum`]: strings, lists, very large integers, and
/// numbers whose type is not known beforehand. Identical values (same type, same bits) have the
/// same number.
#[derive(Clone, Debug, Default)]
pub(crate) struct Data {
    values: Vec<Datum>,
    known: HashMap<String, i64>,
}

impl Data {
    /// Returns the cell of `value` in a term of class `class`, to which the value must belong.
    pub(crate) fn cell(&mut self, value: &Datum, class: Class) -> i64 {
        match (class, value) {
            (Class::Int(..), Datum::Int(value)) => i64::try_from(*value).unwrap_or(ERROR),
            (Class::Int(..), Datum::Bool(value)) => i64::from(*value),
            (Class::Float(..), Datum::Float(value)) => float_cell(*value),
            _ => self.number(value),
        }
    }

    fn number(&mut self, value: &Datum) -> i64 {
        // The text of a value shows its type and bits: `1`, `1.0`, `True`, `"1"`. All NaNs are one
        // value.
        let next = self.values.len() as i64;
        let number = *self.known.entry(value.to_string()).or_insert(next);
        if number == next {
            self.values.push(value.clone());
        }
        number
    }

    /// Returns the value of `cell` in a term of class `class`. A cell without a value gives an
    /// arbitrary one; only terms that are no longer needed have such cells.
    pub(crate) fn value(&self, cell: i64, class: Class) -> Datum {
        match class {
            Class::Int(..) => Datum::Int(i128::from(cell)),
            Class::Float(..) => Datum::Float(f64::from_bits(cell as u64)),
            Class::Datum => {
                usize::try_from(cell).ok().and_then(|cell| self.values.get(cell)).cloned().unwrap_or(Datum::Bool(false))
            }
        }
    }

    /// Returns the smallest class that contains `value`.
    pub(crate) fn class_of(value: &Datum) -> Class {
        match value {
            Datum::Int(int) => match i64::try_from(*int) {
                Ok(int) if int.unsigned_abs() < MAGNITUDE.unsigned_abs() => Class::Int(int, int),
                _ => Class::Datum,
            },
            Datum::Bool(truth) => Class::Int(i64::from(*truth), i64::from(*truth)),
            Datum::Float(float) if float.is_finite() => Class::Float(*float, *float),
            Datum::Float(_) | Datum::Str(_) | Datum::List(_) => Class::Datum,
        }
    }
}
