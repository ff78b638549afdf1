//! The reach of a model's errors on kernels that it was not fitted to.

use serde::{Deserialize, Serialize};

/// The distance at which a kernel counts as twice as hard to estimate as a mixture of measured
/// ones.
pub(super) const NEAR: f64 = 0.1;

/// The errors that a model makes on nests that it was not fitted to.
///
/// Each nest of the calibration is left out in turn, in all of its shapes and sizes, and estimated
/// by a model of the others. The error of a case is `|ln(estimate / time)|`, divided by `NEAR`
/// plus the distance of the case from the mixtures of the other nests. The reach is the quantile of
/// these errors in which every nest has the same weight (split conformal prediction with
/// normalised scores: Lei et al., Distribution-Free Predictive Inference for Regression, 2018).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reach {
    /// The probability that the time of a kernel lies in its interval.
    pub coverage: f64,
    /// The error at the quantile, for a distance of 1.
    pub error: f64,
    /// The number of nests that could be left out.
    pub nests: usize,
}

impl Reach {
    /// Returns the factor between an estimate and the ends of its interval, for a kernel at this
    /// distance from the mixtures of measured kernels.
    pub fn factor(&self, distance: f64) -> f64 {
        (self.error * (NEAR + distance)).exp()
    }
}
