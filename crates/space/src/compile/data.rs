//! Values that fit into no cell, by number.

use std::collections::HashMap;

use super::graph::{Class, ERROR, MAGNITUDE, float_cell};
use crate::expr::Datum;

/// Numbers the values of terms of class [`Class::Datum`]: strings, lists, very large integers, and
/// numbers of a type that is not known beforehand. Identical values (same type, same bits) have the
/// same number.
#[derive(Clone, Debug, Default)]
pub(crate) struct Data {
    values: Vec<Datum>,
    known: HashMap<String, i64>,
}

impl Data {
    /// Returns the cell of `value` in a term of class `class`, where it must belong.
    pub(crate) fn cell(&mut self, value: &Datum, class: Class) -> i64 {
        match (class, value) {
            (Class::Int(..), Datum::Int(value)) => i64::try_from(*value).unwrap_or(ERROR),
            (Class::Int(..), Datum::Bool(value)) => i64::from(*value),
            (Class::Float(..), Datum::Float(value)) => float_cell(*value),
            _ => self.number(value),
        }
    }

    fn number(&mut self, value: &Datum) -> i64 {
        // The shown form tells types and bits apart: `1`, `1.0`, `True`, `"1"`; not-a-number is one
        // value.
        let next = self.values.len() as i64;
        let number = *self.known.entry(value.to_string()).or_insert(next);
        if number == next {
            self.values.push(value.clone());
        }
        number
    }

    /// Returns the value that `cell` stands for in a term of class `class`; something arbitrary for
    /// a cell that stands for nothing, which only terms that nobody needs any more have.
    pub(crate) fn value(&self, cell: i64, class: Class) -> Datum {
        match class {
            Class::Int(..) => Datum::Int(i128::from(cell)),
            Class::Float(..) => Datum::Float(f64::from_bits(cell as u64)),
            Class::Datum => {
                usize::try_from(cell).ok().and_then(|cell| self.values.get(cell)).cloned().unwrap_or(Datum::Bool(false))
            }
        }
    }

    /// Returns the smallest class of one value.
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
