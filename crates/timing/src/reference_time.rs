//! Fits the time of the reference configuration over inputs.

use std::cmp::Ordering;
use tunesmith_choose::timing::ReferenceTime;
use tunesmith_model::Cholesky;

/// Regularisation against redundant features (a size and the operations that it decides), as a
/// share of the diagonal.
const RIDGE: f64 = 1e-6;

/// Minimum number of inputs for each unknown, so that the fit is more than a table.
const INPUTS_EACH: usize = 3;

/// Fits the logarithms of `times_ms`, one for each of `rows`, over those of `columns` that are
/// positive in all rows. Returns `None` with too few inputs. Costs a product of two rows for each
/// row.
pub(crate) fn reference_time(rows: &[Vec<f64>], columns: &[usize], times_ms: &[f64]) -> Option<ReferenceTime> {
    let usable = |column: &&usize| rows.iter().all(|row| row[**column] > 0.0 && row[**column].is_finite());
    let columns: Vec<usize> = columns.iter().filter(usable).copied().collect();
    if distinct(rows) < INPUTS_EACH * (columns.len() + 1) {
        return None;
    }
    let logarithms = |row: &Vec<f64>| columns.iter().map(|column| row[*column].ln()).collect::<Vec<f64>>();
    let features: Vec<Vec<f64>> = rows.iter().map(logarithms).collect();
    let targets: Vec<f64> = times_ms.iter().map(|ms| ms.ln()).collect();
    let count = rows.len() as f64;
    let means: Vec<f64> =
        (0..columns.len()).map(|at| features.iter().map(|row| row[at]).sum::<f64>() / count).collect();
    let mean = targets.iter().sum::<f64>() / count;
    let centred = |row: &[f64], at: usize| row[at] - means[at];
    let mut packed = Vec::new();
    for i in 0..columns.len() {
        for j in 0..=i {
            let sum: f64 = features.iter().map(|row| centred(row, i) * centred(row, j)).sum();
            packed.push(sum / count * if i == j { 1.0 + RIDGE } else { 1.0 });
        }
    }
    let right: Vec<f64> = (0..columns.len())
        .map(|at| features.iter().zip(&targets).map(|(row, y)| centred(row, at) * (y - mean)).sum::<f64>() / count)
        .collect();
    let factor = Cholesky::factorise(&packed);
    let powers = factor.solve_transposed(&factor.solve(&right));
    let at_means: f64 = powers.iter().zip(&means).map(|(power, mean)| power * mean).sum();
    Some(ReferenceTime { powers: columns.into_iter().zip(powers).collect(), factor: mean - at_means })
}

/// Returns the number of distinct rows.
fn distinct(rows: &[Vec<f64>]) -> usize {
    let order = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a.total_cmp(b)).find(|order| order.is_ne());
    let mut distinct: Vec<&[f64]> = rows.iter().map(Vec::as_slice).collect();
    distinct.sort_by(|a, b| order(a, b).unwrap_or(Ordering::Equal));
    distinct.dedup_by(|a, b| order(a, b).is_none());
    distinct.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_product_of_powers_is_found_and_needs_three_inputs_for_each_unknown() {
        let rows: Vec<Vec<f64>> = (1..=9).map(|i| vec![f64::NAN, f64::from(i), f64::from(i * i % 7 + 1)]).collect();
        let times: Vec<f64> = rows.iter().map(|row| 0.5 * row[1].powi(3) * row[2]).collect();
        let fitted = reference_time(&rows, &[1, 2], &times).unwrap();
        let found = fitted.predict(&[f64::NAN, 20.0, 3.0]).unwrap();
        assert!((found / (0.5 * 8000.0 * 3.0) - 1.0).abs() < 1e-3, "{found}");
        assert_eq!(fitted.predict(&[0.0, f64::NAN, 1.0]), None);
        assert_eq!(reference_time(&rows[..8], &[1, 2], &times[..8]), None);
    }
}
