//! The targets of the model.

use tunesmith_core::Scale;

/// Slowdown from which on targets are compressed. The exact slowdown of a bad configuration does
/// not help to find the best.
const BEND: f64 = 0.5;

/// Returns the targets of evaluations with these scores (`None` is a failure), taken on a [`Scale`] on which
/// they are positive. Smaller is better: with `d = ln(score / best)`, `y = 0.5 ln(1 + d / 0.5)`. A failure gets
/// the target of the worst success. The target of the best is 0. The unit of the scores does not matter.
pub(crate) fn targets(scores: &[Option<f64>]) -> Vec<f64> {
    let scores = Scale::all(scores);
    let successes = || scores.iter().copied().flatten();
    let best = successes().fold(f64::INFINITY, f64::min);
    let worst = successes().fold(0.0, f64::max);
    // Use ratios, not differences of logarithms: a change of the unit by a power of two then
    // changes no bit.
    let bent = |score: f64| BEND * ((score / best).ln() / BEND).ln_1p();
    scores.iter().map(|score| bent(score.unwrap_or(worst))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_is_at_zero_and_a_failure_as_bad_as_the_worst() {
        let y = targets(&[Some(2.0), None, Some(1.0), Some(4.0)]);
        assert_eq!((y[2], y[1]), (0.0, y[3]));
        assert!((y[0] - 0.5 * (1.0 + 2.0_f64.ln() / 0.5).ln()).abs() < 1e-12);
    }

    #[test]
    fn the_unit_changes_no_bit() {
        let scores = [0.3, 1.7, 22.1, 0.9];
        let scaled: Vec<_> = scores.iter().map(|score| Some(score * 1024.0)).collect();
        assert_eq!(targets(&scores.map(Some)), targets(&scaled));
    }
}
