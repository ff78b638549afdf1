//! What a tuning run gave, as the command line prints it and other programs read it.

use serde::Serialize;
use serde_json::{Map, Value as Json};
use std::collections::BTreeMap;
use std::path::PathBuf;
use tunesmith_core::{Evaluation, FailureKind, Scored, statistics};
use tunesmith_space::Space;
use tunesmith_store::Journal;

/// The result of a tuning run. Its JSON form is a contract: see `tune --json` in the interface.
#[derive(Clone, Debug, Serialize)]
pub struct Outcome {
    /// The problem's name.
    pub problem: String,
    /// The device, by name.
    pub device: String,
    /// The strategy, as the user wrote it.
    pub strategy: String,
    /// The seed.
    pub seed: u64,
    /// Why the run ended.
    pub stop_reason: String,
    /// Evaluations made, failures and resumed ones included.
    pub evaluations: u64,
    /// How many of them were taken from the resumed journal.
    pub resumed: usize,
    /// Failed evaluations by kind.
    pub failed: BTreeMap<&'static str, usize>,
    /// The commonest message of each kind of failure.
    #[serde(skip)]
    pub common_failures: Vec<(FailureKind, usize, String)>,
    /// The configuration that speed-ups refer to, when it was evaluated.
    pub default: Option<Candidate>,
    /// The best correct configuration.
    pub best: Option<Candidate>,
    /// Correct configurations whose 95 % interval reaches below the upper end of the best one's.
    pub ties: Vec<Candidate>,
    /// The number of configurations, in decimal.
    pub space_size: String,
    /// Wall time of this part of the run, building the space included.
    pub wall_seconds: f64,
    /// Where the wall time went.
    pub seconds: SecondsOfRun,
    /// The journal.
    pub out: Option<PathBuf>,
}

/// Where the time of the measuring thread went, in seconds; the parts add up to the wall time.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct SecondsOfRun {
    /// Building the space.
    pub space: f64,
    /// In the strategy.
    pub search: f64,
    /// Waiting for compilations.
    pub compile: f64,
    /// Running kernels.
    pub run: f64,
    /// Making data and the reference's results, and comparing outputs with them.
    pub verify: f64,
    /// Writing the journal.
    pub store: f64,
    /// Everything else: the loop, the progress display, looking at the compiler.
    pub other: f64,
}

/// One configuration with what was measured of it.
#[derive(Clone, Debug, Serialize)]
pub struct Candidate {
    /// Parameters and values, in the user's order.
    pub config: Map<String, Json>,
    /// The rank of the configuration in its space, in decimal.
    pub index: String,
    /// `correct`, or how it failed.
    pub status: String,
    /// The median of all timed samples; none where the configuration failed.
    pub time_ms: Option<f64>,
    /// A 95 % interval of the median.
    pub ci95_ms: Option<(f64, f64)>,
    /// The median when the configuration was first measured.
    pub first_time_ms: Option<f64>,
    /// All timed samples.
    pub times_ms: Vec<f64>,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

impl Candidate {
    pub(crate) fn new(space: &Space, evaluation: &Evaluation) -> Self {
        let id = evaluation.request.config;
        let times = &evaluation.measurement.times_ms;
        let correct = evaluation.is_correct();
        let median = statistics::median(times).filter(|_| correct);
        Self {
            config: Journal::config(space, &space.unrank(id)),
            index: id.to_string(),
            status: evaluation.status_word().to_string(),
            time_ms: median,
            ci95_ms: statistics::median_interval(times, 0.95).filter(|_| correct),
            first_time_ms: median,
            times_ms: times.clone(),
            message: evaluation.failure.as_ref().map(|failure| failure.message.clone()),
        }
    }

    /// The configuration in the form that `--config` and `--start` take.
    pub fn arguments(&self) -> String {
        arguments(&self.config)
    }
}

/// `NAME=VALUE,...` of a configuration.
pub(crate) fn arguments(config: &Map<String, Json>) -> String {
    let pair = |(name, value): (&String, &Json)| match value {
        Json::String(text) => format!("{name}={text}"),
        other => format!("{name}={other}"),
    };
    config.iter().map(pair).collect::<Vec<_>>().join(",")
}

/// Those of `ranked`, the best of which is first, that the best cannot be told from.
pub(crate) fn ties(space: &Space, ranked: &[&Scored]) -> Vec<Candidate> {
    let interval = |scored: &Scored| statistics::median_interval(&scored.evaluation.measurement.times_ms, 0.95);
    let Some((_, high)) = ranked.first().and_then(|best| interval(best)) else { return Vec::new() };
    let overlaps = |scored: &&&Scored| interval(scored).is_some_and(|(low, _)| low <= high);
    ranked[1..].iter().filter(overlaps).map(|scored| Candidate::new(space, &scored.evaluation)).collect()
}

/// For each kind of failure how often it occurred and its commonest headline, the commonest kind first.
pub(crate) fn common_failures<'a>(
    evaluations: impl Iterator<Item = &'a Evaluation>,
) -> Vec<(FailureKind, usize, String)> {
    let mut headlines: BTreeMap<FailureKind, BTreeMap<&str, usize>> = BTreeMap::new();
    for failure in evaluations.filter_map(|evaluation| evaluation.failure.as_ref()) {
        *headlines.entry(failure.kind).or_default().entry(failure.headline()).or_default() += 1;
    }
    let commonest = |(kind, counts): (FailureKind, BTreeMap<&str, usize>)| {
        let headline = counts.iter().max_by_key(|(_, count)| **count).map(|(headline, _)| (*headline).to_string());
        (kind, counts.values().sum::<usize>(), headline.unwrap_or_default())
    };
    let mut failures: Vec<_> = headlines.into_iter().map(commonest).collect();
    failures.sort_by_key(|(_, count, _)| std::cmp::Reverse(*count));
    failures
}
