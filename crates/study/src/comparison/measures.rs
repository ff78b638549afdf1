//! The numbers that say how a strategy did, and their means.

use super::curve::Curve;
use serde::Serialize;
use std::collections::BTreeMap;

/// The numbers of evaluations after which the best is looked at.
pub(super) const BUDGETS: [u64; 6] = [10, 25, 50, 100, 200, 400];

/// How near the optimum counts as reached: so many times its time.
pub(super) const LEVELS: [(&str, f64); 3] = [("1.10", 1.10), ("1.05", 1.05), ("1.01", 1.01)];

/// The level of the first hit and of the paper's metric.
pub(super) const HIT: f64 = 1.10;

/// How large a share of searches may have found nothing correct where the paper's metric is already taken, over the others.
pub(super) const MAX_WITHOUT: f64 = 0.01;

/// Those of [`BUDGETS`] that `budget` covers.
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
    /// How many searches the numbers are means of; where they are exact, how many were asked for.
    pub repeats: usize,
    /// Whether the numbers are expectations instead of means.
    pub exact: bool,
    /// How near, and how soon.
    #[serde(flatten)]
    pub measures: Measures,
    /// How far ahead of random search over time: 0 as good as it, 1 the optimum at once (Willemsen et al.; the facade's page
    /// on recordings defines it).
    pub score: f64,
    /// What an evaluation cost beside measuring: the strategy and the loop, on one of the busy cores.
    pub seconds_per_evaluation: f64,
}

/// How near the optimum a strategy came, and how soon.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Measures {
    /// By number of distinct evaluations: the optimum over the best so far, 0 while nothing is correct; the mean.
    #[serde(serialize_with = "in_order")]
    pub rel: BTreeMap<String, f64>,
    /// By level: evaluations used up to the first hit or the budget, summed, over successes; no success counts one half.
    pub ert: BTreeMap<String, f64>,
    /// By level: the share of searches that reached it.
    pub success: BTreeMap<String, f64>,
    /// Evaluations, configurations asked again included, until within 1.10 of the optimum; the budget where it is not
    /// reached. The mean.
    pub first_hit_mean: f64,
    /// The same: as many are enough in nine of ten searches.
    pub first_hit_p90: f64,
    /// Simulated seconds until within 1.10 of the optimum; the whole search where it is not reached. The mean; `None` where searches
    /// are not simulated, or recordings do not say what evaluations took.
    pub first_hit_seconds: Option<f64>,
    /// The evaluation after which the best so far, averaged over searches, is within 1.10 of the optimum.
    pub paper_metric: Option<u64>,
}

impl Measures {
    /// The measures of `searches`, of which there is at least one, on a recording whose best time is `optimum_ms`.
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
        let mut first: Vec<f64> = searches.iter().map(|curve| used(curve, HIT)).collect();
        first.sort_by(f64::total_cmp);
        let p90 = (0.9 * count).ceil() as usize;
        Self {
            rel: rel.collect(),
            ert: by_level(&|level| count * mean(&|curve| used(curve, level)) / hits(level).max(0.5)),
            success: by_level(&|level| hits(level) / count),
            first_hit_mean: mean(&|curve| used(curve, HIT)),
            first_hit_p90: first.get(p90.max(1) - 1).copied().unwrap_or(budget as f64),
            first_hit_seconds: Some(mean(&|curve| curve.hit_at(optimum_ms * HIT))).filter(|seconds| *seconds > 0.0),
            paper_metric: (1..=budget).find(|at| mean_best(searches, *at) <= HIT * optimum_ms),
        }
    }
}

/// The mean best after `at` evaluations, infinite while too many searches have none.
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
    /// As of a recording; the geometric mean.
    #[serde(serialize_with = "in_order")]
    pub rel: BTreeMap<String, f64>,
    /// As of a recording; the geometric mean.
    pub ert: BTreeMap<String, f64>,
    /// As of a recording; the mean.
    pub score: f64,
}

impl Overall {
    /// The geometric means of `scores`.
    pub(super) fn of(strategy: &str, scores: &[&Score]) -> Self {
        let mean = |of: fn(&Measures) -> &BTreeMap<String, f64>| {
            let keys = scores.first().into_iter().flat_map(|score| of(&score.measures).keys().cloned());
            let geometric = |key: &String| {
                let logs: f64 = scores.iter().map(|score| of(&score.measures)[key].ln()).sum();
                (logs / scores.len() as f64).exp()
            };
            keys.map(|key| (key.clone(), geometric(&key))).collect()
        };
        Self {
            strategy: strategy.to_string(),
            rel: mean(|measures| &measures.rel),
            ert: mean(|measures| &measures.ert),
            score: scores.iter().map(|score| score.score).sum::<f64>() / scores.len().max(1) as f64,
        }
    }
}

/// Numbers of evaluations in ascending order, which as texts they are not.
fn in_order<S: serde::Serializer>(rel: &BTreeMap<String, f64>, serializer: S) -> Result<S::Ok, S::Error> {
    let mut entries: Vec<(&String, &f64)> = rel.iter().collect();
    entries.sort_by_key(|(at, _)| at.parse::<u64>().unwrap_or(u64::MAX));
    serializer.collect_map(entries)
}
