//! The Cholesky factor of a covariance matrix that grows by one row at a time.

/// The lower triangle `L` of `A = L L'`, stored row by row without gaps.
///
/// If `A` is not positive definite within rounding (equal rows, no noise), the pivot is kept at
/// [`PIVOT`](Self::PIVOT). The row then carries almost no information, instead of causing an error
/// or a NaN.
#[derive(Clone, Debug, Default)]
pub struct Cholesky {
    packed: Vec<f64>,
    len: usize,
}

impl Cholesky {
    /// Minimum square of a pivot, for matrices whose diagonal is about 1.
    pub const PIVOT: f64 = 1e-10;

    /// Creates the factor of the matrix whose lower triangle, row by row without gaps, is `packed`.
    /// Costs n^3 / 6 products.
    pub fn factorise(packed: &[f64]) -> Self {
        let mut factor = Self { packed: Vec::with_capacity(packed.len()), len: 0 };
        let mut rest = packed;
        while !rest.is_empty() {
            let (row, after) = rest.split_at(factor.len + 1);
            factor.append(row);
            rest = after;
        }
        factor
    }

    /// Adds the last row of the matrix, with its diagonal element last. Costs n^2 / 2 products.
    ///
    /// # Panics
    ///
    /// Panics if `row` does not have one element more than there are rows.
    pub fn append(&mut self, row: &[f64]) {
        assert_eq!(row.len(), self.len + 1, "a row of the lower triangle");
        let mut new = Vec::with_capacity(row.len());
        for (j, &element) in row[..self.len].iter().enumerate() {
            let above = self.row(j);
            new.push((element - dot(&new, &above[..j])) / above[j]);
        }
        new.push((row[self.len] - dot(&new, &new)).max(Self::PIVOT).sqrt());
        self.packed.extend_from_slice(&new);
        self.len += 1;
    }

    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns true if there is no row.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns row `i` of `L`: `i + 1` elements, the last on the diagonal.
    pub fn row(&self, i: usize) -> &[f64] {
        let start = i * (i + 1) / 2;
        &self.packed[start..=start + i]
    }

    /// Returns the logarithm of the determinant of `L`: half that of `A`.
    pub fn log_determinant(&self) -> f64 {
        (0..self.len).map(|i| self.row(i)[i].ln()).sum()
    }

    /// Returns the leading elements of `L^-1 b`, as many as `b` has. Costs n^2 / 2 products.
    pub fn solve(&self, b: &[f64]) -> Vec<f64> {
        let mut solution = Vec::with_capacity(b.len());
        for (i, &element) in b.iter().enumerate() {
            let row = self.row(i);
            solution.push((element - dot(&solution, &row[..i])) / row[i]);
        }
        solution
    }

    /// Returns `L'^-1 b` for the leading rows, as many as `b` has. Costs n^2 / 2 products.
    pub fn solve_transposed(&self, b: &[f64]) -> Vec<f64> {
        let mut solution = b.to_vec();
        for i in (0..b.len()).rev() {
            let row = self.row(i);
            solution[i] /= row[i];
            let known = solution[i];
            solution[..i].iter_mut().zip(row).for_each(|(element, l)| *element -= l * known);
        }
        solution
    }
}

/// Returns the inner product of two slices of the same length. Eight partial sums allow the
/// compiler to use vectors.
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    let (a_chunks, b_chunks) = (a.chunks_exact(8), b.chunks_exact(8));
    let rest: f64 = a_chunks.remainder().iter().zip(b_chunks.remainder()).map(|(x, y)| x * y).sum();
    let mut sums = [0.0; 8];
    for (x, y) in a_chunks.zip(b_chunks) {
        for lane in 0..8 {
            sums[lane] += x[lane] * y[lane];
        }
    }
    sums.iter().sum::<f64>() + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_factor_times_its_transpose_is_the_matrix() {
        let packed = [4.0, 2.0, 5.0, -2.0, 1.0, 6.0];
        let factor = Cholesky::factorise(&packed);
        for i in 0..3 {
            for j in 0..=i {
                let product: f64 = (0..=j).map(|k| factor.row(i)[k] * factor.row(j)[k]).sum();
                assert!((product - packed[i * (i + 1) / 2 + j]).abs() < 1e-12);
            }
        }
        // The determinant of the matrix is 64.
        assert!((2.0 * factor.log_determinant() - 64.0_f64.ln()).abs() < 1e-12);
    }

    #[test]
    fn two_solutions_one_after_the_other_solve_the_matrix() {
        let factor = Cholesky::factorise(&[4.0, 2.0, 5.0, -2.0, 1.0, 6.0]);
        let x = factor.solve_transposed(&factor.solve(&[2.0, 15.0, 18.0]));
        let expected = [1.0, 2.0, 3.0];
        assert!(x.iter().zip(expected).all(|(x, expected)| (x - expected).abs() < 1e-12), "{x:?}");
    }

    #[test]
    fn equal_rows_keep_a_positive_pivot() {
        let factor = Cholesky::factorise(&[1.0, 1.0, 1.0, 1.0, 1.0, 1.0]);
        assert!(factor.solve(&[1.0, 1.0, 1.0]).iter().all(|element| element.is_finite()));
        assert!(factor.log_determinant().is_finite());
    }

    #[test]
    fn an_inner_product_counts_every_element_once() {
        for len in 0..20 {
            let numbers: Vec<f64> = (0..len).map(f64::from).collect();
            let expected: f64 = numbers.iter().map(|x| x * x).sum();
            assert_eq!(dot(&numbers, &numbers), expected);
        }
    }
}
