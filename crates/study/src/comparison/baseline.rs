//! The score of Willemsen et al.: the lead of a search over random search, over time.

use super::curve::Curve;
use super::exact::expected;
use serde::Serialize;

/// Number of equidistant moments at which searches are compared. Between two of them lies less than
/// an evaluation, for all but the hardest recordings. A thousand are enough for three digits.
const MOMENTS: u64 = 1000;

/// The part of the way from the median to the optimum that random search has covered when the
/// comparison ends.
const CUTOFF: f64 = 0.95;

/// The baseline of scores on one recording: random search, computed exactly.
#[derive(Clone, Debug, Serialize)]
pub struct Baseline {
    /// The recording.
    pub recording: String,
    /// The time of the fastest configuration in milliseconds.
    pub optimum_ms: f64,
    /// The median time of the correct configurations in milliseconds.
    pub median_ms: f64,
    /// Mean cost of an evaluation when it was recorded, in seconds, failures included.
    pub evaluation_seconds: f64,
    /// Number of evaluations after which random search has covered 95 % of the way from the median
    /// to the optimum on average.
    pub cutoff_evaluations: u64,
    /// The same in seconds. The score is a mean over this time.
    pub cutoff_seconds: f64,
    /// The slowest correct time. It stands for the best of a search that has nothing correct yet.
    #[serde(skip)]
    slowest_ms: f64,
    /// The mean best time of random search at each of the moments, in milliseconds.
    #[serde(skip)]
    moments_ms: Vec<f64>,
}

impl Baseline {
    /// Computes random search without replacement in a space of `size` configurations. `times` are
    /// those of the correct ones in milliseconds, ascending, at least one. `evaluation_seconds` is
    /// the mean cost of an evaluation, above 0.
    ///
    /// At time t it has made floor(t / cost) evaluations. The mean best of n evaluations follows
    /// from order statistics ([`expected`]). Costs at most a thousand expectations. Each is linear
    /// in the number of times and mostly far cheaper.
    pub(super) fn new(recording: &str, times: &[f64], size: f64, evaluation_seconds: f64) -> Self {
        let (optimum_ms, slowest_ms) = (times[0], times[times.len() - 1]);
        let median_ms = tunesmith_core::statistics::median(times).unwrap_or(optimum_ms);
        let mean_best = |draws: u64| {
            let (sum, found) = expected(times, size, draws, &|time| time);
            sum + (1.0 - found) * slowest_ms
        };
        let target = optimum_ms + (1.0 - CUTOFF) * (median_ms - optimum_ms);
        let (mut below, mut cutoff) = (0, (size as u64).max(1));
        while cutoff - below > 1 {
            let middle = below + (cutoff - below) / 2;
            if mean_best(middle) <= target { cutoff = middle } else { below = middle }
        }
        let (mut last, mut moments_ms) = ((0, slowest_ms), Vec::new());
        for moment in 1..=MOMENTS {
            let draws = (u128::from(cutoff) * u128::from(moment) / u128::from(MOMENTS)) as u64;
            if draws != last.0 {
                last = (draws, mean_best(draws));
            }
            moments_ms.push(last.1);
        }
        let cutoff_seconds = cutoff as f64 * evaluation_seconds;
        let recording = recording.to_string();
        let cutoff_evaluations = cutoff;
        Self {
            recording,
            optimum_ms,
            median_ms,
            evaluation_seconds,
            cutoff_evaluations,
            cutoff_seconds,
            slowest_ms,
            moments_ms,
        }
    }

    /// Returns the performance (F - B) / (optimum - B), averaged over the moments up to the cutoff.
    /// F is the mean best of `searches` and B that of random search. 0 is as good as random search,
    /// 1 finds the optimum at once, and a negative score is worse than random search.
    pub(super) fn score(&self, searches: &[Curve]) -> f64 {
        let performance = |(number, baseline): (usize, &f64)| {
            let seconds = self.cutoff_seconds * (number + 1) as f64 / MOMENTS as f64;
            let best = |curve: &Curve| curve.best_at(seconds).min(self.slowest_ms);
            let mean = searches.iter().map(best).sum::<f64>() / searches.len().max(1) as f64;
            // Once random search has the optimum, no search can be ahead of it.
            if *baseline > self.optimum_ms { (mean - baseline) / (self.optimum_ms - baseline) } else { 0.0 }
        };
        self.moments_ms.iter().enumerate().map(performance).sum::<f64>() / self.moments_ms.len() as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1, 2, ... 100 ms and as many failures.
    fn baseline() -> Baseline {
        let times: Vec<f64> = (1..=100).map(f64::from).collect();
        Baseline::new("r", &times, 200.0, 0.5)
    }

    #[test]
    fn the_cutoff_is_where_the_expected_best_first_reaches_the_target() {
        let baseline = baseline();
        let times: Vec<f64> = (1..=100).map(f64::from).collect();
        let mean_best = |draws| {
            let (sum, found) = expected(&times, 200.0, draws, &|time| time);
            sum + (1.0 - found) * 100.0
        };
        let target = 1.0 + 0.05 * (50.5 - 1.0);
        let found = (1..=200).find(|draws| mean_best(*draws) <= target).unwrap();
        assert_eq!(baseline.cutoff_evaluations, found);
        assert_eq!(baseline.cutoff_seconds, 0.5 * found as f64);
        assert_eq!(baseline.moments_ms.last(), Some(&mean_best(found)));
        assert_eq!((baseline.moments_ms.len(), baseline.moments_ms[0]), (1000, 100.0));
    }

    #[test]
    fn the_score_of_the_optimum_at_once_is_one_and_of_the_slowest_below_zero() {
        let baseline = baseline();
        let held = |best: f64| Curve::holding(0.0, best);
        assert!((baseline.score(&[held(1.0)]) - 1.0).abs() < 1e-12);
        assert!(baseline.score(&[held(100.0)]) < -1.0);
        assert_eq!(baseline.score(&[Curve::default()]), baseline.score(&[held(100.0)]), "nothing found is the slowest");
    }

    #[test]
    fn one_configuration_leaves_nothing_to_win() {
        let baseline = Baseline::new("r", &[3.0], 1.0, 1.0);
        assert_eq!((baseline.cutoff_evaluations, baseline.score(&[Curve::holding(0.5, 3.0)])), (1, 0.0));
    }
}
