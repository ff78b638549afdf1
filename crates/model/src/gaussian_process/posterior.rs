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

/// Returns the posterior of the points with targets, in which the others are believed.
///
/// Believing a point means to choose its value so that the weights become as short as possible. With
/// `u_j` the whitened unit vector of such a point, the weights are what is left of the whitened
/// targets behind a projection onto all `u_j`. The same projection of the ones gives the mean of the
/// points with targets alone.
pub(super) fn with_gaps(factor: &Cholesky, targets: &[Option<f64>]) -> Posterior {
    let count = targets.iter().flatten().count();
    assert!(count > 0, "a target");
    let mut directions: Vec<Vec<f64>> = Vec::new();
    for gap in (0..targets.len()).filter(|index| targets[*index].is_none()) {
        let mut unit = vec![0.0; targets.len()];
        unit[gap] = 1.0;
        let mut direction = factor.solve(&unit);
        project(&mut direction, &directions);
        let length = dot(&direction, &direction).sqrt();
        direction.iter_mut().for_each(|element| *element /= length);
        directions.push(direction);
    }
    let mut ones = factor.solve(&vec![1.0; targets.len()]);
    let mut whitened = factor.solve(&targets.iter().map(|target| target.unwrap_or(0.0)).collect::<Vec<_>>());
    project(&mut ones, &directions);
    project(&mut whitened, &directions);
    of_whitened(&whitened, &ones, count)
}

/// Removes the parts of a vector along orthonormal directions.
fn project(vector: &mut [f64], directions: &[Vec<f64>]) {
    for direction in directions {
        let part = dot(vector, direction);
        vector.iter_mut().zip(direction).for_each(|(element, along)| *element -= part * along);
    }
}

/// Minimum variance, because constant targets have no deviation.
const LEAST_VARIANCE: f64 = 1e-12;

/// Returns the posterior of the leading points of `factor`. The mean is `1' A^-1 y / 1' A^-1 1`.
/// The variance is `r' A^-1 r / (n - 1)` with `r = y - mean`, because the mean is estimated from
/// the same points.
pub(super) fn posterior(factor: &Cholesky, targets: &[f64]) -> Posterior {
    assert!(!targets.is_empty() && targets.len() <= factor.len(), "targets of the first points");
    let ones = factor.solve(&vec![1.0; targets.len()]);
    of_whitened(&factor.solve(targets), &ones, targets.len())
}

/// Returns the posterior of `count` whitened targets.
fn of_whitened(whitened: &[f64], ones: &[f64], count: usize) -> Posterior {
    let mean = dot(ones, whitened) / dot(ones, ones);
    let weights: Vec<f64> = whitened.iter().zip(ones).map(|(target, one)| target - mean * one).collect();
    let variance = (dot(&weights, &weights) / (count as f64 - 1.0).max(1.0)).max(LEAST_VARIANCE);
    Posterior { mean, variance, weights }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The covariances of points on a line, with noise.
    fn covariance(a: f64, b: f64) -> f64 {
        (-(a - b) * (a - b) / 2.0).exp() + if a == b { 0.1 } else { 0.0 }
    }

    fn factor(points: &[f64]) -> Cholesky {
        let rows = points.iter().enumerate();
        let packed: Vec<f64> = rows.flat_map(|(i, a)| points[..=i].iter().map(move |b| covariance(*a, *b))).collect();
        Cholesky::factorise(&packed)
    }

    const POINTS: [f64; 6] = [0.0, 0.7, 1.1, 2.5, 3.0, 4.2];
    const TARGETS: [Option<f64>; 6] = [Some(1.0), None, Some(0.2), None, Some(2.0), Some(1.5)];

    fn values(factor: &Cholesky, posterior: &Posterior) -> Vec<f64> {
        (0..POINTS.len()).map(|i| posterior.mean + dot(factor.row(i), &posterior.weights[..=i])).collect()
    }

    #[test]
    fn points_without_targets_are_believed_wherever_they_stand() {
        let factor_of_all = factor(&POINTS);
        let believed = with_gaps(&factor_of_all, &TARGETS);
        let known: Vec<usize> = (0..6).filter(|i| TARGETS[*i].is_some()).collect();
        let alone = factor(&known.iter().map(|i| POINTS[*i]).collect::<Vec<_>>());
        let targets: Vec<f64> = TARGETS.into_iter().flatten().collect();
        let expected = posterior(&alone, &targets);
        assert!((believed.mean - expected.mean).abs() < 1e-12);
        assert!((believed.variance - expected.variance).abs() < 1e-12);
        let coefficients = alone.solve_transposed(&expected.weights);
        for (i, value) in values(&factor_of_all, &believed).into_iter().enumerate() {
            let covariances: Vec<f64> = known.iter().map(|k| covariance(POINTS[i], POINTS[*k])).collect();
            let predicted = TARGETS[i].unwrap_or(expected.mean + dot(&covariances, &coefficients));
            assert!((value - predicted).abs() < 1e-12, "point {i}: {value} instead of {predicted}");
        }
    }

    #[test]
    fn without_gaps_the_posterior_is_the_same_to_the_last_bit() {
        let targets = [1.0, 0.3, 0.2, 0.9, 2.0, 1.5];
        let factor = factor(&POINTS);
        assert_eq!(with_gaps(&factor, &targets.map(Some)), posterior(&factor, &targets));
    }
}
