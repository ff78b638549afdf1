//! The score of Willemsen et al.: the lead of a search over random search, over time.

use super::curve::Curve;
use super::exact::expected;
use serde::Serialize;
use tunesmith_core::{Objective, Source, statistics};

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
    /// The objective that ranks the configurations.
    pub objective: Objective,
    /// The best value of the objective, in its unit.
    pub optimum: f64,
    /// The median value of the correct configurations.
    pub median: f64,
    /// The optimum, if it is a time in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub optimum_ms: Option<f64>,
    /// The median, if it is a time in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub median_ms: Option<f64>,
    /// Mean cost of an evaluation when it was recorded, in seconds, failures included.
    pub evaluation_seconds: f64,
    /// Number of evaluations after which random search has covered 95 % of the way from the median
    /// to the optimum on average.
    pub cutoff_evaluations: u64,
    /// The same in seconds. The score is a mean over this time.
    pub cutoff_seconds: f64,
    /// The least cost.
    #[serde(skip)]
    least: f64,
    /// The largest cost of a correct configuration. It stands for the best of a search that has nothing
    /// correct yet.
    #[serde(skip)]
    largest: f64,
    /// The mean best cost of random search at each of the moments.
    #[serde(skip)]
    moments: Vec<f64>,
}

impl Baseline {
    /// Computes random search without replacement in a space of `size` configurations. `costs` are
    /// those of the correct ones, ascending, at least one; of a time to minimise, they are the times.
    /// `evaluation_seconds` is the mean cost of an evaluation, above 0.
    ///
    /// At time t it has made floor(t / cost) evaluations. The mean best of n evaluations follows
    /// from order statistics ([`expected`]). Costs at most a thousand expectations. Each is linear
    /// in the number of times and mostly far cheaper.
    pub(super) fn new(recording: &str, costs: &[f64], size: f64, evaluation_seconds: f64) -> Self {
        let (least, largest) = (costs[0], costs[costs.len() - 1]);
        let median = statistics::median(costs).unwrap_or(least);
        let mean_best = |draws: u64| {
            let (sum, found) = expected(costs, size, draws, &|cost| cost);
            sum + (1.0 - found) * largest
        };
        let target = least + (1.0 - CUTOFF) * (median - least);
        let (mut below, mut cutoff) = (0, (size as u64).max(1));
        while cutoff - below > 1 {
            let middle = below + (cutoff - below) / 2;
            if mean_best(middle) <= target { cutoff = middle } else { below = middle }
        }
        let (mut last, mut moments) = ((0, largest), Vec::new());
        for moment in 1..=MOMENTS {
            let draws = (u128::from(cutoff) * u128::from(moment) / u128::from(MOMENTS)) as u64;
            if draws != last.0 {
                last = (draws, mean_best(draws));
            }
            moments.push(last.1);
        }
        let cutoff_seconds = cutoff as f64 * evaluation_seconds;
        Self {
            recording: recording.to_string(),
            objective: Objective::time(),
            optimum: least,
            median,
            optimum_ms: None,
            median_ms: None,
            evaluation_seconds,
            cutoff_evaluations: cutoff,
            cutoff_seconds,
            least,
            largest,
            moments,
        }
    }

    /// Returns the baseline with the values of `objective` in its unit, from the ascending scores of the correct
    /// configurations.
    pub(super) fn in_units(self, objective: &Objective, scores: &[f64]) -> Self {
        let value = |score: f64| objective.value(score);
        let (optimum, median) = (value(scores[0]), statistics::median(scores).map_or(self.median, value));
        let ms = |value: f64| (objective.source() == Source::Time).then_some(value);
        let objective = objective.clone();
        Self { objective, optimum, median, optimum_ms: ms(optimum), median_ms: ms(median), ..self }
    }

    /// Returns the performance (F - B) / (optimum - B), averaged over the moments up to the cutoff.
    /// F is the mean best of `searches` and B that of random search. 0 is as good as random search,
    /// 1 finds the optimum at once, and a negative score is worse than random search.
    pub(super) fn score(&self, searches: &[Curve]) -> f64 {
        let performance = |(number, baseline): (usize, &f64)| {
            let seconds = self.cutoff_seconds * (number + 1) as f64 / MOMENTS as f64;
            let best = |curve: &Curve| curve.best_at(seconds).min(self.largest);
            let mean = searches.iter().map(best).sum::<f64>() / searches.len().max(1) as f64;
            // Once random search has the optimum, no search can be ahead of it.
            if *baseline > self.least { (mean - baseline) / (self.least - baseline) } else { 0.0 }
        };
        self.moments.iter().enumerate().map(performance).sum::<f64>() / self.moments.len() as f64
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
        assert_eq!(baseline.moments.last(), Some(&mean_best(found)));
        assert_eq!((baseline.moments.len(), baseline.moments[0]), (1000, 100.0));
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
