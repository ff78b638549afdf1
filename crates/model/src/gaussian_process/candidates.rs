//! Candidates: points whose predictions follow the growth of the process.

use super::{GaussianProcess, JoinedRows, Posterior};
use crate::prediction::Prediction;

/// Rows for which a [`GaussianProcess`] predicts mean and deviation again and again.
///
/// It keeps the matrix `V = L^-1 K(X, candidates)`. A new point adds one row to it. Costs 8 bytes
/// for each point and candidate.
#[derive(Clone, Debug)]
pub struct Candidates {
    rows: JoinedRows,
    tiles: Vec<Tile>,
    points: usize,
}

/// Number of candidates of a tile: as many as a compiler keeps in vector registers.
const LANES: usize = 16;

type Lanes = [f64; LANES];

/// The columns of `V` of neighbouring candidates.
#[derive(Clone, Debug)]
struct Tile {
    /// The matrix, row by row.
    v: Vec<Lanes>,
    /// The rest of the prior variance of 1.
    variance: Lanes,
}

impl Tile {
    /// Adds the row of a point, from its covariances and its row of `L`: `(k - sum_j L_ij V_j) /
    /// L_ii`.
    fn append(&mut self, covariances: &Lanes, factor_row: &[f64]) {
        let mut row = *covariances;
        let (pivot, before) = factor_row.split_last().expect("a row has its diagonal element");
        for (l, v) in before.iter().zip(&self.v) {
            for lane in 0..LANES {
                row[lane] -= l * v[lane];
            }
        }
        for (element, left) in row.iter_mut().zip(&mut self.variance) {
            *element /= pivot;
            *left -= *element * *element;
        }
        self.v.push(row);
    }

    fn means(&self, posterior: &Posterior) -> Lanes {
        let mut means = [posterior.mean; LANES];
        for (weight, v) in posterior.weights.iter().zip(&self.v) {
            for lane in 0..LANES {
                means[lane] += weight * v[lane];
            }
        }
        means
    }
}

impl Candidates {
    /// Creates the candidates `rows` for the points of `process`. Costs n^2 / 2 products for each
    /// candidate.
    pub fn new(process: &GaussianProcess, rows: impl Into<JoinedRows>) -> Self {
        let rows = rows.into();
        let tile = || Tile { v: Vec::with_capacity(process.rows().len()), variance: [1.0; LANES] };
        let tiles = std::iter::repeat_with(tile).take(rows.len().div_ceil(LANES)).collect();
        let mut candidates = Self { rows, tiles, points: 0 };
        candidates.follow(process);
        candidates
    }

    /// Returns the rows of the candidates.
    pub fn rows(&self) -> &JoinedRows {
        &self.rows
    }

    /// Returns the number of candidates.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Returns true if there is no candidate.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Adds the points that were appended to `process` since the last call. `process` must be the
    /// one that it was made with. Costs n products for each point and candidate.
    pub fn follow(&mut self, process: &GaussianProcess) {
        let mut covariances = vec![0.0; self.tiles.len() * LANES];
        for point in self.points..process.rows().len() {
            let at = process.rows().row(point);
            process.kernel().joined_covariances(&at, &self.rows, &mut covariances[..self.rows.len()]);
            let (lanes, _) = covariances.as_chunks::<LANES>();
            let factor_row = process.factor().row(point);
            self.tiles.iter_mut().zip(lanes).for_each(|(tile, lanes)| tile.append(lanes, factor_row));
        }
        self.points = process.rows().len();
    }

    /// Returns the predictions of the candidates. Costs n products for each candidate.
    ///
    /// # Panics
    ///
    /// Panics if `posterior` is of a process with other points than those followed.
    pub fn predict(&self, posterior: &Posterior) -> Vec<Prediction> {
        assert_eq!(posterior.weights.len(), self.points, "the points of the posterior were followed");
        let mut predictions = Vec::with_capacity(self.tiles.len() * LANES);
        for tile in &self.tiles {
            let means = tile.means(posterior);
            predictions.extend(means.iter().zip(&tile.variance).map(|(&mean, left)| {
                // Rounding may leave a negative variance beside a point.
                Prediction { mean, deviation: (posterior.variance * left.max(0.0)).sqrt() }
            }));
        }
        predictions.truncate(self.rows.len());
        predictions
    }
}
