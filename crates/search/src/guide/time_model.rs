//! Predicts times as sums of the costs of work.

use tunesmith_model::nonnegative_least_squares;

/// The assumed standard deviation of relative times from a sum in which all work costs the same.
/// The few runs of a search leave most coefficients open, and this assumption keeps them near equal
/// costs.
pub(crate) const BELIEF: f64 = 0.3;
/// Number of places predicted at a time, so that their sums stay in the fastest cache.
const BLOCK: usize = 2048;

/// Predicts times on the tuned device as `sum c_j * counter_j` with `c_j >= 0`. The coefficients
/// are fitted to the device's own measurements and the predicted counters. Counters are relative to
/// their mean over the first configurations, times relative to the best.
#[derive(Clone, Debug)]
pub(crate) struct TimeModel {
    /// For every counter, the divisor of its values, or `None` if the counter does not vary.
    scales: Vec<Option<f64>>,
    /// For every counter that varies, its values by place, followed by a constant column. The
    /// values have 32 bits, half of a prediction's, because reading them takes most of the time.
    columns: Vec<Vec<f32>>,
}

impl TimeModel {
    /// Returns the model of the predicted counters of work, one list each. `known` is true for the
    /// places with values.
    pub(super) fn new(counters: &[&[f64]], known: &[bool]) -> Self {
        let scale = |column: &&[f64]| {
            let values = || column.iter().zip(known).filter(|(_, known)| **known).map(|(value, _)| *value);
            let mean = values().sum::<f64>() / values().count().max(1) as f64;
            let varies = values().any(|value| (value - mean).abs() > 1e-9 * mean);
            Some(mean).filter(|mean| varies && *mean > 0.0)
        };
        Self::scaled(counters.iter().map(scale).collect(), counters, known.len())
    }

    /// Returns the model of the same counters at `places` other places, with the scales of this
    /// model.
    pub(super) fn of_others(&self, counters: &[&[f64]], places: usize) -> Self {
        Self::scaled(self.scales.clone(), counters, places)
    }

    fn scaled(scales: Vec<Option<f64>>, counters: &[&[f64]], places: usize) -> Self {
        let kept = scales.iter().flatten().count();
        let mut model = Self { scales, columns: vec![Vec::new(); kept + 1] };
        model.append(counters, places);
        model
    }

    /// Adds the same counters of more configurations at `places` new places.
    pub(super) fn append(&mut self, counters: &[&[f64]], places: usize) {
        let scales = self.scales.iter().zip(counters).filter_map(|(scale, column)| Some(((*scale)?, *column)));
        for (own, (scale, column)) in self.columns.iter_mut().zip(scales) {
            own.extend(column.iter().map(|value| (value / scale) as f32));
        }
        if let Some(constant) = self.columns.last_mut() {
            constant.resize(constant.len() + places, 1.0);
        }
    }

    /// Returns the coefficients after `runs`, which are places with times. Without runs, all work
    /// costs the same. Cost: the fit of some dozens of coefficients.
    pub(crate) fn fit(&self, runs: &[(usize, f64)]) -> Vec<f64> {
        let best = runs.iter().map(|(_, time)| *time).fold(f64::INFINITY, f64::min);
        let row = |place: usize, time: f64| {
            self.columns.iter().map(|c| f64::from(c[place]) * best / time).collect::<Vec<f64>>()
        };
        // Use relative errors: every run has the same weight.
        let rows: Vec<Vec<f64>> = runs.iter().map(|(place, time)| row(*place, *time)).collect();
        let even = 1.0 / self.columns.len() as f64;
        nonnegative_least_squares(&rows, &vec![1.0; rows.len()], &vec![even; self.columns.len()], BELIEF)
    }

    /// Returns the predicted time of a place, relative to the best measured time.
    pub(crate) fn predict(&self, coefficients: &[f64], place: usize) -> f64 {
        let part = |(column, coefficient): (&Vec<f32>, &f64)| coefficient * f64::from(column[place]);
        self.columns.iter().zip(coefficients).map(part).sum()
    }

    /// Returns the place with the least predicted time among those that are not `closed`, the first
    /// of equal ones. Costs a product per coefficient and place.
    pub(crate) fn least(&self, coefficients: &[f64], closed: &[bool]) -> Option<usize> {
        let mut least: Option<(f32, usize)> = None;
        for start in (0..closed.len()).step_by(BLOCK) {
            let end = (start + BLOCK).min(closed.len());
            let mut times = [0.0_f32; BLOCK];
            for (column, coefficient) in self.columns.iter().zip(coefficients).filter(|(_, c)| **c > 0.0) {
                let coefficient = *coefficient as f32;
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
        let columns: Vec<&[f64]> = counters.iter().map(Vec::as_slice).collect();
        let model = TimeModel::new(&columns, &vec![true; size]);
        assert_eq!(model.columns.len(), 3, "what is 0 throughout says nothing; what costs the same always is added");
        let coefficients = model.fit(&[(5, 2.0), (900, 3.0), (4000, 1.0), (6000, 2.5)]);
        let mut closed = vec![false; size];
        for _ in 0..50 {
            let found = model.least(&coefficients, &closed).unwrap();
            let time = |place: usize| model.predict(&coefficients, place);
            assert!((0..size).filter(|place| !closed[*place]).all(|place| time(place) >= time(found) - 1e-5));
            closed[found] = true;
        }
        assert_eq!(model.least(&coefficients, &vec![true; size]), None);
    }

    #[test]
    fn places_that_are_added_are_predicted_by_the_scales_of_the_first() {
        let (a, zero): (Vec<f64>, Vec<f64>) = ((1..=9).map(f64::from).collect(), vec![0.0; 9]);
        let mut model = TimeModel::new(&[&a, &zero], &[true; 9]);
        let coefficients = model.fit(&[(1, 2.0), (5, 3.0)]);
        let before = model.predict(&coefficients, 3);
        model.append(&[&[4.0], &[7.0]], 1);
        assert_eq!(model.predict(&coefficients, 9), before);
        assert_eq!(model.of_others(&[&[4.0], &[0.0]], 1).predict(&coefficients, 0), before);
    }

    #[test]
    fn times_that_are_sums_of_work_are_learnt_from_a_few_runs() {
        let (a, b): (Vec<f64>, Vec<f64>) =
            ((0..100).map(f64::from).collect(), (0..100).map(|x| f64::from(x * 7 % 100)).collect());
        let model = TimeModel::new(&[&a, &b], &[true; 100]);
        let time = |place: usize| 1.0 + 0.012 * a[place] + 0.002 * b[place];
        let runs: Vec<(usize, f64)> = (0..100).step_by(7).map(|place| (place, time(place))).collect();
        let (coefficients, best) = (model.fit(&runs), runs[0].1);
        let error = |place: usize| (model.predict(&coefficients, place) * best / time(place) - 1.0).abs();
        let mean = (0..100).map(error).sum::<f64>() / 100.0;
        // The assumption that all work costs the same leaves a bias.
        assert!(mean < 0.15, "{mean}");
    }
}
