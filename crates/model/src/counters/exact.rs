//! A counter model that looks up measured configurations.

use crate::Table;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// Measured counters by configuration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Exact {
    rows: Vec<Known>,
}

/// A measured configuration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Known {
    parameters: Vec<f64>,
    counters: Vec<f64>,
}

impl Exact {
    /// Creates the table from the rows of `table` and `values`, a list for every counter.
    pub(super) fn new(table: &Table, values: &[Vec<f64>]) -> Self {
        let known =
            |row| Known { parameters: table.row(row), counters: values.iter().map(|column| column[row]).collect() };
        Self { rows: (0..table.len()).map(known).collect() }
    }

    /// Returns, for every row, whether it is known, and the values of every counter.
    pub(super) fn predict(&self, table: &Table, counters: usize) -> (Vec<bool>, Vec<Vec<f64>>) {
        let key = |row: &[f64]| row.iter().map(|value| (value + 0.0).to_bits()).collect::<Vec<u64>>();
        let places: HashMap<Vec<u64>, usize> =
            self.rows.iter().enumerate().map(|(at, known)| (key(&known.parameters), at)).collect();
        let found: Vec<Option<usize>> =
            (0..table.len()).map(|row| places.get(&key(&table.row(row))).copied()).collect();
        let value = |place: &Option<usize>, counter: usize| place.map_or(0.0, |at| self.rows[at].counters[counter]);
        let values = (0..counters).map(|counter| found.iter().map(|place| value(place, counter)).collect());
        (found.iter().map(Option::is_some).collect(), values.collect())
    }

    /// Returns true if every row has the expected lengths.
    pub(super) fn has_lengths(&self, parameters: usize, counters: usize) -> bool {
        self.rows.iter().all(|known| known.parameters.len() == parameters && known.counters.len() == counters)
    }
}
