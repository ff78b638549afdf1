//! The time of the reference configuration for an input, which turns speed-ups into times.

use serde::{Deserialize, Serialize};
use tunesmith_model::Cholesky;

/// The logarithm of a time as a sum over the logarithms of features: a product of their powers, as operations and bytes are
/// of sizes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct ReferenceTime {
    /// The features, by their column, and the powers.
    powers: Vec<(usize, f64)>,
    /// The logarithm of the factor, the time being in milliseconds.
    factor: f64,
}

/// Against features that say the same (a size and the operations that it decides), as a share of what is on the diagonal.
const RIDGE: f64 = 1e-6;

/// Inputs for each unknown, so that the fit is more than a table.
const INPUTS_EACH: usize = 3;

impl ReferenceTime {
    /// The fit to the logarithms of `times_ms`, one for each of `rows`, over those of `columns` that are positive in all rows.
    /// `None` with too few inputs for it. Costs a product of two rows for each.
    pub(super) fn fit(rows: &[Vec<f64>], columns: &[usize], times_ms: &[f64]) -> Option<Self> {
        let usable = |column: &&usize| rows.iter().all(|row| row[**column] > 0.0 && row[**column].is_finite());
        let columns: Vec<usize> = columns.iter().filter(usable).copied().collect();
        let mut distinct: Vec<&[f64]> = rows.iter().map(Vec::as_slice).collect();
        distinct.sort_by(|a, b| {
            a.iter()
                .zip(*b)
                .map(|(a, b)| a.total_cmp(b))
                .find(|order| order.is_ne())
                .unwrap_or(std::cmp::Ordering::Equal)
        });
        distinct.dedup_by(|a, b| a.iter().zip(b.iter()).all(|(a, b)| a.total_cmp(b).is_eq()));
        if distinct.len() < INPUTS_EACH * (columns.len() + 1) {
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
        Some(Self { powers: columns.into_iter().zip(powers).collect(), factor: mean - at_means })
    }

    /// The time in milliseconds for the row of an input; `None` where a feature is missing or not positive.
    pub(super) fn predict(&self, row: &[f64]) -> Option<f64> {
        let power =
            |(column, power): &(usize, f64)| Some(row.get(*column).filter(|number| **number > 0.0)?.ln() * power);
        let sum: f64 = self.powers.iter().map(power).sum::<Option<f64>>()?;
        Some((self.factor + sum).exp()).filter(|ms| ms.is_finite())
    }

    /// Whether all columns are below `count`.
    pub(super) fn fits(&self, count: usize) -> bool {
        self.powers.iter().all(|(column, _)| *column < count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_product_of_powers_is_found_and_needs_three_inputs_for_each_unknown() {
        let rows: Vec<Vec<f64>> = (1..=9).map(|i| vec![f64::NAN, f64::from(i), f64::from(i * i % 7 + 1)]).collect();
        let times: Vec<f64> = rows.iter().map(|row| 0.5 * row[1].powi(3) * row[2]).collect();
        let fitted = ReferenceTime::fit(&rows, &[1, 2], &times).unwrap();
        let found = fitted.predict(&[f64::NAN, 20.0, 3.0]).unwrap();
        assert!((found / (0.5 * 8000.0 * 3.0) - 1.0).abs() < 1e-3, "{found}");
        assert_eq!(fitted.predict(&[0.0, f64::NAN, 1.0]), None);
        assert_eq!(ReferenceTime::fit(&rows[..8], &[1, 2], &times[..8]), None);
    }
}
