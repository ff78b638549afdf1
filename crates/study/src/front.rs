//! The front of a run with several objectives: from a run that has just ended, or from its journal.

use crate::{JudgedRun, samples_of};
use serde::Serialize;
use serde_json::{Map, Value as Json};
use std::collections::BTreeMap;
use tunesmith_core::{Run, non_dominated, statistics};
use tunesmith_problem::{Metric, SearchObjective};
use tunesmith_space::Space;
use tunesmith_store::{Entry, Journal, StoreError, arguments};

/// A configuration that no other one dominates: none is at least as good in every objective, and
/// better in one.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FrontMember {
    /// Parameters and values, in the user's order.
    pub config: Map<String, Json>,
    /// The median of every objective in the search, by name.
    pub objectives: BTreeMap<String, f64>,
}

impl FrontMember {
    /// Returns the configuration in the form that `--config` takes.
    pub fn arguments(&self) -> String {
        arguments(&self.config)
    }
}

/// A member with its scores.
type Scored = (Vec<f64>, Map<String, Json>);

/// Returns the front of a run that has ended. Empty if there is one objective.
pub fn front_of_run(run: &Run, space: &Space, objective: &SearchObjective) -> Vec<FrontMember> {
    let metrics: Vec<Metric> = objective.front().iter().map(|one| one.metric().clone()).collect();
    let member = |config: &tunesmith_space::ConfigId| {
        let scores = run.history.of(*config)?.aspects.as_ref()?.objectives.clone();
        Some((scores, Journal::config(space, &space.unrank(*config))))
    };
    members(run.front.iter().filter_map(member).collect(), &metrics)
}

/// Returns the front of a recorded run. Empty if there is one objective.
///
/// # Errors
/// A line of the journal cannot be read.
pub fn front_of_journal(judged: &JudgedRun<'_>) -> Result<Vec<FrontMember>, StoreError> {
    let metrics = judged.metric.objectives();
    let entries = &judged.recorded.entries;
    let mut all: Vec<Scored> = Vec::new();
    for (at, brief) in entries.briefs().iter().enumerate() {
        if metrics.is_empty() || brief.failure.is_some() || judged.verdict.failed.contains(&brief.index) {
            continue;
        }
        let entry = entries.get(at)?;
        let score = |metric: &Metric| median_score(metric, &entry);
        let scores: Option<Vec<f64>> = metrics.iter().map(score).collect();
        all.extend(scores.map(|scores| (scores, entry.config.clone())));
    }
    let points: Vec<Vec<f64>> = all.iter().map(|(scores, _)| scores.clone()).collect();
    Ok(members(non_dominated(&points).into_iter().map(|at| all[at].clone()).collect(), &metrics))
}

fn median_score(metric: &Metric, entry: &Entry) -> Option<f64> {
    let scores: Vec<f64> =
        samples_of(metric, entry)?.into_iter().map(|value| metric.objective().score(value)).collect();
    statistics::median(&scores)
}

/// Returns the members, the best in the first objective first.
fn members(mut scored: Vec<Scored>, metrics: &[Metric]) -> Vec<FrontMember> {
    scored.sort_by(|one, other| one.0.partial_cmp(&other.0).unwrap_or(std::cmp::Ordering::Equal));
    let member = |(scores, config): Scored| {
        let value = |(metric, score): (&Metric, f64)| {
            (metric.objective().quantity().to_string(), metric.objective().value(score))
        };
        FrontMember { objectives: metrics.iter().zip(scores).map(value).collect(), config }
    };
    scored.into_iter().map(member).collect()
}
