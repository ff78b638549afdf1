//! The interface of every model of trees.

use crate::table::{Column, Table};

/// A fitted model that predicts a number for a row of features.
pub trait Regressor {
    /// Returns the columns of the fit.
    fn columns(&self) -> &[Column];

    /// Returns the prediction for one row: a number for every column, NaN for a missing one. Costs
    /// a walk down every tree.
    ///
    /// # Panics
    ///
    /// Panics if `row` does not have one number for every column.
    fn predict(&self, row: &[f64]) -> f64;

    /// Returns the predictions for all rows. They are the same numbers as one by one, many times
    /// faster.
    ///
    /// # Panics
    ///
    /// Panics if `table` has other columns than those of the fit.
    fn predict_all(&self, table: &Table) -> Vec<f64>;

    /// Returns, for each column, its share of the total gain of all splits, from 0 to 1.
    fn importance(&self) -> Vec<f64>;
}
