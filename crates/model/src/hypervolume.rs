//! Fronts of several objectives: the hypervolume and its expected improvement.

use crate::improvement::expected_improvement;
use crate::prediction::Prediction;

/// The points of a front, and the region that none of them dominates.
///
/// Smaller is better in every dimension. The hypervolume of a front is the volume that its points
/// dominate, up to the reference. A point improves it by the volume that it dominates and no other
/// point does.
///
/// The region is divided into boxes. Of normal, independent objectives, the expected improvement is
/// the integral over the region of the probability that all objectives lie below. In a box, this is
/// a product of integrals of one dimension, each the difference of two expected improvements
/// (Emmerich, Deutz and Klinkenberg, Hypervolume-based expected improvement: monotonicity properties
/// and exact computation, 2011; with the boxes of Yang, Emmerich, Deutz and Baeck, Efficient
/// computation of expected hypervolume improvement using box decomposition algorithms, 2019). The
/// result is exact for any number of dimensions.
///
/// For n points, there are n + 1 boxes in two dimensions and at most (n + 1) (n + 2) / 2 in three.
#[derive(Clone, Debug)]
pub struct Front {
    dimensions: usize,
    /// The ends of boxes in every dimension, ascending. The first is minus infinity.
    cuts: Vec<Vec<f64>>,
    /// For each box and dimension, the positions of its ends among the cuts.
    boxes: Vec<(u32, u32)>,
}

impl Front {
    /// Creates the front of `points`. Those that are not below `reference` do not count, and those that
    /// are dominated only add boxes. Every point has as many numbers as `reference`, at least one.
    ///
    /// # Panics
    ///
    /// Panics if there are more than 2^32 points.
    pub fn new(points: &[Vec<f64>], reference: &[f64]) -> Self {
        let dimensions = reference.len();
        let is_below = |point: &&Vec<f64>| point.iter().zip(reference).all(|(own, bound)| own < bound);
        let kept: Vec<&[f64]> = points.iter().filter(is_below).map(Vec::as_slice).collect();
        let cuts: Vec<Vec<f64>> = (0..dimensions).map(|dimension| cuts(&kept, reference, dimension)).collect();
        let mut boxes = Vec::new();
        for bounds in divided(&kept, reference) {
            for (cuts, (low, high)) in cuts.iter().zip(bounds) {
                let place = |end: f64| u32::try_from(cuts.partition_point(|cut| *cut < end)).expect("few points");
                boxes.push((place(low), place(high)));
            }
        }
        Self { dimensions, cuts, boxes }
    }

    /// Returns the volume by which `point` would increase the hypervolume.
    pub fn improvement(&self, point: &[f64]) -> f64 {
        self.sum(|dimension, cut| (cut - point[dimension]).max(0.0))
    }

    /// Returns the expected improvement of a point whose coordinates are normal and independent.
    pub fn expected_improvement(&self, point: &[Prediction]) -> f64 {
        self.sum(|dimension, cut| expected_improvement(point[dimension].mean, point[dimension].deviation, cut))
    }

    /// Sums the products of the boxes' extents, each the difference of `below` at its two ends. `below`
    /// is 0 at minus infinity.
    fn sum(&self, below: impl Fn(usize, f64) -> f64) -> f64 {
        let at = |(dimension, cuts): (usize, &Vec<f64>)| -> Vec<f64> {
            let value = |cut: &f64| if *cut == f64::NEG_INFINITY { 0.0 } else { below(dimension, *cut) };
            cuts.iter().map(value).collect()
        };
        let values: Vec<Vec<f64>> = self.cuts.iter().enumerate().map(at).collect();
        let extent = |(values, (low, high)): (&Vec<f64>, &(u32, u32))| values[*high as usize] - values[*low as usize];
        let boxes = self.boxes.chunks_exact(self.dimensions);
        // Rounding may leave a negative extent where nothing is expected.
        boxes.map(|bounds| values.iter().zip(bounds).map(|pair| extent(pair).max(0.0)).product::<f64>()).sum()
    }
}

/// Returns the volume that `points` dominate, up to `reference`. Costs a front for every point.
pub fn hypervolume(points: &[Vec<f64>], reference: &[f64]) -> f64 {
    (0..points.len()).map(|at| Front::new(&points[..at], reference).improvement(&points[at])).sum()
}

/// Returns minus infinity, the coordinates of the points in one dimension, and the reference, each
/// once and ascending.
fn cuts(points: &[&[f64]], reference: &[f64], dimension: usize) -> Vec<f64> {
    let own = points.iter().map(|point| point[dimension]);
    let mut cuts: Vec<f64> = own.chain([f64::NEG_INFINITY, reference[dimension]]).collect();
    cuts.sort_by(f64::total_cmp);
    cuts.dedup();
    cuts
}

/// Returns disjoint boxes whose union is the region below `reference` that no point dominates: the
/// two ends in every dimension. Cuts the last dimension into slabs at the points. In a slab, the
/// points below it decide, in one dimension less.
fn divided(points: &[&[f64]], reference: &[f64]) -> Vec<Vec<(f64, f64)>> {
    let Some((last, others)) = reference.split_last() else { return vec![Vec::new()] };
    let dimension = others.len();
    if dimension == 0 {
        let end = points.iter().map(|point| point[0]).fold(*last, f64::min);
        return vec![vec![(f64::NEG_INFINITY, end)]];
    }
    let cuts = cuts(points, reference, dimension);
    let mut boxes = Vec::new();
    for ends in cuts.windows(2) {
        let below: Vec<&[f64]> = points.iter().filter(|point| point[dimension] <= ends[0]).copied().collect();
        for mut bounds in divided(&below, others) {
            bounds.push((ends[0], ends[1]));
            boxes.push(bounds);
        }
    }
    boxes
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Returns the share of a grid's cells, up to (1, 1, ...), for which `counts` is true of the
    /// centre.
    fn on_grid(dimensions: u32, cells: usize, mut counts: impl FnMut(&[f64]) -> bool) -> f64 {
        let all = cells.pow(dimensions);
        let centre = |mut cell: usize| -> Vec<f64> {
            let mut next = || {
                let own = cell % cells;
                cell /= cells;
                (own as f64 + 0.5) / cells as f64
            };
            (0..dimensions).map(|_| next()).collect()
        };
        (0..all).filter(|cell| counts(&centre(*cell))).count() as f64 / all as f64
    }

    fn dominates(one: &[f64], other: &[f64]) -> bool {
        one.iter().zip(other).all(|(one, other)| one <= other)
    }

    /// Points on the lines between the cells of a grid, so that counting cells is exact.
    fn points(dimensions: usize, most: usize) -> impl Strategy<Value = Vec<Vec<f64>>> {
        let point = proptest::collection::vec((0..=12_u8).prop_map(|at| f64::from(at) / 10.0), dimensions);
        proptest::collection::vec(point, 0..most)
    }

    #[test]
    fn a_single_point_dominates_its_box() {
        assert!((hypervolume(&[vec![0.5, 0.25]], &[1.0, 1.0]) - 0.375).abs() < 1e-12);
        assert_eq!(hypervolume(&[vec![2.0, 0.0]], &[1.0, 1.0]), 0.0);
    }

    /// Returns the mean of the improvement over a fine grid of quantiles of the normal distributions.
    fn averaged(front: &Front, predictions: &[Prediction], cells: usize) -> f64 {
        let mut sum = 0.0;
        let width = 8.0 / cells as f64;
        on_grid(predictions.len() as u32, cells, |place| {
            let mut weight = 1.0;
            let mut point = Vec::new();
            for (prediction, at) in predictions.iter().zip(place) {
                let u = (at - 0.5) * 8.0;
                weight *= (-u * u / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt() * width;
                point.push(prediction.mean + u * prediction.deviation);
            }
            sum += weight * front.improvement(&point);
            false
        });
        sum
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases / 4))]
        #[test]
        fn the_hypervolume_is_the_number_of_cells_that_a_point_dominates(
            two in points(2, 8), three in points(3, 8),
        ) {
            for (points, dimensions) in [(two, 2), (three, 3)] {
                let counted = on_grid(dimensions, 10, |cell| points.iter().any(|point| dominates(point, cell)));
                prop_assert!((hypervolume(&points, &vec![1.0; dimensions as usize]) - counted).abs() < 1e-9);
            }
        }

        #[test]
        fn an_improvement_is_the_difference_of_two_hypervolumes(
            two in points(2, 8), three in points(3, 8), new in points(3, 2),
        ) {
            let Some(new) = new.first() else { return Ok(()) };
            for points in [two, three] {
                let Some(dimensions) = points.first().map(Vec::len) else { continue };
                let (new, reference) = (new[..dimensions].to_vec(), vec![1.0; dimensions]);
                let gain = Front::new(&points, &reference).improvement(&new);
                let volume = |points: &[Vec<f64>]| {
                    on_grid(dimensions as u32, 10, |cell| points.iter().any(|point| dominates(point, cell)))
                };
                let after = volume(&[points.clone(), vec![new]].concat());
                prop_assert!((gain - (after - volume(&points))).abs() < 1e-9);
            }
        }

        #[test]
        fn the_expected_improvement_is_the_mean_over_the_distribution(
            two in points(2, 6), three in points(3, 5),
            means in proptest::collection::vec(0.0..1.2f64, 3), deviations in proptest::collection::vec(0.05..0.5f64, 3),
        ) {
            for (points, dimensions, cells) in [(two, 2, 200), (three, 3, 40)] {
                let front = Front::new(&points, &vec![1.0; dimensions]);
                let predictions: Vec<Prediction> = means.iter().zip(&deviations).take(dimensions)
                    .map(|(mean, deviation)| Prediction { mean: *mean, deviation: *deviation }).collect();
                let (exact, mean) = (front.expected_improvement(&predictions), averaged(&front, &predictions, cells));
                prop_assert!((exact - mean).abs() < 2e-3 + 0.02 * mean, "{} {}", exact, mean);
            }
        }
    }

    #[test]
    fn one_objective_has_the_expected_improvement_of_the_best() {
        let front = Front::new(&[vec![0.5], vec![0.25]], &[1.0]);
        let expected = expected_improvement(0.3, 0.1, 0.25);
        let found = front.expected_improvement(&[Prediction { mean: 0.3, deviation: 0.1 }]);
        assert!((found - expected).abs() < 1e-12);
    }
}
