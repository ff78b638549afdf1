//! What a fitted model makes of its features, asked from outside.

use super::regressor::Regressor;
use crate::table::Table;
use rand::seq::SliceRandom as _;

/// Returns for each column the growth of the mean squared error over `table`, with one target for
/// each row, when the numbers of that column are dealt out anew among the rows, on average over
/// `repeats` deals (Breiman, Random forests, 2001, section 10). About 0 for a column that the model
/// does not need, below it by chance alone; in squares of the targets' unit.
///
/// Rows that the model was not fitted to tell what it learned, those that it was fitted to what it
/// remembers. Unlike [`Regressor::importance`] it does not favour columns of many values. Costs
/// `columns * repeats + 1` predictions of the table.
///
/// # Panics
/// `table` has other columns than those of the fit, or not one row for each target, or none.
pub fn permutation_importance(
    model: &dyn Regressor,
    table: &Table,
    targets: &[f64],
    repeats: usize,
    rng: &mut impl rand::Rng,
) -> Vec<f64> {
    assert!(table.len() == targets.len() && !targets.is_empty(), "one target for each row");
    let error = |table: &Table| {
        let squares = model.predict_all(table).into_iter().zip(targets).map(|(found, target)| (found - target).powi(2));
        squares.sum::<f64>() / targets.len() as f64
    };
    let whole = error(table);
    let mut dealt = table.clone();
    let mut growth = |column: usize| {
        let mut total = 0.0;
        for _ in 0..repeats {
            dealt.column_mut(column).shuffle(rng);
            total += error(&dealt) - whole;
        }
        dealt.column_mut(column).copy_from_slice(table.column(column));
        total / repeats.max(1) as f64
    };
    (0..table.columns().len()).map(&mut growth).collect()
}

/// Returns for each of `values` the mean prediction over the rows of `table` when all of them have
/// that value in `column` (Friedman, Greedy function approximation: a gradient boosting machine,
/// 2001, section 8.2): how the prediction moves with one feature while the others are as they are.
/// Costs a prediction of the table for each value.
///
/// # Panics
/// `table` has other columns than those of the fit, or not so many.
pub fn partial_dependence(model: &dyn Regressor, table: &Table, column: usize, values: &[f64]) -> Vec<f64> {
    let mut with = table.clone();
    let mut mean = |value: &f64| {
        with.column_mut(column).fill(table.columns()[column].cleaned(*value));
        model.predict_all(&with).iter().sum::<f64>() / table.len().max(1) as f64
    };
    values.iter().map(&mut mean).collect()
}
