//! The kernel: the expected similarity of two points.

use super::rows::multiply;
use super::{JoinedRows, Rows};

/// A feature: the numbers of its levels, and the typical reach of its influence.
#[derive(Clone, Debug, PartialEq)]
pub struct Feature {
    levels: Vec<f64>,
    typical_length: f64,
}

impl Feature {
    /// Creates a feature whose level `i` stands for the number `levels[i]`. The numbers are best
    /// scaled to \[0, 1\]. `typical_length` is the median of the prior of its length scale,
    /// positive and in the same unit.
    ///
    /// # Panics
    ///
    /// Panics if there are more than 65,536 levels, or if the length is not positive.
    pub fn new(levels: Vec<f64>, typical_length: f64) -> Self {
        assert!(levels.len() <= usize::from(u16::MAX) + 1, "levels are counted by 16 bits");
        assert!(typical_length > 0.0, "a length is positive");
        Self { levels, typical_length }
    }

    /// Returns the numbers of the levels.
    pub fn levels(&self) -> &[f64] {
        &self.levels
    }

    /// Returns the median of the prior of the length scale.
    pub fn typical_length(&self) -> f64 {
        self.typical_length
    }
}

/// The separable covariance `k(x, x') = prod_f (1/2 + 1/2 M(|z_f - z'_f| / ell_f))`. The Matern
/// function of order 5/2 is `M(r) = (1 + sqrt(5) r + 5/3 r^2) exp(-sqrt(5) r)` (Rasmussen and
/// Williams, Gaussian Processes for Machine Learning, equation 4.17).
///
/// The floor of one half keeps two points similar that differ in one feature only, however far
/// apart they are in it. Without it, a product of many features forgets everything. `k(x, x)` is 1.
#[derive(Clone, Debug)]
pub struct Kernel {
    features: Vec<Feature>,
    lengths: Vec<f64>,
}

impl Kernel {
    /// Creates the kernel over `features` with one length scale each.
    pub(crate) fn new(features: &[Feature], lengths: Vec<f64>) -> Self {
        assert_eq!(features.len(), lengths.len(), "one length for each feature");
        Self { features: features.to_vec(), lengths }
    }

    /// Returns the factor of one feature for numbers at this `distance`.
    pub(crate) fn factor(distance: f64, length: f64) -> f64 {
        let r = 5.0_f64.sqrt() * distance.abs() / length;
        0.5 + 0.5 * (1.0 + r + r * r / 3.0) * (-r).exp()
    }

    /// Writes the covariances of the point `at` with `rows` to `out`.
    ///
    /// Cost: one exponential for each level of each feature, then one look-up and product per row
    /// and feature.
    pub fn covariances(&self, at: &[u16], rows: &Rows, out: &mut [f64]) {
        out.fill(1.0);
        for (feature, table) in self.tables(at).iter().enumerate() {
            multiply(out, table, rows.column(feature));
        }
    }

    /// Writes the covariances of the point `at` with joined rows to `out`. They are those of
    /// [`covariances`](Self::covariances) but for rounding.
    ///
    /// Cost: one exponential for each level of each feature, one product for each combination and feature of each
    /// group, then one look-up and product per row and group.
    pub fn joined_covariances(&self, at: &[u16], rows: &JoinedRows, out: &mut [f64]) {
        rows.products(&self.tables(at), out);
    }

    /// Returns, for each feature, the factor of every level against the level of `at`.
    fn tables(&self, at: &[u16]) -> Vec<Vec<f64>> {
        let table = |((feature, length), &level): ((&Feature, &f64), &u16)| {
            let here = feature.levels[usize::from(level)];
            feature.levels.iter().map(|there| Self::factor(there - here, *length)).collect()
        };
        self.features.iter().zip(&self.lengths).zip(at).map(table).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_is_wholly_like_itself_and_half_like_one_far_away_in_one_feature() {
        let features = [Feature::new(vec![0.0, 1000.0], 1.0), Feature::new(vec![0.0, 1.0], 1.0)];
        let kernel = Kernel::new(&features, vec![1.0, 1.0]);
        let mut out = [0.0; 2];
        kernel.covariances(&[0, 1], &Rows::from_rows(2, [[0, 1], [1, 1]]), &mut out);
        assert_eq!(out, [1.0, 0.5]);
    }

    #[test]
    fn a_matern_function_of_order_five_halves_has_its_published_value() {
        // (1 + sqrt 5 + 5/3) exp(-sqrt 5) at distance 1.
        assert!((2.0 * Kernel::factor(1.0, 1.0) - 1.0 - 0.523_994_108_832).abs() < 1e-9);
    }
}
