//! The scale on which models take scores.

use crate::judge::measure::Measure;

/// A scale on which scores of any sign become positive numbers whose ratios count. It keeps their order.
///
/// Models of times look at ratios: halving a time counts as much wherever it happens. Scores of an
/// objective that is not time may be zero or negative, and those of a maximised one are the negative of
/// its value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scale {
    /// All scores are positive. A score is its own number.
    Positive,
    /// All scores are negative. The number is the reciprocal of the score without its sign, so that ratios
    /// are those of the scores.
    Negative,
    /// The scores have both signs, or some are zero, if only in effect. The number is `exp(asinh(score / unit))`. Far above the unit it
    /// is proportional to the score, far below the negative unit to the reciprocal of the score without
    /// its sign, and near zero it changes with the difference.
    Mixed {
        /// The median of the scores that are not zero, without their signs.
        unit: f64,
    },
}

impl Scale {
    /// Returns the scale of these scores, which are finite. Costs a selection if their signs differ.
    pub fn of(scores: impl Iterator<Item = f64> + Clone) -> Self {
        match Measure::of(scores.clone()) {
            Measure::Ratio if scores.clone().next().is_some_and(|score| score < 0.0) => Self::Negative,
            Measure::Ratio => Self::Positive,
            Measure::Difference => {
                let mut sizes: Vec<f64> = scores.map(f64::abs).filter(|size| *size > 0.0).collect();
                let middle = sizes.len() / 2;
                let unit = if sizes.is_empty() { 1.0 } else { *sizes.select_nth_unstable_by(middle, f64::total_cmp).1 };
                Self::Mixed { unit }
            }
        }
    }

    /// Returns the positive number of a score. Less is better.
    pub fn positive(self, score: f64) -> f64 {
        match self {
            Self::Positive => score,
            Self::Negative => -1.0 / score,
            Self::Mixed { unit } => {
                let far = score.abs() / unit + (score / unit).hypot(1.0);
                if score < 0.0 { 1.0 / far } else { far }
            }
        }
    }

    /// Returns the score of a positive number. Inverse of [`positive`](Self::positive).
    pub fn score(self, positive: f64) -> f64 {
        match self {
            Self::Positive => positive,
            Self::Negative => -1.0 / positive,
            Self::Mixed { unit } => (positive - 1.0 / positive) / 2.0 * unit,
        }
    }

    /// Returns the positive numbers of scores, on the scale of these scores.
    pub fn all(scores: &[Option<f64>]) -> Vec<Option<f64>> {
        let scale = Self::of(scores.iter().copied().flatten());
        scores.iter().map(|score| score.map(|score| scale.positive(score))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(scores: &[f64]) -> Vec<f64> {
        Scale::all(&scores.iter().copied().map(Some).collect::<Vec<_>>()).into_iter().flatten().collect()
    }

    #[test]
    fn numbers_are_positive_and_in_the_order_of_the_scores() {
        for scores in [
            vec![1.0, 2.0, 3.0],
            vec![-9.0, -2.0, -1e-9],
            vec![-99.0, -1.0, -0.0, 1e-12, 0.5, 300.0],
            vec![0.0, 1.0, 2.0, 9.0],
            vec![-1e150, 0.0, 1e150],
        ] {
            let numbers = numbers(&scores);
            assert!(numbers.iter().all(|number| *number > 0.0), "{scores:?} {numbers:?}");
            assert!(numbers.is_sorted_by(|one, other| one < other), "{scores:?} {numbers:?}");
            let scale = Scale::of(scores.iter().copied());
            let is_near =
                |(score, number): (&f64, &f64)| (scale.score(*number) - score).abs() <= 1e-9 * score.abs().max(1e-3);
            assert!(scores.iter().zip(&numbers).all(is_near), "{scores:?} {numbers:?}");
        }
        assert_eq!(numbers(&[0.0, 0.0]), [1.0, 1.0]);
    }

    #[test]
    fn scores_of_one_sign_keep_their_ratios() {
        assert_eq!(numbers(&[2.0, 6.0]), [2.0, 6.0]);
        let rates = numbers(&[-6.0, -2.0]);
        assert!((rates[1] / rates[0] - 3.0).abs() < 1e-12);
    }

    #[test]
    fn the_unit_does_not_matter() {
        let scores = [-99.0, -1.0, 0.0, 0.5, 300.0];
        assert_eq!(numbers(&scores), numbers(&scores.map(|score| score * 1024.0)));
    }
}
