//! Fits hyperparameters by maximum a posteriori.

use super::posterior::posterior;
use super::{Feature, Kernel, Rows};
use crate::cholesky::Cholesky;
use std::borrow::Cow;

/// The length scale of each feature, the variance of the noise relative to that of the process, and
/// the slopes of trends.
#[derive(Clone, Debug, PartialEq)]
pub struct Hyperparameters {
    /// A length scale for each feature, in the unit of its levels. Larger is flatter.
    pub lengths: Vec<f64>,
    /// The variance of the noise relative to the variance of the process.
    pub noise: f64,
    /// The factor of each trend that [`fit`](Self::fit) was given.
    pub slopes: Vec<f64>,
}

/// The range of a length scale. Beyond it, a feature of width 1 tells every level from every other,
/// or none.
const LENGTHS: [f64; 2] = [0.03, 20.0];
/// The range of the noise: from a precise timer on a smooth function to half of all variation.
const NOISES: [f64; 2] = [1e-5, 0.5];
/// The median of the prior of the noise.
const TYPICAL_NOISE: f64 = 0.01;
/// The standard deviation of the logarithm of the noise, in its prior.
const NOISE_SPREAD: f64 = 1.5;
/// The range of a slope: a trend may be absent, and even reversed.
const SLOPES: [f64; 2] = [-1.5, 1.5];
/// The standard deviation of a slope, in its prior.
const SLOPE_SPREAD: f64 = 0.5;
/// The standard deviation of the logarithm of a length scale, in its prior.
///
/// Wider priors let ten points decide that a feature does not matter. The model is then sure of
/// configurations that it knows nothing about: with 0.5 in place of 1, the negative logarithm of
/// the density of the best fiftieth of the recorded spaces, after 25 random points, falls from 3.6
/// to 2.2. Narrower priors do not believe that a bowl is smooth.
const LENGTH_SPREAD: f64 = 0.7;
/// Steps of the search, wide ones first. Each step goes through all coordinates once. The next fit
/// continues from this one, so more rounds found no better configurations.
const STEPS: [Step; 2] = [Step { factor: 2.0, slope: 0.25 }, Step { factor: std::f64::consts::SQRT_2, slope: 0.12 }];

/// A step of the search: a factor of length scales and of the noise, and a change of slopes.
#[derive(Clone, Copy)]
struct Step {
    factor: f64,
    slope: f64,
}

impl Hyperparameters {
    /// The mean of a slope, in its prior.
    pub const TYPICAL_SLOPE: f64 = 0.5;

    /// Returns the medians of the priors, without a slope.
    pub fn typical(features: &[Feature]) -> Self {
        Self {
            lengths: features.iter().map(Feature::typical_length).collect(),
            noise: TYPICAL_NOISE,
            slopes: Vec::new(),
        }
    }

    /// Searches from `start`, one coordinate at a time, for the hyperparameters with the largest
    /// posterior density.
    ///
    /// Minimises `n/2 ln s^2 + sum_i ln L_ii + sum_f 1/2 (ln(ell_f / m_f) / 0.7)^2 + 1/2 (ln(noise
    /// / 0.01) / 1.5)^2`. This is the negative logarithm of the likelihood of `targets` at `rows`,
    /// with the scale `s^2` at its best (Rasmussen and Williams, equation 5.8 and section 5.4),
    /// plus log-normal priors. `m_f` is the median of the prior of a length scale.
    ///
    /// With `trends`, each a number for each row, the process explains `targets - sum_t slope_t * trend_t`,
    /// and the loss gains `1/2 ((slope_t - 0.5) / 0.5)^2` for each. Slopes stay in \[-1.5, 1.5\]. Those that
    /// `start` lacks begin at 0.5.
    ///
    /// The search multiplies or divides each coordinate in turn by 2, then each by the root of 2,
    /// if that helps; it moves each slope by 0.25, then by 0.12. Length scales stay in \[0.03, 20\]
    /// and the noise in \[0.00001, 0.5\].
    ///
    /// Costs at most 4 factorisations of n^3 / 6 products for each feature, and at most 4 solutions of
    /// n^2 products for each trend. If there are many points, pass a subset.
    ///
    /// # Panics
    ///
    /// Panics if there are no rows, or if the number of targets, or that of a trend, differs from
    /// that of rows.
    pub fn fit(features: &[Feature], rows: &Rows, targets: &[f64], trends: &[Vec<f64>], mut start: Self) -> Self {
        assert!(!rows.is_empty() && rows.len() == targets.len(), "one target for each row");
        assert!(trends.iter().all(|trend| trend.len() == rows.len()), "one number of a trend for each row");
        start.slopes.resize(trends.len(), Self::TYPICAL_SLOPE);
        let mut search = CoordinateSearch::new(features, rows, (targets, trends), start);
        for step in STEPS {
            (0..=features.len()).for_each(|coordinate| search.improve(coordinate, step.factor));
            (0..trends.len()).for_each(|trend| search.tilt(trend, step.slope));
        }
        search.best
    }
}

/// The state of the coordinate search. The coordinates are the features, the noise and the slopes.
struct CoordinateSearch<'a> {
    features: &'a [Feature],
    targets: &'a [f64],
    trends: &'a [Vec<f64>],
    /// The distances of the pairs of rows in each feature: the strict lower triangle, row by row.
    distances: Vec<Vec<f64>>,
    best: Hyperparameters,
    /// The covariances of the pairs under `best`.
    covariances: Vec<f64>,
    /// The factor of these covariances and the noise.
    factor: Cholesky,
    loss: f64,
}

impl<'a> CoordinateSearch<'a> {
    fn new(
        features: &'a [Feature],
        rows: &Rows,
        (targets, trends): (&'a [f64], &'a [Vec<f64>]),
        start: Hyperparameters,
    ) -> Self {
        let distances: Vec<Vec<f64>> =
            (0..features.len()).map(|f| pair_distances(&features[f], rows.column(f))).collect();
        let pairs = targets.len() * (targets.len() - 1) / 2;
        let mut covariances = vec![1.0; pairs];
        for (distances, &length) in distances.iter().zip(&start.lengths) {
            rescale(&mut covariances, distances, |distance| Kernel::factor(distance, length));
        }
        let (factor, loss) = (factorised(&covariances, targets.len(), start.noise), f64::INFINITY);
        let mut search = Self { features, targets, trends, distances, best: start, covariances, factor, loss };
        search.loss = search.loss(&search.best, &search.factor);
        search
    }

    /// Multiplies one coordinate by `step`, or else divides it, if that lowers the loss.
    fn improve(&mut self, coordinate: usize, step: f64) {
        let _ = self.attempt(coordinate, step) || self.attempt(coordinate, 1.0 / step);
    }

    fn attempt(&mut self, coordinate: usize, factor: f64) -> bool {
        let mut next = self.best.clone();
        let (value, [low, high]) = match next.lengths.get_mut(coordinate) {
            Some(length) => (length, LENGTHS),
            None => (&mut next.noise, NOISES),
        };
        let old = *value;
        *value = (old * factor).clamp(low, high);
        let new = *value;
        if new == old {
            return false;
        }
        let mut covariances = self.covariances.clone();
        if let Some(distances) = self.distances.get(coordinate) {
            // Factors are at least one half, so dividing by the old one is safe.
            rescale(&mut covariances, distances, |d| Kernel::factor(d, new) / Kernel::factor(d, old));
        }
        let factor = factorised(&covariances, self.targets.len(), next.noise);
        let loss = self.loss(&next, &factor);
        let helps = loss < self.loss;
        if helps {
            (self.best, self.covariances, self.factor, self.loss) = (next, covariances, factor, loss);
        }
        helps
    }

    /// Lowers the slope of a trend by `step`, or else raises it, if that lowers the loss.
    fn tilt(&mut self, trend: usize, step: f64) {
        for change in [-step, step] {
            let [least, most] = SLOPES;
            let mut next = self.best.clone();
            next.slopes[trend] = (next.slopes[trend] + change).clamp(least, most);
            if next.slopes == self.best.slopes {
                continue;
            }
            let loss = self.loss(&next, &self.factor);
            if loss < self.loss {
                (self.best, self.loss) = (next, loss);
                return;
            }
        }
    }

    /// Returns the loss. `factor` is that of the covariances under `parameters`.
    fn loss(&self, parameters: &Hyperparameters, factor: &Cholesky) -> f64 {
        let variance = posterior(factor, &without_trends(self.targets, self.trends, &parameters.slopes)).variance;
        let misfit = self.targets.len() as f64 / 2.0 * variance.ln() + factor.log_determinant();
        let surprise = |(feature, length): (&Feature, &f64)| {
            ((length / feature.typical_length()).ln() / LENGTH_SPREAD).powi(2) / 2.0
        };
        let lengths: f64 = self.features.iter().zip(&parameters.lengths).map(surprise).sum();
        let noise = ((parameters.noise / TYPICAL_NOISE).ln() / NOISE_SPREAD).powi(2) / 2.0;
        let slopes: f64 = parameters
            .slopes
            .iter()
            .map(|slope| ((slope - Hyperparameters::TYPICAL_SLOPE) / SLOPE_SPREAD).powi(2) / 2.0)
            .sum();
        misfit + lengths + noise + slopes
    }
}

fn pair_distances(feature: &Feature, column: &[u16]) -> Vec<f64> {
    let number = |row: usize| feature.levels()[usize::from(column[row])];
    (0..column.len()).flat_map(|i| (0..i).map(move |j| (number(i) - number(j)).abs())).collect()
}

/// Multiplies each covariance by a function of the distance of its pair. Most pairs agree and cost
/// nothing, because the function is 1 at distance 0.
fn rescale(covariances: &mut [f64], distances: &[f64], factor: impl Fn(f64) -> f64) {
    for (covariance, &distance) in covariances.iter_mut().zip(distances) {
        if distance > 0.0 {
            *covariance *= factor(distance);
        }
    }
}

/// Returns the lower triangle of the matrix with these elements below a constant diagonal.
fn with_diagonal(strict: &[f64], len: usize, diagonal: f64) -> Vec<f64> {
    let mut packed = Vec::with_capacity(strict.len() + len);
    let mut rest = strict;
    for i in 0..len {
        let (row, after) = rest.split_at(i);
        packed.extend_from_slice(row);
        packed.push(diagonal);
        rest = after;
    }
    packed
}

/// Returns the factor of the covariances of the pairs of `len` rows, with noise.
fn factorised(covariances: &[f64], len: usize, noise: f64) -> Cholesky {
    Cholesky::factorise(&with_diagonal(covariances, len, 1.0 + noise))
}

/// Returns the sum of `trends`, each a number for each of `len` rows, times their slopes.
///
/// # Panics
///
/// Panics if a trend has fewer numbers than `len`.
pub fn weighted_trends(trends: &[Vec<f64>], slopes: &[f64], len: usize) -> Vec<f64> {
    let mut sums = vec![0.0; len];
    for (trend, slope) in trends.iter().zip(slopes) {
        sums.iter_mut().zip(&trend[..len]).for_each(|(sum, height)| *sum += slope * height);
    }
    sums
}

/// Returns what a process explains of the targets: all but the `trends`, each times its slope.
///
/// # Panics
///
/// Panics if a trend has fewer numbers than there are targets.
pub fn without_trends<'a>(targets: &'a [f64], trends: &[Vec<f64>], slopes: &[f64]) -> Cow<'a, [f64]> {
    if trends.is_empty() {
        return Cow::Borrowed(targets);
    }
    let sums = weighted_trends(trends, slopes, targets.len());
    targets.iter().zip(sums).map(|(target, sum)| target - sum).collect()
}
