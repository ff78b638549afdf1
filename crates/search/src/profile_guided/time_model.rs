//! Times as sums of what work costs.

use tunesmith_model::nonnegative_least_squares;

/// How far relative times are believed to lie from a sum of work that all costs the same, as a standard deviation: so few
/// runs as a search makes leave most coefficients open, and this belief holds them.
pub(super) const BELIEF: f64 = 0.3;
/// Places that are predicted at a time, so that their sums stay in the fastest cache.
const BLOCK: usize = 2048;

/// Predicts times on the tuned device as `sum c_j * counter_j` with `c_j >= 0`, fitted to the device's own measurements
/// and the predicted counters. Counters are shares of their mean over the space, times shares of the best.
#[derive(Debug)]
pub(super) struct TimeModel {
    /// For every counter its values by place, relative to their mean.
    columns: Vec<Vec<f64>>,
}

impl TimeModel {
    /// Of predicted counters of work, one list each; `known` tells which places have values.
    pub(super) fn new<'a>(counters: impl Iterator<Item = &'a [f64]>, known: &[bool]) -> Self {
        let normalised = |column: &[f64]| {
            let values = || column.iter().zip(known).filter(|(_, known)| **known).map(|(value, _)| *value);
            let mean = values().sum::<f64>() / values().count().max(1) as f64;
            let varies = values().any(|value| (value - mean).abs() > 1e-9 * mean);
            (varies && mean > 0.0).then(|| column.iter().map(|value| value / mean).collect::<Vec<f64>>())
        };
        let constant = vec![1.0; known.len()];
        Self { columns: counters.filter_map(normalised).chain([constant]).collect() }
    }

    /// The coefficients after `runs`, places with times; without runs all work costs the same. Cost: the fit of some dozens
    /// of coefficients.
    pub(super) fn fit(&self, runs: &[(usize, f64)]) -> Vec<f64> {
        let best = runs.iter().map(|(_, time)| *time).fold(f64::INFINITY, f64::min);
        let row = |place: usize, time: f64| self.columns.iter().map(|c| c[place] * best / time).collect::<Vec<f64>>();
        // Relative errors: every run weighs the same.
        let rows: Vec<Vec<f64>> = runs.iter().map(|(place, time)| row(*place, *time)).collect();
        let even = 1.0 / self.columns.len() as f64;
        nonnegative_least_squares(&rows, &vec![1.0; rows.len()], &vec![even; self.columns.len()], BELIEF)
    }

    /// The predicted time of a place, as a share of the best measured.
    pub(super) fn predict(&self, coefficients: &[f64], place: usize) -> f64 {
        self.columns.iter().zip(coefficients).map(|(column, coefficient)| coefficient * column[place]).sum()
    }

    /// Of the places that are not `closed` the one with the least predicted time, of equal ones the first. Costs a product
    /// per coefficient and place.
    pub(super) fn least(&self, coefficients: &[f64], closed: &[bool]) -> Option<usize> {
        let mut least: Option<(f64, usize)> = None;
        for start in (0..closed.len()).step_by(BLOCK) {
            let end = (start + BLOCK).min(closed.len());
            let mut times = [0.0; BLOCK];
            for (column, coefficient) in self.columns.iter().zip(coefficients).filter(|(_, c)| **c > 0.0) {
                times.iter_mut().zip(&column[start..end]).for_each(|(time, value)| *time += coefficient * value);
            }
            for (time, place) in times.into_iter().zip(start..end).filter(|(_, place)| !closed[*place]) {
                if least.is_none_or(|(best, _)| time < best) {
                    least = Some((time, place));
                }
            }
        }
        least.map(|(_, place)| place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_predicted_time_is_that_found_a_place_at_a_time() {
        let size = 3 * BLOCK + 17;
        let counter = |prime: usize| (0..size).map(|place| (place * prime % 1009) as f64).collect::<Vec<f64>>();
        let counters = [counter(31), counter(577), vec![0.0; size]];
        let model = TimeModel::new(counters.iter().map(Vec::as_slice), &vec![true; size]);
        assert_eq!(model.columns.len(), 3, "what is 0 throughout says nothing; what costs the same always is added");
        let coefficients = model.fit(&[(5, 2.0), (900, 3.0), (4000, 1.0), (6000, 2.5)]);
        let mut closed = vec![false; size];
        for _ in 0..50 {
            let found = model.least(&coefficients, &closed).unwrap();
            let time = |place: usize| model.predict(&coefficients, place);
            assert!((0..size).filter(|place| !closed[*place]).all(|place| time(place) >= time(found) - 1e-12));
            closed[found] = true;
        }
        assert_eq!(model.least(&coefficients, &vec![true; size]), None);
    }

    #[test]
    fn times_that_are_sums_of_work_are_learnt_from_a_few_runs() {
        let (a, b): (Vec<f64>, Vec<f64>) =
            ((0..100).map(f64::from).collect(), (0..100).map(|x| f64::from(x * 7 % 100)).collect());
        let model = TimeModel::new([a.as_slice(), b.as_slice()].into_iter(), &[true; 100]);
        let time = |place: usize| 1.0 + 0.012 * a[place] + 0.002 * b[place];
        let runs: Vec<(usize, f64)> = (0..100).step_by(7).map(|place| (place, time(place))).collect();
        let (coefficients, best) = (model.fit(&runs), runs[0].1);
        let error = |place: usize| (model.predict(&coefficients, place) * best / time(place) - 1.0).abs();
        let mean = (0..100).map(error).sum::<f64>() / 100.0;
        // The belief that all work costs the same leaves a bias.
        assert!(mean < 0.15, "{mean}");
    }
}
