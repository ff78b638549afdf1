//! Fits the coefficients of a sum.

use super::qr::PivotedQr;
use tunesmith_model::nonnegative_least_squares;

/// Maximum share of the first pivot that counts as rounding.
const NEGLIGIBLE: f64 = 1e-9;
/// Keeps the answer unique if columns are sums of others. It moves the answer by at most its
/// square.
const RIDGE: f64 = 1e-5;

/// Returns the coefficients that minimise `|rows * x - 1|^2` (section 4.3). If several do, returns
/// the shortest. Coefficients may be negative.
pub(super) fn plain(rows: &[Vec<f64>]) -> Vec<f64> {
    let columns = rows.first().map_or(0, Vec::len);
    let column = |at: usize| rows.iter().map(|row| row[at]).collect();
    PivotedQr::new((0..columns).map(column).collect(), NEGLIGIBLE).solve(&vec![1.0; rows.len()])
}

/// Returns the coefficients `x >= 0` that minimise `|rows * x - 1|^2`.
pub(super) fn nonnegative(rows: &[Vec<f64>]) -> Vec<f64> {
    nonnegative_towards(rows, &vec![1.0; rows.len()])
}

/// Returns the coefficients `x >= 0` that minimise `|rows * x - targets|^2`.
pub(super) fn nonnegative_towards(rows: &[Vec<f64>], targets: &[f64]) -> Vec<f64> {
    let columns = rows.first().map_or(0, Vec::len);
    nonnegative_least_squares(rows, targets, &vec![0.0; columns], RIDGE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn slope(rows: &[Vec<f64>], x: &[f64], at: usize) -> f64 {
        let miss = |row: &Vec<f64>| 1.0 - row.iter().zip(x).map(|(a, x)| a * x).sum::<f64>();
        rows.iter().map(|row| miss(row) * row[at]).sum()
    }

    fn length(x: &[f64]) -> f64 {
        x.iter().map(|x| x * x).sum()
    }

    proptest! {
        #[test]
        fn no_slope_is_left_and_no_shorter_answer_exists(
            mut rows in prop::collection::vec(prop::collection::vec(0.0..1.0f64, 3), 3..9),
            by in -1.0..1.0f64,
        ) {
            // The last column is a sum of the first two: a step along (1, 2, 0, -1) changes
            // nothing.
            rows.iter_mut().for_each(|row| row.push(row[0] + 2.0 * row[1]));
            let x = plain(&rows);
            for at in 0..4 {
                prop_assert!(slope(&rows, &x, at).abs() < 1e-6, "{:?}", x);
            }
            let other: Vec<f64> = x.iter().zip([1.0, 2.0, 0.0, -1.0]).map(|(x, way)| x + by * way).collect();
            prop_assert!(length(&x) <= length(&other) + 1e-6 * (1.0 + length(&x)));
        }

        #[test]
        fn what_is_not_negative_can_fall_nowhere(rows in prop::collection::vec(prop::collection::vec(0.0..1.0f64, 4), 2..9)) {
            let x = nonnegative(&rows);
            for (at, own) in x.iter().enumerate() {
                let slope = slope(&rows, &x, at);
                prop_assert!(*own >= 0.0 && slope < 1e-6 && (*own == 0.0 || slope.abs() < 1e-6), "{:?}", x);
            }
        }
    }
}
