//! Measures of a strategy's quality, and their means.

use super::curve::Curve;
use super::in_seconds::InSeconds;
use serde::Serialize;
use std::collections::BTreeMap;

/// Numbers of evaluations after which the best is measured.
pub(super) const BUDGETS: [u64; 6] = [10, 25, 50, 100, 200, 400];

/// Levels that count as reaching the optimum, as multiples of its time.
pub(super) const LEVELS: [(&str, f64); 3] = [("1.10", 1.10), ("1.05", 1.05), ("1.01", 1.01)];

/// The level of the first hit and of the paper's metric.
pub(super) const HIT: f64 = 1.10;

/// Maximum share of searches without any correct result for which the paper's metric is taken, over
/// the other searches.
pub(super) const MAX_WITHOUT: f64 = 0.01;

/// Returns those of [`BUDGETS`] that `budget` covers.
pub(super) fn budgets(budget: u64) -> Vec<u64> {
    BUDGETS.into_iter().filter(|count| *count <= budget).collect()
}

/// One strategy on one recording.
#[derive(Clone, Debug, Serialize)]
pub struct Score {
    /// The strategy, as the user wrote it.
    pub strategy: String,
    /// The recording's name.
    pub recording: String,
    /// Number of searches that the numbers are means of. For exact numbers, the number requested.
    pub repeats: usize,
    /// True if the numbers are exact expectations instead of means.
    pub exact: bool,
    /// The nearness to the optimum, and the cost of reaching it.
    #[serde(flatten)]
    pub measures: Measures,
    /// The lead over random search over time: 0 is as good as random search, 1 finds the optimum at
    /// once (Willemsen et al.; the facade's page on recordings defines it).
    pub score: f64,
    /// Time of an evaluation without measuring: the strategy and the loop, on one of the busy
    /// cores.
    pub seconds_per_evaluation: f64,
    /// The nearness to the optimum after simulated seconds, if strategies are judged by it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds: Option<InSeconds>,
}

/// The nearness of a strategy to the optimum, and the cost of reaching it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Measures {
    /// By number of distinct evaluations: the mean of the optimum over the best so far, 0 while
    /// nothing is correct.
    #[serde(serialize_with = "in_order")]
    pub rel: BTreeMap<String, f64>,
    /// By level: the evaluations up to the first hit or the budget, summed, over the number of
    /// successes. No success counts as one half.
    pub ert: BTreeMap<String, f64>,
    /// By level: the share of searches that reached it.
    pub success: BTreeMap<String, f64>,
    /// Mean number of evaluations until within 1.10 of the optimum, repeated requests included. A
    /// search that does not reach it counts as the budget.
    pub first_hit_mean: f64,
    /// The number of evaluations that is enough in nine of ten searches.
    pub first_hit_p90: f64,
    /// Mean simulated time in seconds until within 1.10 of the optimum. A search that does not
    /// reach it counts in full. `None` if searches are not simulated, or if recordings do not have
    /// the cost of evaluations.
    pub first_hit_seconds: Option<f64>,
    /// As [`ert`](Self::ert), in simulated seconds. `None` as above.
    pub ert_seconds: Option<BTreeMap<String, f64>>,
    /// The number of the evaluation after which the best so far, averaged over searches, is within
    /// 1.10 of the optimum.
    pub paper_metric: Option<u64>,
}

impl Measures {
    /// Returns the measures of `searches`, at least one, on a recording whose best time is
    /// `optimum_ms`.
    pub(super) fn of(searches: &[Curve], optimum_ms: f64, budget: u64) -> Self {
        let count = searches.len().max(1) as f64;
        let mean = |number: &dyn Fn(&Curve) -> f64| searches.iter().map(number).sum::<f64>() / count;
        let used = |curve: &Curve, level: f64| curve.first_hit(optimum_ms * level).unwrap_or(budget) as f64;
        let hits =
            |level: f64| searches.iter().filter(|curve| curve.first_hit(optimum_ms * level).is_some()).count() as f64;
        let by_level =
            |number: &dyn Fn(f64) -> f64| LEVELS.map(|(name, level)| (name.to_string(), number(level))).into();
        let rel =
            budgets(budget).into_iter().map(|at| (at.to_string(), mean(&|curve| optimum_ms / curve.best_after(at))));
        let seconds = |level: f64| {
            let reached = searches.iter().filter(|curve| curve.hit_at(optimum_ms * level).is_some()).count() as f64;
            let used = |curve: &Curve| curve.hit_at(optimum_ms * level).unwrap_or(curve.ended_at());
            count * mean(&used) / reached.max(0.5)
        };
        let has_time = searches.iter().any(|curve| curve.ended_at() > 0.0);
        let mut first: Vec<f64> = searches.iter().map(|curve| used(curve, HIT)).collect();
        first.sort_by(f64::total_cmp);
        let p90 = (0.9 * count).ceil() as usize;
        Self {
            rel: rel.collect(),
            ert: by_level(&|level| count * mean(&|curve| used(curve, level)) / hits(level).max(0.5)),
            success: by_level(&|level| hits(level) / count),
            first_hit_mean: mean(&|curve| used(curve, HIT)),
            first_hit_p90: first.get(p90.max(1) - 1).copied().unwrap_or(budget as f64),
            first_hit_seconds: has_time
                .then(|| mean(&|curve| curve.hit_at(optimum_ms * HIT).unwrap_or(curve.ended_at()))),
            ert_seconds: has_time.then(|| by_level(&seconds)),
            paper_metric: (1..=budget).find(|at| mean_best(searches, *at) <= HIT * optimum_ms),
        }
    }
}

/// Returns the mean best after `at` evaluations. Infinite if too many searches have no correct
/// result.
fn mean_best(searches: &[Curve], at: u64) -> f64 {
    let best: Vec<f64> =
        searches.iter().map(|curve| curve.best_after_evaluations(at)).filter(|ms| ms.is_finite()).collect();
    let without = 1.0 - best.len() as f64 / searches.len().max(1) as f64;
    if best.is_empty() || without > MAX_WITHOUT { f64::INFINITY } else { best.iter().sum::<f64>() / best.len() as f64 }
}

/// One strategy over all recordings.
#[derive(Clone, Debug, Serialize)]
pub struct Overall {
    /// The strategy, as the user wrote it.
    pub strategy: String,
    /// As in [`Measures`]; the geometric mean over recordings.
    #[serde(serialize_with = "in_order")]
    pub rel: BTreeMap<String, f64>,
    /// As in [`Measures`]; the geometric mean over recordings.
    pub ert: BTreeMap<String, f64>,
    /// As in [`Measures`]; the geometric mean over recordings, if all have it.
    pub ert_seconds: Option<BTreeMap<String, f64>>,
    /// As in [`Score`]; the mean over recordings.
    pub score: f64,
    /// The shares of the optimum by the number of medians, as in [`InSeconds`]; the geometric mean over recordings.
    /// `None` if strategies are not judged by seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds: Option<BTreeMap<String, f64>>,
}

impl Overall {
    /// Returns the geometric means of `scores`.
    pub(super) fn of(strategy: &str, scores: &[&Score]) -> Self {
        let numbers = |of: fn(&Measures) -> Option<&BTreeMap<String, f64>>| {
            let all: Option<Vec<_>> = scores.iter().map(|score| of(&score.measures).cloned()).collect();
            all.map(|all| geometric_means(&all))
        };
        let shares = |seconds: &InSeconds| -> BTreeMap<String, f64> {
            seconds.by_median.iter().map(|(medians, at)| (medians.clone(), at.rel)).collect()
        };
        let in_seconds: Option<Vec<_>> = scores.iter().map(|score| score.seconds.as_ref().map(shares)).collect();
        Self {
            strategy: strategy.to_string(),
            rel: numbers(|measures| Some(&measures.rel)).unwrap_or_default(),
            ert: numbers(|measures| Some(&measures.ert)).unwrap_or_default(),
            ert_seconds: numbers(|measures| measures.ert_seconds.as_ref()),
            score: scores.iter().map(|score| score.score).sum::<f64>() / scores.len().max(1) as f64,
            seconds: in_seconds.map(|all| geometric_means(&all)),
        }
    }
}

/// Returns the geometric mean of each number.
fn geometric_means(all: &[BTreeMap<String, f64>]) -> BTreeMap<String, f64> {
    let geometric = |key: &String| {
        let logs: f64 = all.iter().map(|numbers| numbers[key].ln()).sum();
        (logs / all.len() as f64).exp()
    };
    let keys = all.first().into_iter().flat_map(|first| first.keys().cloned());
    keys.map(|key| (key.clone(), geometric(&key))).collect()
}

/// Writes numbers of evaluations in ascending order, which differs from their order as texts.
fn in_order<S: serde::Serializer>(rel: &BTreeMap<String, f64>, serializer: S) -> Result<S::Ok, S::Error> {
    let mut entries: Vec<(&String, &f64)> = rel.iter().collect();
    entries.sort_by_key(|(at, _)| at.parse::<u64>().unwrap_or(u64::MAX));
    serializer.collect_map(entries)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_seconds_of_a_search_that_misses_count_for_those_that_hit() {
        let searches = [Curve::holding(4.0, 1.0), Curve::holding(6.0, 1.08)];
        let seconds = Measures::of(&searches, 1.0, 1).ert_seconds.unwrap();
        assert_eq!([seconds["1.10"], seconds["1.05"]], [5.0, 10.0]);
        assert_eq!(Measures::of(&[Curve::holding(0.0, 1.0)], 1.0, 1).ert_seconds, None, "no time passed");
    }
}
