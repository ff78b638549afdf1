//! The reach of a model's errors on kernels that it was not fitted to.

use serde::{Deserialize, Serialize};

/// The stated probability that a time lies in its interval.
pub(super) const COVERAGE: f64 = 0.9;

/// The distances at which a kernel may count as twice as hard to estimate as a mixture of measured
/// ones. The shortest makes the interval widen soonest.
const NEAR: [f64; 5] = [0.1, 0.2, 0.4, 0.8, 1.6];

/// Minimum gain in width for which an interval may widen later with the distance.
const GAIN: f64 = 1e-6;

/// The errors that a model makes on nests that it was not fitted to.
///
/// Each class of nests of the calibration is left out in turn, in all of their shapes and sizes, and estimated
/// by a model of the others. The error of a case is `|ln(estimate / time)|`, divided by
/// [`near`](Self::near) plus the distance of the case from the mixtures of the other nests. The reach
/// is the quantile of these errors in which every nest has the same weight (split conformal
/// prediction with normalised scores: Lei et al., Distribution-Free Predictive Inference for
/// Regression, 2018).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reach {
    /// The probability that the time of a kernel lies in its interval.
    pub coverage: f64,
    /// The error at the quantile, for a distance of 1.
    pub error: f64,
    /// The distance at which a kernel is twice as hard to estimate as a mixture of measured ones. It
    /// is the one of a few with which the intervals of the nests left out are the shortest.
    pub near: f64,
    /// The number of nests that could be left out.
    pub nests: usize,
}

/// The error on a case that the model was not fitted to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Missed {
    /// `|ln(estimate / time)|`, which may be infinite.
    pub(super) error: f64,
    /// The distance from the mixtures of the other nests.
    pub(super) distance: f64,
    /// The weight among all cases. Those of a nest add up to 1.
    pub(super) weight: f64,
}

impl Reach {
    /// Returns the reach of these errors on `nests` nests. Returns `None` if the nests are too few to
    /// say anything at this coverage.
    pub(super) fn of(missed: &[Missed], nests: usize, coverage: f64) -> Option<Self> {
        let wanted = coverage * (nests + 1) as f64;
        let scaled = |near: f64| {
            let errors = missed.iter().map(|own| (own.error / (near + own.distance), own.weight));
            let error = quantile(errors.collect(), wanted)?;
            let width = missed.iter().map(|own| own.weight * error * (near + own.distance)).sum::<f64>();
            Some((width, Self { coverage, error, near, nests }))
        };
        let found = NEAR.into_iter().filter_map(scaled).reduce(|shortest, other| {
            let is_shorter = other.0 < shortest.0 * (1.0 - GAIN);
            if is_shorter { other } else { shortest }
        });
        found.map(|(_, reach)| reach)
    }

    /// Returns the factor between an estimate and the ends of its interval, for a kernel at this
    /// distance from the mixtures of measured kernels.
    pub fn factor(&self, distance: f64) -> f64 {
        (self.error * (self.near + distance)).exp()
    }
}

/// Returns the least error at which errors up to it weigh `wanted` or more. Returns `None` if none
/// does, or if that error is infinite.
pub(super) fn quantile(mut errors: Vec<(f64, f64)>, wanted: f64) -> Option<f64> {
    errors.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut weight = 0.0;
    let reached = errors.into_iter().find(|(_, own)| {
        weight += own;
        weight >= wanted - 1e-9
    });
    reached.map(|(error, _)| error).filter(|error| error.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_nest_weighs_the_same_however_many_sizes_it_has() {
        let errors = vec![(5.0, 1.0), (1.0, 0.25), (1.1, 0.25), (1.2, 0.25), (1.3, 0.25), (2.0, 1.0)];
        assert_eq!(quantile(errors.clone(), 1.0), Some(1.3));
        assert_eq!(quantile(errors.clone(), 1.01), Some(2.0));
        assert_eq!(quantile(errors.clone(), 2.7), Some(5.0));
        assert_eq!(quantile(errors, 3.6), None, "more than all of them");
        assert_eq!(quantile(vec![(f64::INFINITY, 1.0)], 0.9), None);
    }

    /// Returns the reach of 100 nests with distances from 0 to 1, whose errors follow `error`.
    fn reach(error: impl Fn(f64) -> f64) -> Reach {
        let missed = |at: usize| {
            let distance = at as f64 / 99.0;
            // A sequence without pattern, from 0 to 1.
            let share = (at as f64 * 0.618_033_988_75).fract();
            Missed { error: share * error(distance), distance, weight: 1.0 }
        };
        Reach::of(&(0..100).map(missed).collect::<Vec<_>>(), 100, 0.9).unwrap()
    }

    #[test]
    fn the_interval_widens_with_the_distance_as_fast_as_the_errors_of_nests_left_out() {
        let (alike, soon) = (reach(|_| 0.5), reach(|distance| 0.1 + distance));
        assert!(alike.near == 1.6 && soon.near <= 0.2, "{alike:?}, {soon:?}");
        // Errors up to 0.5 at every distance need hardly more than a factor of e^0.5.
        assert!(alike.factor(1.0) < 2.2 && alike.factor(0.0) > 1.3, "{alike:?}");
        assert!(soon.factor(1.0) > 2.3 && soon.factor(0.0) < 1.2, "{soon:?}");
        // Nothing tells how errors grow: the most careful one.
        let near = [Missed { error: 0.2, distance: 0.0, weight: 1.0 }; 20];
        assert_eq!(Reach::of(&near, 20, 0.9).unwrap().near, 0.1);
        assert_eq!(Reach::of(&near[..6], 6, 0.9), None);
    }
}
