//! Ranks the best configurations of a recorded run.

use crate::Error;
use crate::metrics::Metric;
use crate::outcome::final_medians;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value as Json};
use std::collections::HashMap;
use std::path::Path;
use tunesmith_core::{CompileData, Measurement, Role, Target, statistics};
use tunesmith_store::{Again, Entry, Journal, Recorded};

/// The best configurations of a run.
#[derive(Clone, Debug, Serialize)]
pub struct Top {
    /// The problem's name.
    pub problem: String,
    /// The objective of the run.
    #[serde(serialize_with = "as_text")]
    pub objective: Target,
    /// Number of evaluations in the journal.
    pub evaluations: usize,
    /// Number of correct ones among them.
    pub correct: usize,
    /// The median time of the default configuration, if it was evaluated and correct.
    pub default_ms: Option<f64>,
    /// The best configurations, the best first.
    pub configs: Vec<TopConfig>,
}

/// One of the best configurations.
#[derive(Clone, Debug, Serialize)]
pub struct TopConfig {
    /// The rank in the space, in decimal.
    pub index: String,
    /// Parameters and values, in the user's order.
    pub config: Map<String, Json>,
    /// The median time: of the final re-measurement for finalists, else of all samples.
    pub time_ms: f64,
    /// A 95 % interval of the median.
    pub ci95_ms: (f64, f64),
    /// Number of these samples; for finalists, of visits.
    pub samples: usize,
    /// The value of the objective, if it is not time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    /// The speed-up over the default configuration. For finalists it is based on the times of the
    /// final re-measurement if that measured the default too, and otherwise on those of the search.
    pub speedup: Option<f64>,
}

impl TopConfig {
    /// Returns the configuration in the form that `--config` takes.
    pub fn arguments(&self) -> String {
        crate::outcome::arguments(&self.config)
    }
}

fn as_text<S: Serializer>(target: &Target, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(target)
}

/// Returns the `count` best configurations of the journal at `path`. First come the winner of its
/// final re-measurement and its ties, then the others by their medians, each by the samples that
/// count for it.
///
/// # Errors
/// The journal cannot be read.
pub fn top(path: &Path, count: usize) -> Result<Top, Error> {
    Ok(top_of(&tunesmith_store::read(path)?, count))
}

/// Returns the `count` best configurations of a journal that was read.
pub(crate) fn top_of(recorded: &Recorded, count: usize) -> Top {
    let mut again: HashMap<&str, Vec<&Again>> = HashMap::new();
    for line in recorded.current() {
        again.entry(line.entry.index.as_str()).or_default().push(line);
    }
    let place = places(recorded);
    let of = |entry: &Entry| counted(entry, again.get(entry.index.as_str()).map_or(&[], Vec::as_slice));
    let default = recorded.header.default.as_ref();
    let default = recorded.entries.iter().find(|entry| Some(&entry.config) == default);
    let searched_ms = default.filter(|entry| of(entry).is_some()).and_then(|entry| statistics::median(&entry.times_ms));
    let default_ms = default.and_then(of).and_then(|counted| statistics::median(&counted.times_ms));
    let metric = Metric::of(&recorded.header);
    let config = |entry: &Entry| {
        let Counted { times_ms: times, in_final } = of(entry)?;
        let value = match &metric {
            Some(metric) => Some(value(metric, entry, again.get(entry.index.as_str()).map_or(&[], Vec::as_slice))?),
            None => None,
        };
        let time_ms = statistics::median(&times)?;
        Some(TopConfig {
            index: entry.index.clone(),
            config: entry.config.clone(),
            time_ms,
            ci95_ms: statistics::median_interval(&times, 0.95)?,
            samples: times.len(),
            value,
            speedup: if in_final { default_ms } else { searched_ms }.map(|default| default / time_ms),
        })
    };
    let mut configs: Vec<TopConfig> = recorded.entries.iter().filter_map(config).collect();
    let correct = configs.len();
    let place = |config: &TopConfig| place.get(config.index.as_str()).copied().unwrap_or(usize::MAX);
    let score = |config: &TopConfig| match (&metric, config.value) {
        (Some(metric), Some(value)) => metric.value(value),
        _ => config.time_ms,
    };
    configs.sort_by(|a, b| place(a).cmp(&place(b)).then_with(|| score(a).total_cmp(&score(b))));
    configs.truncate(count);
    let problem = recorded.header.problem.clone();
    let objective = metric.map_or(Target::Time, |metric| metric.target());
    Top { problem, objective, evaluations: recorded.entries.len(), correct, default_ms, configs }
}

/// Returns the objective's value of a correct configuration, by the samples that count for it, or
/// `None` if it has none.
fn value(metric: &Metric, entry: &Entry, again: &[&Again]) -> Option<f64> {
    let parameter = |name: &str| entry.config.get(name).and_then(Journal::value_of);
    let values = |entry: &Entry| {
        let (times_ms, values) = (entry.times_ms.clone(), entry.values.clone());
        let compile =
            entry.compile.as_ref().map(|compile| CompileData { time_ms: compile.time_ms, ..CompileData::default() });
        metric.samples(&parameter, &Measurement { times_ms, values, compile, ..Measurement::default() }).ok()
    };
    let visits: Vec<(Role, Vec<f64>)> =
        again.iter().filter_map(|line| Some((line.role()?, values(&line.entry)?))).collect();
    let finals = final_medians(visits.iter().map(|(role, values)| (*role, values.as_slice())));
    statistics::median(&if finals.is_empty() { values(entry)? } else { finals })
}

/// The samples that count for a configuration.
struct Counted {
    times_ms: Vec<f64>,
    /// True if they are visits of the final re-measurement.
    in_final: bool,
}

/// Returns the samples that count for a configuration, or `None` if it failed, at first or later.
fn counted(entry: &Entry, again: &[&Again]) -> Option<Counted> {
    let mut all = again.iter().map(|line| &line.entry).chain([entry]);
    if !all.all(|entry| matches!(entry.failure(), Ok(None))) {
        return None;
    }
    let visits = again.iter().filter_map(|line| Some((line.role()?, line.entry.times_ms.as_slice())));
    let finals = final_medians(visits);
    let in_final = !finals.is_empty();
    Some(Counted { times_ms: if in_final { finals } else { entry.times_ms.clone() }, in_final })
}

/// Returns the winner of the final re-measurement and its ties, by index, with their places.
fn places(recorded: &Recorded) -> HashMap<&str, usize> {
    let Some(verdict) = &recorded.verdict else { return HashMap::new() };
    let order = std::iter::once(&verdict.winner).chain(&verdict.ties);
    order.enumerate().map(|(place, index)| (index.as_str(), place)).collect()
}
