//! Profiled configurations, the data that counter models learn from.

use crate::Table;
use crate::trees::FitError;
use rand::seq::SliceRandom as _;
use rand_xoshiro::Xoshiro256PlusPlus;
use std::collections::BTreeMap;

/// Profiled configurations: tuning parameters and counters.
#[derive(Clone, Debug)]
pub struct CounterData {
    pub(super) table: Table,
    pub(super) counters: Vec<String>,
    /// A list of values for every counter.
    pub(super) values: Vec<Vec<f64>>,
}

impl CounterData {
    /// Creates data from the rows of `table` and the values of each counter. Counters with a value
    /// that is not finite are left out.
    ///
    /// # Errors
    ///
    /// Fails if there are no rows or no usable counters, or if a counter does not have one value
    /// for every row.
    pub fn new(table: Table, counters: BTreeMap<String, Vec<f64>>) -> Result<Self, FitError> {
        if let Some(values) = counters.values().find(|values| values.len() != table.len()) {
            return Err(FitError::Targets { rows: table.len(), targets: values.len() });
        }
        let usable = counters.into_iter().filter(|(_, values)| values.iter().all(|value| value.is_finite()));
        let (counters, values): (Vec<String>, Vec<Vec<f64>>) = usable.unzip();
        if table.is_empty() || counters.is_empty() {
            return Err(FitError::Empty);
        }
        Ok(Self { table, counters, values })
    }

    /// Returns the counters that can be learned.
    pub fn counters(&self) -> &[String] {
        &self.counters
    }

    /// Returns the data without the parameters that have one value in all rows, because nothing can
    /// be learned about them. All parameters stay if there is a single row or if nothing varies.
    pub fn varying(self) -> Self {
        let cells: Vec<Vec<f64>> = (0..self.table.columns().len()).map(|at| self.table.column(at).to_vec()).collect();
        // Missing values count as equal.
        let varies = |at: &usize| cells[*at].iter().any(|value| value.to_bits() != cells[*at][0].to_bits());
        let kept: Vec<usize> = (0..cells.len()).filter(varies).collect();
        if kept.is_empty() {
            return self;
        }
        let columns = kept.iter().map(|at| self.table.columns()[*at].clone()).collect();
        let rows = (0..self.table.len()).map(|row| kept.iter().map(|at| cells[*at][row]).collect::<Vec<f64>>());
        Self { table: Table::from_rows(columns, rows), ..self }
    }

    pub(super) fn select(&self, rows: &[usize]) -> Self {
        let of = |column: &Vec<f64>| rows.iter().map(|row| column[*row]).collect();
        Self {
            table: self.table.select(rows),
            counters: self.counters.clone(),
            values: self.values.iter().map(of).collect(),
        }
    }

    /// Returns a random `share` of the rows, at least one, and the rest.
    pub(super) fn split(&self, share: f64, rng: &mut Xoshiro256PlusPlus) -> (Self, Self) {
        let mut rows: Vec<usize> = (0..self.table.len()).collect();
        rows.shuffle(rng);
        let count = ((rows.len() as f64 * share).round() as usize).clamp(1, rows.len());
        let (first, rest) = rows.split_at_mut(count);
        first.sort_unstable();
        rest.sort_unstable();
        (self.select(first), self.select(rest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Column;

    #[test]
    fn counters_that_are_no_numbers_are_left_out() {
        let table = Table::from_rows(vec![Column::ordinal("X")], [[1.0], [2.0]]);
        let counters: BTreeMap<String, Vec<f64>> =
            [("a".to_string(), vec![1.0, f64::NAN]), ("b".to_string(), vec![1.0, 2.0])].into();
        assert_eq!(CounterData::new(table.clone(), counters).unwrap().counters, ["b"]);
        assert_eq!(CounterData::new(table.clone(), BTreeMap::new()).unwrap_err(), FitError::Empty);
        let short = [("a".to_string(), vec![1.0])].into();
        assert!(matches!(CounterData::new(table, short).unwrap_err(), FitError::Targets { .. }));
    }
}
