//! What every model of trees answers.

use crate::table::{Column, Table};

/// A fitted model that predicts a number for a row of features.
pub trait Regressor {
    /// Returns the columns that it was fitted to.
    fn columns(&self) -> &[Column];

    /// Returns the prediction for one row: a number for every column, NaN where it is missing.
    /// Costs a walk down every tree.
    ///
    /// # Panics
    /// `row` has not one number for every column.
    fn predict(&self, row: &[f64]) -> f64;

    /// Returns the predictions for all rows: the same numbers as one by one, many times faster.
    ///
    /// # Panics
    /// `table` has other columns than those of the fit.
    fn predict_all(&self, table: &Table) -> Vec<f64>;

    /// Returns for each column the share of what all splits gained together, from 0 to 1.
    fn importance(&self) -> Vec<f64>;
}
