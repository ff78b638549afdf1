//! Errors of predicted counters.

/// Returns the mean absolute error and the root mean square error.
pub(super) fn misses(found: &[f64], expected: &[f64]) -> (f64, f64) {
    let count = expected.len().max(1) as f64;
    let differences = || found.iter().zip(expected).map(|(a, b)| a - b);
    let absolute = differences().map(f64::abs).sum::<f64>() / count;
    (absolute, (differences().map(|miss| miss * miss).sum::<f64>() / count).sqrt())
}
