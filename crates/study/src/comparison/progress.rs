//! Summarises the curves of many searches for plots.

use super::curve::Curve;
use super::exact;
use tunesmith_report::{PlotSeries, Stretch};

/// The shares of searches that bound a band.
const BAND: (f64, f64) = (0.1, 0.9);

/// Number of moments at which a curve over time is drawn.
const MOMENTS: usize = 80;

/// Number of equally likely bests that stand for the exact distribution of random search.
const LIKELY: usize = 200;

/// Returns the numbers of evaluations at which a curve is drawn: all up to 32, then 2 % apart, and
/// the budget.
pub(super) fn moments(budget: u64) -> Vec<u64> {
    let next = |at: &u64| (*at < budget).then(|| (at + (at / 50).max(1)).min(budget));
    std::iter::successors(Some(1), next).collect()
}

/// Returns the shares of the optimum of `searches`.
pub(super) fn of_searches(label: &str, searches: &[Curve], optimum_ms: f64, budget: u64) -> PlotSeries {
    let shares = |at: u64| sorted(searches.iter().map(|curve| optimum_ms / curve.best_after(at)));
    let stretch = |at: u64| {
        let shares = shares(at);
        let mean = shares.iter().sum::<f64>() / shares.len().max(1) as f64;
        Stretch { at: at as f64, mean, low: quantile(&shares, BAND.0), high: quantile(&shares, BAND.1) }
    };
    let curve = moments(budget).into_iter().map(stretch).collect();
    PlotSeries { label: label.to_string(), curve, last: shares(budget) }
}

/// Returns the shares of the optimum of `searches` between the first best and the last end. The
/// moments are evenly spaced on a logarithmic axis of simulated seconds. Empty if no time passed.
pub(super) fn over_time(label: &str, searches: &[Curve], optimum_ms: f64) -> PlotSeries {
    let first = searches.iter().filter_map(Curve::first_best_at).fold(f64::INFINITY, f64::min);
    let last = searches.iter().map(Curve::ended_at).fold(0.0, f64::max);
    let moment = |number: usize| first * (last / first).powf(number as f64 / (MOMENTS - 1) as f64);
    let stretch = |at: f64| {
        let shares = sorted(searches.iter().map(|curve| optimum_ms / curve.best_at(at)));
        let mean = shares.iter().sum::<f64>() / shares.len().max(1) as f64;
        Stretch { at, mean, low: quantile(&shares, BAND.0), high: quantile(&shares, BAND.1) }
    };
    let has_time = first > 0.0 && first < last;
    let curve = if has_time { (0..MOMENTS).map(moment).map(stretch).collect() } else { Vec::new() };
    let ended = sorted(searches.iter().map(|curve| optimum_ms / curve.best_at(f64::INFINITY)));
    PlotSeries { label: label.to_string(), curve, last: ended }
}

/// Returns the exact shares of the optimum of random search. `times` are those of the correct ones
/// of `size` configurations, ascending.
pub(super) fn of_random(label: &str, times: &[f64], size: f64, budget: u64) -> PlotSeries {
    let share = |at: u64, quantile: f64| times[0] / exact::quantile(times, size, at, quantile);
    let stretch = |at: u64| {
        let mean = exact::expected(times, size, at, &|time| times[0] / time).0;
        // The slowest bests have the smallest shares.
        Stretch { at: at as f64, mean, low: share(at, BAND.1), high: share(at, BAND.0) }
    };
    let curve = moments(budget).into_iter().map(stretch).collect();
    let likely = (0..LIKELY).map(|at| share(budget, (at as f64 + 0.5) / LIKELY as f64));
    PlotSeries { label: label.to_string(), curve, last: sorted(likely) }
}

/// Returns the curve of one strategy over all recordings: the geometric mean of the recordings'
/// means, between the recordings' quantiles. Keeps all last bests.
pub(super) fn over_recordings(label: &str, series: &[&PlotSeries]) -> PlotSeries {
    let stretch = |number: usize| {
        let means = sorted(series.iter().filter_map(|series| Some(series.curve.get(number)?.mean)));
        let logs: f64 = means.iter().map(|mean| mean.ln()).sum();
        let at = series[0].curve[number].at;
        let mean = (logs / means.len().max(1) as f64).exp();
        Stretch { at, mean, low: quantile(&means, BAND.0), high: quantile(&means, BAND.1) }
    };
    let count = series.first().map_or(0, |first| first.curve.len());
    let last = sorted(series.iter().flat_map(|series| series.last.iter().copied()));
    PlotSeries { label: label.to_string(), curve: (0..count).map(stretch).collect(), last }
}

fn sorted(shares: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut shares: Vec<f64> = shares.collect();
    shares.sort_by(f64::total_cmp);
    shares
}

/// Returns the value below which a share `at` of the ascending `values` lies, or 0 without values.
fn quantile(values: &[f64], at: f64) -> f64 {
    let place = (at * values.len() as f64).floor() as usize;
    values.get(place.min(values.len().saturating_sub(1))).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curves_are_drawn_from_the_first_evaluation_to_the_budget() {
        assert_eq!(moments(1), [1]);
        assert_eq!(moments(3), [1, 2, 3]);
        let many = moments(100_000);
        assert!(many.windows(2).all(|pair| pair[0] < pair[1]) && many.len() < 600, "{}", many.len());
        assert_eq!((many[31], many.last()), (32, Some(&100_000)));
    }

    #[test]
    fn over_time_nothing_counts_as_0_until_there_is_something() {
        let searches = [Curve::holding(1.0, 2.0), Curve::holding(4.0, 1.0)];
        let series = over_time("s", &searches, 1.0);
        let ends = [series.curve[0], series.curve[MOMENTS - 1]];
        assert_eq!(ends.map(|stretch| (stretch.at, stretch.mean)), [(1.0, 0.25), (4.0, 0.75)]);
        assert_eq!(series.last, [0.5, 1.0]);
        assert_eq!(searches[1].hit_at(1.5), Some(4.0));
        assert!(over_time("s", &searches[..1], 1.0).curve.is_empty(), "no time passed");
    }

    #[test]
    fn the_exact_band_of_random_search_is_counted_by_hand() {
        // One draw of 1, 2 and a failure: a third each.
        let series = of_random("random", &[1.0, 2.0], 3.0, 1);
        let Stretch { mean, low, high, .. } = series.curve[0];
        assert!((mean - 0.5).abs() < 1e-12);
        assert_eq!((low, high), (0.0, 1.0));
        let thirds = [0.0, 0.5, 1.0].map(|share| series.last.iter().filter(|last| **last == share).count());
        assert_eq!(thirds, [67, 66, 67], "two hundred likely bests");
    }
}
