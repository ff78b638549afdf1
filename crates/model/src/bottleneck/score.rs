//! Scores configurations by how well they bring the wanted changes.

use super::Variant;

/// The exponent that turns normalised scores into weights (Eq. 17).
const SHARPNESS: i32 = 8;
/// The score below which a configuration is almost excluded (Eq. 17).
const CUT_OFF: f64 = -0.25;
/// The weight of a configuration that is almost excluded.
const LEAST: f64 = 0.0001;

/// Returns the scores of configurations (Eq. 16 with its sign corrected). A score is a sum over the
/// wanted changes: the change times the relative excess of the candidate's counter over that of the
/// profiled configuration.
///
/// `columns` holds, for every change, the counter's values of all candidates. `profiled` holds the
/// values of the profiled configuration by the same model. The paper drops a counter that is 0 on
/// one side. The other variants drop it only if it is 0 on both sides.
///
/// Cost: a division per change and candidate.
///
/// # Panics
///
/// Panics if lengths differ.
pub fn scores(changes: &[f64], profiled: &[f64], columns: &[&[f64]], variant: Variant) -> Vec<f64> {
    assert!(changes.len() == profiled.len() && changes.len() == columns.len(), "a column for every change");
    let mut scores = vec![0.0; columns.first().map_or(0, |column| column.len())];
    for ((&change, &before), column) in changes.iter().zip(profiled).zip(columns) {
        let drops_one = variant == Variant::Paper;
        for (score, &value) in scores.iter_mut().zip(*column) {
            let sum = value + before;
            let is_dropped = sum == 0.0 || drops_one && (value == 0.0 || before == 0.0);
            let term = change * (value - before) / sum;
            *score += if is_dropped { 0.0 } else { term };
        }
    }
    scores
}

/// Returns the weights for drawing a configuration, from the scores (Eq. 17).
///
/// The authors' program gives a score of exactly 0 the least weight instead of 1, and compares the
/// cut-off strictly. `scale` multiplies the scores first. The program doubles the scores of trees,
/// so that it cuts off at half. Cost: linear.
pub fn weights(scores: &[f64], variant: Variant, scale: f64) -> Vec<f64> {
    let lowest = scores.iter().copied().fold(f64::INFINITY, f64::min);
    let highest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let weight = |&score: &f64| {
        let scaled = score * scale;
        let is_cut = if variant == Variant::Authors { scaled < CUT_OFF } else { scaled <= CUT_OFF };
        if is_cut || score.is_nan() {
            return LEAST;
        }
        let base = if score > 0.0 {
            1.0 + score / highest
        } else if score < 0.0 {
            1.0 - score / lowest
        } else if variant == Variant::Authors {
            0.0
        } else {
            1.0
        };
        base.powi(SHARPNESS).max(LEAST)
    };
    scores.iter().map(weight).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Computes Eq. 16 literally, one configuration at a time.
    fn oracle(changes: &[f64], profiled: &[f64], candidate: &[f64], variant: Variant) -> f64 {
        let mut sum = 0.0;
        for ((change, before), after) in changes.iter().zip(profiled).zip(candidate) {
            let one = *before == 0.0 || *after == 0.0;
            let both = *before == 0.0 && *after == 0.0;
            if !(both || variant == Variant::Paper && one) {
                sum += change * (after - before) / (after + before);
            }
        }
        sum
    }

    proptest! {
        #[test]
        fn scores_are_those_of_the_equation(
            rows in prop::collection::vec(prop::array::uniform4(prop_oneof![Just(0.0), 0.0..1e9f64]), 1..20),
            changes in prop::array::uniform4(-1.0..1.0f64),
        ) {
            for variant in [Variant::Paper, Variant::Authors, Variant::Mended] {
                let columns: Vec<Vec<f64>> = (0..4).map(|at| rows.iter().map(|row| row[at]).collect()).collect();
                let columns: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
                let found = scores(&changes, &rows[0], &columns, variant);
                for (found, row) in found.iter().zip(&rows) {
                    prop_assert_eq!(*found, oracle(&changes, &rows[0], row, variant));
                }
                prop_assert_eq!(found[0], 0.0);
                let weights = weights(&found, variant, 1.0);
                prop_assert!(weights.iter().all(|weight| (0.0001..=256.0).contains(weight)));
            }
        }
    }

    #[test]
    fn without_changes_all_weigh_the_same() {
        assert_eq!(scores(&[], &[], &[], Variant::Paper), [0.0; 0]);
        assert_eq!(weights(&[0.0, 0.0], Variant::Paper, 1.0), [1.0, 1.0]);
        assert_eq!(weights(&[0.0, 1.0, -0.3], Variant::Authors, 1.0), [0.0001, 256.0, 0.0001]);
        assert_eq!(weights(&[f64::NAN], Variant::Paper, 1.0), [0.0001]);
    }
}
