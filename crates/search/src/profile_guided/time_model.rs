//! Times as sums of what work costs.

use super::Guide;
use tunesmith_model::nonnegative_least_squares;

/// How firmly coefficients are held to the belief that all work costs the same, in standard deviations of a relative
/// error: so few runs as a search makes leave most of them open.
const RIDGE: f64 = 0.3;

/// Predicts times on the tuned device as `sum c_j * counter_j` with `c_j >= 0`, fitted to the device's own measurements
/// and the predicted counters. Counters are shares of their mean over the space, times shares of the best.
#[derive(Debug)]
pub(super) struct TimeModel {
    /// For every counter its values by place, relative to their mean.
    columns: Vec<Vec<f64>>,
}

impl TimeModel {
    pub(super) fn new(guide: &Guide) -> Self {
        let normalised = |column: &[f64]| {
            let known = || column.iter().enumerate().filter(|(place, _)| guide.is_predicted(*place)).map(|(_, v)| *v);
            let mean = known().sum::<f64>() / known().count().max(1) as f64;
            let varies = known().any(|value| (value - mean).abs() > 1e-9 * mean);
            (varies && mean > 0.0).then(|| column.iter().map(|value| value / mean).collect::<Vec<f64>>())
        };
        let constant = vec![1.0; guide.configs().len()];
        let columns = guide.operations().filter_map(normalised).chain([constant]).collect();
        Self { columns }
    }

    /// The predicted times of all places, as shares of the best measured; `runs` are places with times.
    ///
    /// Cost: the fit of some dozens of coefficients, and a product per coefficient and place.
    pub(super) fn predict(&self, runs: &[(usize, f64)]) -> Vec<f64> {
        let best = runs.iter().map(|(_, time)| *time).fold(f64::INFINITY, f64::min);
        let row = |place: usize, time: f64| self.columns.iter().map(|c| c[place] * best / time).collect::<Vec<f64>>();
        // Relative errors: every run weighs the same.
        let rows: Vec<Vec<f64>> = runs.iter().map(|(place, time)| row(*place, *time)).collect();
        let even = 1.0 / self.columns.len() as f64;
        let coefficients =
            nonnegative_least_squares(&rows, &vec![1.0; rows.len()], &vec![even; self.columns.len()], RIDGE);
        let mut times = vec![0.0; self.columns.first().map_or(0, Vec::len)];
        for (column, coefficient) in self.columns.iter().zip(coefficients).filter(|(_, c)| *c > 0.0) {
            times.iter_mut().zip(column).for_each(|(time, value)| *time += coefficient * value);
        }
        times
    }
}
