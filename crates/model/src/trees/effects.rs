//! The effects of features on a fitted model.

use super::regressor::Regressor;
use crate::table::Table;
use rand::seq::SliceRandom as _;

/// Returns the permutation importance of each column (Breiman, Random forests, 2001, section 10).
///
/// It is the growth of the mean squared error over `table` after the numbers of the column are
/// shuffled among the rows, on average over `repeats` shuffles. `targets` has one target for each
/// row. The unit is the square of the targets' unit. The importance is about 0 for a column that
/// the model does not need. It is below 0 by chance alone.
///
/// Rows held out of training show what the model learned. Rows of the training show what it
/// remembers. Unlike [`Regressor::importance`], this does not favour columns with many values.
/// Costs `columns * repeats + 1` predictions of the table.
///
/// # Panics
///
/// Panics if `table` has other columns than those of the fit, has no rows, or does not have one row
/// for each target.
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

/// Returns the partial dependence of the prediction on one feature while the others stay as they
/// are (Friedman, Greedy function approximation: a gradient boosting machine, 2001, section 8.2).
///
/// For each of `values`, this is the mean prediction over the rows of `table` if all of them have
/// that value in `column`. Costs a prediction of the table for each value.
///
/// # Panics
///
/// Panics if `table` has other columns than those of the fit, or has no column at `column`.
pub fn partial_dependence(model: &dyn Regressor, table: &Table, column: usize, values: &[f64]) -> Vec<f64> {
    let mut with = table.clone();
    let mut mean = |value: &f64| {
        with.column_mut(column).fill(table.columns()[column].cleaned(*value));
        model.predict_all(&with).iter().sum::<f64>() / table.len().max(1) as f64
    };
    values.iter().map(&mut mean).collect()
}
