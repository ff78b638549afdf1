//! The measures by which scores are compared.

/// The comparison of two scores: by their ratio or by their difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// The ratio of the two. All scores have one sign, and none is zero. 1 is equality, and more is
    /// better.
    Ratio,
    /// The difference of the two, in the unit of the scores: signs differ, or a score is zero, if only in effect,
    /// so that a ratio has no meaning. 0 is equality, and more is better.
    Difference,
}

/// The largest ratio of two scores that says anything. The joined score of a front has larger ones where an
/// objective is zero or negative: it has no geometric mean.
const LARGEST_RATIO: f64 = 1e25;

impl Measure {
    /// Returns the measure that has a meaning for all these scores.
    pub fn of(scores: impl IntoIterator<Item = f64>) -> Self {
        let (mut below, mut above) = (false, false);
        let (mut least, mut largest) = (f64::INFINITY, 0.0_f64);
        for score in scores {
            below |= score <= 0.0;
            above |= score >= 0.0;
            (least, largest) = (least.min(score.abs()), largest.max(score.abs()));
        }
        if below && above || largest > LARGEST_RATIO * least { Self::Difference } else { Self::Ratio }
    }

    /// Returns how much better the first score is than the second. Of negative scores, which maximised
    /// rates have, the better one is the larger without its sign.
    pub fn between(self, better: f64, worse: f64) -> f64 {
        match self {
            Self::Ratio if better < 0.0 => better / worse,
            Self::Ratio => worse / better,
            Self::Difference => worse - better,
        }
    }

    /// Returns a value in this measure.
    pub fn of_value(self, value: f64) -> Gain {
        match self {
            Self::Ratio => Gain::Ratio(value),
            Self::Difference => Gain::Difference(value),
        }
    }

    /// Returns the value for two equal scores.
    pub fn equality(self) -> f64 {
        match self {
            Self::Ratio => 1.0,
            Self::Difference => 0.0,
        }
    }

    /// Returns [`between`](Self::between) on the scale on which improvements add up, where equality is 0.
    pub(crate) fn sum(self, better: f64, worse: f64) -> f64 {
        let between = self.between(better, worse);
        if self == Self::Ratio { between.ln() } else { between }
    }

    /// Inverse of the scale of [`sum`](Self::sum).
    pub(crate) fn value_of_sum(self, sum: f64) -> f64 {
        if self == Self::Ratio { sum.exp() } else { sum }
    }
}

/// The gain of one configuration over another, in a [`Measure`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Gain {
    /// The ratio. 1 is equality, and more is better.
    Ratio(f64),
    /// The difference in the unit of the objective, where a ratio has no meaning. 0 is equality, and more is
    /// better.
    Difference(f64),
}

impl Gain {
    /// Returns how much better the first score is than the second, in the measure that has a meaning.
    pub fn between(better: f64, worse: f64) -> Self {
        let measure = Measure::of([better, worse]);
        measure.of_value(measure.between(better, worse))
    }

    /// Returns its name in files, and its value.
    pub fn named(self) -> (&'static str, f64) {
        match self {
            Self::Ratio(ratio) => ("ratio", ratio),
            Self::Difference(difference) => ("difference", difference),
        }
    }

    /// Returns the distance from equality: above 0 for what is better.
    pub fn beyond_equality(self) -> f64 {
        match self {
            Self::Ratio(ratio) => ratio - Measure::Ratio.equality(),
            Self::Difference(difference) => difference,
        }
    }

    /// Returns the ratio, if it is one.
    pub fn ratio(self) -> Option<f64> {
        match self {
            Self::Ratio(ratio) => Some(ratio),
            Self::Difference(_) => None,
        }
    }

    /// Returns the difference, if it is one.
    pub fn difference(self) -> Option<f64> {
        match self {
            Self::Ratio(_) => None,
            Self::Difference(difference) => Some(difference),
        }
    }
}

/// Returns the score that is worse than `score` by the factor `times`. A negative score, as of a maximised
/// rate, is worse the closer it is to zero.
pub(crate) fn worse_by(times: f64, score: f64) -> f64 {
    if score < 0.0 { score / times } else { score * times }
}

/// An interval of a [`Measure`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeasureInterval {
    /// The measure.
    pub measure: Measure,
    /// The ends.
    pub ends: (f64, f64),
}

impl MeasureInterval {
    /// Returns the interval between two scores of which each has an interval of its own.
    pub fn between(better: (f64, f64), worse: (f64, f64)) -> Self {
        let measure = Measure::of([better.0, better.1, worse.0, worse.1]);
        Self { measure, ends: (measure.between(better.1, worse.0), measure.between(better.0, worse.1)) }
    }

    /// Returns true if it excludes equality in favour of the first score.
    pub fn is_above_equality(&self) -> bool {
        self.ends.0 > self.measure.equality()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_has_a_meaning_only_for_scores_of_one_sign() {
        assert_eq!(Measure::of([1.0, 2.0]), Measure::Ratio);
        assert_eq!(Measure::of([-1.0, -2.0]), Measure::Ratio);
        for mixed in [[0.0, 1.0], [-1.0, 0.0], [-1.0, 1.0], [0.0, 0.0]] {
            assert_eq!(Measure::of(mixed), Measure::Difference, "{mixed:?}");
        }
        for far in [[1e-40, 1.0], [-1e-35, -2.0]] {
            assert_eq!(Measure::of(far), Measure::Difference, "one of them is zero in effect: {far:?}");
        }
    }

    #[test]
    fn better_scores_are_above_equality_whatever_the_sign() {
        for (better, worse, expected) in [(2.0, 4.0, 2.0), (-4.0, -2.0, 2.0), (-1.0, 1.0, 2.0), (0.0, 3.0, 3.0)] {
            let measure = Measure::of([better, worse]);
            assert_eq!(measure.between(better, worse), expected);
            assert!(measure.between(worse, better) < measure.equality());
            assert!((measure.value_of_sum(measure.sum(better, worse)) - expected).abs() < 1e-12);
            let interval = MeasureInterval::between((better, better), (worse, worse));
            assert!(interval.is_above_equality() && interval.ends == (expected, expected), "{interval:?}");
        }
    }
}
