//! Gaussian process regression that adds one point at a time.

mod candidates;
mod fit;
mod joined_rows;
mod kernel;
mod posterior;
mod rows;

pub use candidates::Candidates;
pub use fit::{Hyperparameters, weighted_trends, without_trends};
pub use joined_rows::JoinedRows;
pub use kernel::{Feature, Kernel};
pub use posterior::Posterior;
pub use rows::Rows;

use crate::cholesky::{Cholesky, dot};
use crate::prediction::Prediction;
use posterior::posterior;

/// A Gaussian process with a separable [`Kernel`], noise, and a constant mean that is estimated by
/// generalised least squares (Rasmussen and Williams, Gaussian Processes for Machine Learning,
/// sections 2.2 and 2.7).
///
/// It holds points but no targets, because a search rescales the targets with every new best.
/// [`posterior`](Self::posterior) takes the targets. Appending a point costs n^2 products, and so
/// does a posterior.
#[derive(Clone, Debug)]
pub struct GaussianProcess {
    kernel: Kernel,
    noise: f64,
    rows: Rows,
    factor: Cholesky,
}

impl GaussianProcess {
    /// Creates the process over `features` at the points `rows`. Costs n^3 / 6 products.
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
    ///
    /// Panics if `row` does not have one level for each feature.
    pub fn append(&mut self, row: &[u16]) {
        let mut covariances = vec![0.0; self.rows.len() + 1];
        self.rows.push(row);
        self.kernel.covariances(row, &self.rows, &mut covariances);
        covariances[self.rows.len() - 1] = 1.0 + self.noise;
        self.factor.append(&covariances);
    }

    /// Returns the points.
    pub fn rows(&self) -> &Rows {
        &self.rows
    }

    /// Returns the kernel.
    pub fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// Returns the factor of the covariance matrix of the points.
    pub fn factor(&self) -> &Cholesky {
        &self.factor
    }

    /// Returns the posterior of `targets`, which belong to the first points. There must be at least
    /// one.
    ///
    /// Further points are assumed to have the values predicted from those before: the Kriging
    /// believer (Ginsbourger, Le Riche and Carraro, Kriging is well-suited to parallelize
    /// optimization, 2010). Their weight is 0. They do not change the means, and they lower the
    /// variances around them.
    ///
    /// # Panics
    ///
    /// Panics if there is no target, or if there are more targets than points.
    pub fn posterior(&self, targets: &[f64]) -> Posterior {
        let posterior = posterior(&self.factor, targets);
        let weights = posterior.weights.into_iter().chain(std::iter::repeat(0.0)).take(self.rows.len()).collect();
        Posterior { weights, ..posterior }
    }

    /// Returns the posterior of `targets`, one for each point. Points without a target are believed,
    /// as the further points of [`posterior`](Self::posterior): they have the values predicted from
    /// the points with a target. There must be at least one of those.
    ///
    /// Costs n^2 products for the targets, and as many for each point without one.
    ///
    /// # Panics
    ///
    /// Panics if there is not one target for each point, or if none has a value.
    pub fn posterior_with_gaps(&self, targets: &[Option<f64>]) -> Posterior {
        assert_eq!(targets.len(), self.rows.len(), "one target for each point");
        posterior::with_gaps(&self.factor, targets)
    }

    /// Returns the prediction of each point from all the others, with the variance `s^2` of
    /// `posterior`.
    ///
    /// The mean is `y - a_i / c_ii`, and the variance is `s^2 / c_ii` less the noise. Here `c` is
    /// the inverse of the covariance matrix and `a = c (y - mean)` (Rasmussen and Williams,
    /// equation 5.12). Costs n^3 / 2 products.
    ///
    /// # Panics
    ///
    /// Panics if there is not one target for each point.
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

    /// Returns the variance of the noise relative to that of the process.
    pub fn noise(&self) -> f64 {
        self.noise
    }

    /// Returns the means at `rows`, without variances. For a single look at many rows this is
    /// cheaper than [`Candidates`](crate::Candidates). Costs points x rows x groups look-ups.
    pub fn means(&self, posterior: &Posterior, rows: &JoinedRows) -> Vec<f64> {
        let coefficients = self.factor.solve_transposed(&posterior.weights);
        let mut means = vec![posterior.mean; rows.len()];
        let mut covariances = vec![0.0; rows.len()];
        for (point, coefficient) in coefficients.iter().enumerate() {
            self.kernel.joined_covariances(&self.rows.row(point), rows, &mut covariances);
            means.iter_mut().zip(&covariances).for_each(|(mean, covariance)| *mean += coefficient * covariance);
        }
        means
    }
}
