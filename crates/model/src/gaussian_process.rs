//! Gaussian process regression that takes one point at a time.

use crate::cholesky::{Cholesky, dot};
use crate::{Feature, Hyperparameters, Kernel, Prediction, Rows};

/// A Gaussian process with a separable [`Kernel`], noise and a constant mean estimated by generalised least squares
/// (Rasmussen and Williams, Gaussian Processes for Machine Learning, sections 2.2 and 2.7).
///
/// It holds points, not targets: targets are given to [`posterior`](Self::posterior), since a search rescales
/// them with every new best. Appending a point costs n^2 products, a posterior as much.
#[derive(Clone, Debug)]
pub struct GaussianProcess {
    kernel: Kernel,
    noise: f64,
    rows: Rows,
    factor: Cholesky,
}

/// What targets say about the points of a [`GaussianProcess`]: the constant mean, the scale of the deviations from it,
/// and a weight for each point.
#[derive(Clone, Debug, PartialEq)]
pub struct Posterior {
    /// The constant mean far from all points, in the unit of the targets.
    pub mean: f64,
    /// The variance of the process, in the unit of the targets squared; positive.
    pub variance: f64,
    /// `L^-1 (y - mean)`, with `L` the factor of the covariance matrix.
    pub(crate) weights: Vec<f64>,
}

/// The smallest variance: constant targets leave no deviation to scale by.
pub(crate) const LEAST_VARIANCE: f64 = 1e-12;

impl GaussianProcess {
    /// The process over `features` at the points `rows`. Costs n^3 / 6 products.
    pub fn new(features: &[Feature], parameters: Hyperparameters, rows: &Rows) -> Self {
        let kernel = Kernel::new(features, parameters.lengths);
        let empty = Rows::new(features.len());
        let mut process = Self { kernel, noise: parameters.noise, rows: empty, factor: Cholesky::default() };
        (0..rows.len()).for_each(|row| process.append(&rows.row(row)));
        process
    }

    /// Adds the point `row`.
    ///
    /// # Panics
    /// `row` has not one level for each feature.
    pub fn append(&mut self, row: &[u16]) {
        let mut covariances = vec![0.0; self.rows.len() + 1];
        self.rows.push(row);
        self.kernel.covariances(row, &self.rows, 0..self.rows.len(), &mut covariances);
        covariances[self.rows.len() - 1] = 1.0 + self.noise;
        self.factor.append(&covariances);
    }

    /// The points.
    pub fn rows(&self) -> &Rows {
        &self.rows
    }

    /// The kernel.
    pub fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// The factor of the covariance matrix of the points.
    pub fn factor(&self) -> &Cholesky {
        &self.factor
    }

    /// What `targets` say, one for each of the first points; at least one.
    ///
    /// Points beyond them are taken to be as predicted from those before (Ginsbourger, Le Riche and Carraro, Kriging is
    /// well-suited to parallelize optimization, 2010: the Kriging believer). Their weight is 0: they leave the
    /// means as they are and lower the variances around them.
    ///
    /// # Panics
    /// There is no target, or there are more than points.
    pub fn posterior(&self, targets: &[f64]) -> Posterior {
        let posterior = posterior(&self.factor, targets);
        let weights = posterior.weights.into_iter().chain(std::iter::repeat(0.0)).take(self.rows.len()).collect();
        Posterior { weights, ..posterior }
    }

    /// What is predicted of each point from all the others, with the variance of the process as `posterior` has it: mean
    /// `y - a_i / c_ii` and variance `s^2 / c_ii` less the noise, with `c` the inverse of the covariance matrix and
    /// `a = c (y - mean)` (Rasmussen and Williams, equation 5.12). Costs n^3 / 2 products.
    ///
    /// # Panics
    /// There is not one target for each point.
    pub fn left_out(&self, posterior: &Posterior, targets: &[f64]) -> Vec<Prediction> {
        assert_eq!(targets.len(), self.rows.len(), "one target for each point");
        let weights = self.factor.solve_transposed(&posterior.weights);
        let left_out = |i: usize| {
            // Column i of L^-1, without the zeros above its diagonal.
            let mut unit = vec![0.0; targets.len()];
            unit[i] = 1.0;
            let column = self.factor.solve(&unit);
            let precision = dot(&column, &column);
            let variance = (1.0 / precision - self.noise).max(0.0);
            let mean = targets[i] - weights[i] / precision;
            Prediction { mean, deviation: (posterior.variance * variance).sqrt() }
        };
        (0..targets.len()).map(left_out).collect()
    }

    /// The variance of the noise relative to that of the process.
    pub fn noise(&self) -> f64 {
        self.noise
    }

    /// The means at `rows`, without variances: cheaper than [`Candidates`](crate::Candidates) for a single look at
    /// many rows. Costs as many look-ups as points x rows x features.
    pub fn means(&self, posterior: &Posterior, rows: &Rows) -> Vec<f64> {
        let coefficients = self.factor.solve_transposed(&posterior.weights);
        let mut means = vec![posterior.mean; rows.len()];
        let mut covariances = vec![0.0; rows.len()];
        for (point, coefficient) in coefficients.iter().enumerate() {
            self.kernel.covariances(&self.rows.row(point), rows, 0..rows.len(), &mut covariances);
            means.iter_mut().zip(&covariances).for_each(|(mean, covariance)| *mean += coefficient * covariance);
        }
        means
    }
}

/// The posterior of the leading points of `factor`: mean `1' A^-1 y / 1' A^-1 1`, variance `r' A^-1 r / (n - 1)` with
/// `r = y - mean`: the mean is estimated from the same points.
pub(crate) fn posterior(factor: &Cholesky, targets: &[f64]) -> Posterior {
    assert!(!targets.is_empty() && targets.len() <= factor.len(), "targets of the first points");
    let ones = factor.solve(&vec![1.0; targets.len()]);
    let whitened = factor.solve(targets);
    let mean = dot(&ones, &whitened) / dot(&ones, &ones);
    let weights: Vec<f64> = whitened.iter().zip(&ones).map(|(target, one)| target - mean * one).collect();
    let variance = (dot(&weights, &weights) / (targets.len() as f64 - 1.0).max(1.0)).max(LEAST_VARIANCE);
    Posterior { mean, variance, weights }
}
