//! The model of the evaluations, and its error at the best of them.

use super::unseen::Weighted;
use crate::gaussian_process::features::Features;
use crate::gaussian_process::targets::targets;
use tunesmith_model::{Candidates, GaussianProcess, Hyperparameters, Posterior, Rows};
use tunesmith_space::{ConfigId, Space};

/// Maximum number of evaluations in the model: half are the best, half are spread over the rest.
const MODELLED: usize = 300;
/// Number of evaluations that the hyperparameters are fitted to, chosen in the same way.
const FITTED: usize = 100;
/// Divisor of the number of evaluations whose errors count: the best quarter. Errors at bad
/// evaluations do not matter here.
const JUDGED: usize = 4;

/// A Gaussian process of the evaluations.
pub(super) struct RegretSurrogate {
    pub(super) process: GaussianProcess,
    pub(super) posterior: Posterior,
    pub(super) parameters: Hyperparameters,
    /// The evaluated configurations, from the best to the worst.
    pub(super) ranked: Vec<ConfigId>,
    /// The factor for the deviations of the process, at least 1.
    inflation: f64,
}

impl RegretSurrogate {
    /// Fits the process. The fit of the hyperparameters starts from `start`.
    pub(super) fn fit(
        space: &Space,
        features: &Features,
        (configs, scores): (&[ConfigId], &[Option<f64>]),
        start: Hyperparameters,
    ) -> Self {
        let targets = targets(scores);
        let mut order: Vec<usize> = (0..targets.len()).collect();
        order.sort_by(|&a, &b| targets[a].total_cmp(&targets[b]));
        let points = |count: usize| -> (Rows, Vec<f64>) {
            let chosen = spread(&order, count);
            let configs: Vec<ConfigId> = chosen.iter().map(|&index| configs[index]).collect();
            (features.rows(space, &configs), chosen.iter().map(|&index| targets[index]).collect())
        };
        let (rows, y) = points(FITTED);
        let parameters = Hyperparameters::fit(features.features(), &rows, &y, &[], start);
        let (rows, y) = points(MODELLED);
        let process = GaussianProcess::new(features.features(), parameters.clone(), &rows);
        let posterior = process.posterior(&y);
        let ranked = order.iter().map(|&index| configs[index]).collect();
        let mut surrogate = Self { process, posterior, parameters, ranked, inflation: 1.0 };
        surrogate.inflation = surrogate.error_of_the_best(&y).max(1.0);
        surrogate
    }

    /// Returns the root mean square of the standardised errors at the best, each predicted from all
    /// others. The points are sorted from the best to the worst.
    fn error_of_the_best(&self, y: &[f64]) -> f64 {
        let left_out = self.process.left_out(&self.posterior, y);
        let judged = y.len().div_ceil(JUDGED);
        let error = |(y, left_out): (&f64, &tunesmith_model::Prediction)| {
            ((y - left_out.mean) / self.with_noise(left_out.deviation)).powi(2)
        };
        (y.iter().zip(&left_out).take(judged).map(error).sum::<f64>() / judged as f64).sqrt()
    }

    /// Returns the deviation of a measurement, noise included.
    fn with_noise(&self, deviation: f64) -> f64 {
        (deviation * deviation + self.process.noise() * self.posterior.variance).sqrt()
    }

    /// Returns the mean, the inflated deviation and the weight of each of `unseen`.
    pub(super) fn predict(&self, unseen: Weighted) -> Vec<(f64, f64, f64)> {
        let predictions = Candidates::new(&self.process, unseen.rows).predict(&self.posterior);
        let all = predictions.iter().zip(unseen.weights);
        all.map(|(p, weight)| (p.mean, self.inflation * self.with_noise(p.deviation), weight)).collect()
    }
}

/// Returns at most `count` of `order`: half are the first, half are spread evenly over the rest.
fn spread(order: &[usize], count: usize) -> Vec<usize> {
    if order.len() <= count {
        return order.to_vec();
    }
    let (first, rest) = order.split_at(count / 2);
    let others = count - first.len();
    first.iter().copied().chain((0..others).map(|at| rest[at * rest.len() / others])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_has_the_best_half_and_the_others_spread_over_the_rest() {
        let order: Vec<usize> = (0..100).collect();
        assert_eq!(spread(&order, 100), order);
        assert_eq!(spread(&order, 8), [0, 1, 2, 3, 4, 28, 52, 76]);
    }
}
