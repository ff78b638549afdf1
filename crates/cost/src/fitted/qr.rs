//! QR decomposition with column pivoting, by Householder reflections.
//!
//! Golub and Van Loan, Matrix Computations, algorithms 5.4.1 (pivoting) and 5.5.4 (the shortest
//! solution of a rank-deficient problem, by a second decomposition).

use std::iter::zip;

/// A decomposition `A P = Q R` of a matrix of any rank.
pub(super) struct PivotedQr {
    /// The unit vectors of the reflections whose product is `Q`.
    reflections: Vec<Vec<f64>>,
    /// The columns of `R`, in the order of the pivots.
    columns: Vec<Vec<f64>>,
    /// The column of `A` for each column of `R`.
    pub(super) order: Vec<usize>,
}

impl PivotedQr {
    /// Decomposes the matrix with these columns, all of one length. Stops at a pivot of at most
    /// `negligible` times the first. Costs rows x columns^2.
    pub(super) fn new(mut columns: Vec<Vec<f64>>, negligible: f64) -> Self {
        let rows = columns.first().map_or(0, Vec::len);
        let mut order: Vec<usize> = (0..columns.len()).collect();
        let mut reflections: Vec<Vec<f64>> = Vec::new();
        let mut first = 0.0;
        for at in 0..columns.len().min(rows) {
            let left = |column: &Vec<f64>| norm(&column[at..]);
            let longest = (at..columns.len()).max_by(|a, b| left(&columns[*a]).total_cmp(&left(&columns[*b])));
            let Some(pivot) = longest else { break };
            let length = left(&columns[pivot]);
            if at == 0 {
                first = length;
            }
            if length <= negligible * first {
                break;
            }
            columns.swap(at, pivot);
            order.swap(at, pivot);
            let reflection = reflection(&columns[at], at, length);
            columns[at..].iter_mut().for_each(|column| reflect(&reflection, column));
            reflections.push(reflection);
        }
        Self { reflections, columns, order }
    }

    /// Returns the number of linearly independent columns.
    pub(super) fn rank(&self) -> usize {
        self.reflections.len()
    }

    /// Returns the coefficients of the independent columns, in the order of the pivots, whose sum
    /// is column `at` of `R`.
    pub(super) fn combination(&self, at: usize) -> Vec<f64> {
        self.solve_upper(self.columns[at][..self.rank()].to_vec())
    }

    /// Returns the shortest `x` that minimises `|A x - b|`.
    pub(super) fn solve(&self, b: &[f64]) -> Vec<f64> {
        let rank = self.rank();
        let mut b = b.to_vec();
        self.reflections.iter().for_each(|reflection| reflect(reflection, &mut b));
        b.truncate(rank);
        let permuted = if rank == self.columns.len() { self.solve_upper(b) } else { self.shortest(&b) };
        let mut x = vec![0.0; self.columns.len()];
        zip(&self.order, permuted).for_each(|(&column, value)| x[column] = value);
        x
    }

    /// Returns the shortest solution of `R x = b`: with `R^T P' = Z T` it is `x = Z T^-T P'^T b`.
    fn shortest(&self, b: &[f64]) -> Vec<f64> {
        let row = |at: usize| self.columns.iter().map(|column| column[at]).collect();
        let transposed = Self::new((0..self.rank()).map(row).collect(), 0.0);
        let mut x: Vec<f64> = transposed.order.iter().map(|&at| b[at]).collect();
        for at in 0..transposed.rank() {
            let known: f64 = zip(&transposed.columns[at], &x[..at]).map(|(t, x)| t * x).sum();
            x[at] = (x[at] - known) / transposed.columns[at][at];
        }
        x.resize(self.columns.len(), 0.0);
        transposed.reflections.iter().rev().for_each(|reflection| reflect(reflection, &mut x));
        x
    }

    /// Solves `R x = b` for the independent columns by back substitution.
    fn solve_upper(&self, mut b: Vec<f64>) -> Vec<f64> {
        for at in (0..b.len()).rev() {
            b[at] /= self.columns[at][at];
            let own = b[at];
            zip(&mut b[..at], &self.columns[at]).for_each(|(b, r)| *b -= own * r);
        }
        b
    }
}

/// Returns the unit vector of a reflection. The reflection turns `column[at..]`, of this `length`,
/// onto its first axis.
fn reflection(column: &[f64], at: usize, length: f64) -> Vec<f64> {
    let mut vector = column.to_vec();
    vector[..at].fill(0.0);
    // Away from the column, to avoid cancellation.
    vector[at] += length.copysign(column[at]);
    let own = norm(&vector);
    vector.iter_mut().for_each(|value| *value /= own);
    vector
}

/// Reflects `x` at the plane whose unit normal is `vector`.
fn reflect(vector: &[f64], x: &mut [f64]) {
    let twice = 2.0 * zip(vector, &*x).map(|(v, x)| v * x).sum::<f64>();
    zip(x, vector).for_each(|(x, v)| *x -= twice * v);
}

fn norm(values: &[f64]) -> f64 {
    values.iter().map(|value| value * value).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_square_system_of_full_rank_is_solved(
            mut rows in prop::collection::vec(prop::collection::vec(-1.0..1.0f64, 4), 4),
            x in prop::collection::vec(-5.0..5.0f64, 4),
        ) {
            // A heavy diagonal makes it regular.
            rows.iter_mut().enumerate().for_each(|(at, row)| row[at] += 5.0);
            let b: Vec<f64> = rows.iter().map(|row| zip(row, &x).map(|(a, x)| a * x).sum()).collect();
            let columns = (0..4).map(|at| rows.iter().map(|row| row[at]).collect()).collect();
            for (found, x) in zip(PivotedQr::new(columns, 1e-9).solve(&b), x) {
                prop_assert!((found - x).abs() < 1e-9);
            }
        }
    }

    #[test]
    fn nothing_has_rank_0() {
        assert_eq!(PivotedQr::new(vec![vec![0.0; 3]; 2], 1e-9).rank(), 0);
        assert_eq!(PivotedQr::new(vec![vec![0.0; 3]; 2], 1e-9).solve(&[1.0; 3]), [0.0, 0.0]);
        assert_eq!(PivotedQr::new(Vec::new(), 1e-9).rank(), 0);
    }
}
