//! Random search without replacement, computed exactly from the distribution of times.

use super::measures::{HIT, LEVELS, MAX_WITHOUT, Measures, budgets};

/// Returns the mean measures of searches that draw uniformly from `size` configurations. `times`
/// are those of the correct configurations, ascending, at least one. The others fail.
///
/// n draws miss all of the fastest i configurations with probability C(size - i, n) / C(size, n).
/// The best is therefore the i-th fastest with the difference of two such probabilities (order
/// statistics of a finite population). Costs the budget times the number of times.
pub(super) fn random(times: &[f64], size: f64, budget: u64) -> Measures {
    let optimum = times[0];
    let hits = |level: f64| times.partition_point(|time| *time <= optimum * level);
    let missed = |level: f64, draws: u64| missed(size, hits(level), draws as f64);
    let expected_used = |level: f64| (0..budget).map(|draws| missed(level, draws)).sum::<f64>();
    let by_level = |number: &dyn Fn(f64) -> f64| LEVELS.map(|(name, level)| (name.to_string(), number(level))).into();
    let rel = |at: u64| (at.to_string(), expected(times, size, at, &|time| optimum / time).0);
    let paper = |draws: &u64| {
        let (sum, found) = expected(times, size, *draws, &|time| time);
        1.0 - found <= MAX_WITHOUT && sum / found <= HIT * optimum
    };
    Measures {
        first_hit_seconds: None,
        ert_seconds: None,
        rel: budgets(budget).into_iter().map(rel).collect(),
        ert: by_level(&|level| expected_used(level) / (1.0 - missed(level, budget))),
        success: by_level(&|level| 1.0 - missed(level, budget)),
        first_hit_mean: expected_used(HIT),
        first_hit_p90: (1..budget).find(|draws| missed(HIT, *draws) <= 0.1).unwrap_or(budget) as f64,
        paper_metric: (1..=budget).find(paper),
    }
}

/// Returns the probability that `draws` of `size` configurations contain none of `wanted`.
fn missed(size: f64, wanted: usize, draws: f64) -> f64 {
    (0..wanted).map(|at| still_missed(size, at, draws)).product()
}

/// Returns the probability that the draws miss the configuration after the `at` fastest, given that
/// they miss those.
fn still_missed(size: f64, at: usize, draws: f64) -> f64 {
    let left = size - at as f64;
    ((left - draws) / left).max(0.0)
}

/// Returns the expectation of `value` of the best time after `draws`, 0 if nothing is correct, and
/// the probability that something is correct.
pub(super) fn expected(times: &[f64], size: f64, draws: u64, value: &dyn Fn(f64) -> f64) -> (f64, f64) {
    let (mut sum, mut none) = (0.0, 1.0);
    for (at, time) in times.iter().enumerate() {
        let still = none * still_missed(size, at, draws as f64);
        sum += (none - still) * value(*time);
        none = still;
        // The rest is too small to change a digit.
        if none < 1e-18 {
            break;
        }
    }
    (sum, 1.0 - none)
}

/// Returns the time that the best after `draws` does not exceed with probability `share`. Infinite
/// if the draws contain a correct configuration with a lower probability than that.
pub(super) fn quantile(times: &[f64], size: f64, draws: u64, share: f64) -> f64 {
    let mut none = 1.0;
    for (at, time) in times.iter().enumerate() {
        none *= still_missed(size, at, draws as f64);
        if 1.0 - none >= share {
            return *time;
        }
    }
    f64::INFINITY
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_cases_are_those_counted_by_hand() {
        // Times 1 and 2 and one failure. One draw: 1/3 optimum, 1/3 half of it, 1/3 nothing.
        let (rel, found) = expected(&[1.0, 2.0], 3.0, 1, &|time| 1.0 / time);
        assert!((rel - 0.5).abs() < 1e-12 && (found - 2.0 / 3.0).abs() < 1e-12);
        // Two draws of three: the optimum is among them in 2 of 3 cases, else the slower one is
        // best.
        let (rel, found) = expected(&[1.0, 2.0], 3.0, 2, &|time| 1.0 / time);
        assert!((rel - 5.0 / 6.0).abs() < 1e-12 && (found - 1.0).abs() < 1e-12);
        // The optimum of three is found by the third draw at the latest: 1 + 2/3 + 1/3 draws on
        // average.
        let measures = random(&[1.0, 2.0], 3.0, 10);
        assert!((measures.ert["1.01"] - 2.0).abs() < 1e-12);
        assert_eq!((measures.success["1.10"], measures.first_hit_p90), (1.0, 3.0));
        assert_eq!(measures.rel["10"], 1.0);
    }
}
