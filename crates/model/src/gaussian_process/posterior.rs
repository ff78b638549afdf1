//! The posterior of a Gaussian process, given targets.

use crate::cholesky::{Cholesky, dot};

/// The posterior of targets at the points of a [`GaussianProcess`](super::GaussianProcess): the
/// constant mean, the scale of the deviations from it, and a weight for each point.
#[derive(Clone, Debug, PartialEq)]
pub struct Posterior {
    /// The constant mean far from all points, in the unit of the targets.
    pub mean: f64,
    /// The variance of the process, in the unit of the targets squared. Positive.
    pub variance: f64,
    /// `L^-1 (y - mean)`, with `L` the factor of the covariance matrix.
    pub(super) weights: Vec<f64>,
}

/// Minimum variance, because constant targets have no deviation.
const LEAST_VARIANCE: f64 = 1e-12;

/// Returns the posterior of the leading points of `factor`. The mean is `1' A^-1 y / 1' A^-1 1`.
/// The variance is `r' A^-1 r / (n - 1)` with `r = y - mean`, because the mean is estimated from
/// the same points.
pub(super) fn posterior(factor: &Cholesky, targets: &[f64]) -> Posterior {
    assert!(!targets.is_empty() && targets.len() <= factor.len(), "targets of the first points");
    let ones = factor.solve(&vec![1.0; targets.len()]);
    let whitened = factor.solve(targets);
    let mean = dot(&ones, &whitened) / dot(&ones, &ones);
    let weights: Vec<f64> = whitened.iter().zip(&ones).map(|(target, one)| target - mean * one).collect();
    let variance = (dot(&weights, &weights) / (targets.len() as f64 - 1.0).max(1.0)).max(LEAST_VARIANCE);
    Posterior { mean, variance, weights }
}
