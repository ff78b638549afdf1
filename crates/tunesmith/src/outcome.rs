//! What a tuning run gave, as the command line prints it and other programs read it.

use crate::metrics::Target;
use serde::Serialize;
use serde_json::{Map, Value as Json};
use std::collections::BTreeMap;
use std::path::PathBuf;
use tunesmith_core::judge::standing::counted;
use tunesmith_core::{Evaluation, Failure, FailureKind, Objective, RegretBound, Resample, Role, Run, statistics};
use tunesmith_space::Space;
pub(crate) use tunesmith_store::arguments;
use tunesmith_store::{DriftLine, Journal};

/// The result of a tuning run. Its JSON form is a contract: see `tune --json` in the interface.
#[derive(Clone, Debug, Serialize)]
pub struct Outcome {
    /// The problem's name.
    pub problem: String,
    /// The device, by name.
    pub device: String,
    /// The strategy, as the user wrote it.
    pub strategy: String,
    /// What the user was told of the counter model and the counters.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The seed.
    pub seed: u64,
    /// What was optimised.
    pub objective: String,
    /// Why the run ended.
    pub stop_reason: String,
    /// Evaluations made, failures and resumed ones included.
    pub evaluations: u64,
    /// How many of them were taken from the resumed journal.
    pub resumed: usize,
    /// Failed evaluations by kind.
    pub failed: BTreeMap<&'static str, usize>,
    /// Correct configurations without a value of the objective: how many, and the reason of the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unscored: Option<(usize, String)>,
    /// The commonest message of each kind of failure.
    #[serde(skip)]
    pub common_failures: Vec<(FailureKind, usize, String)>,
    /// The configuration that speed-ups refer to, when it was evaluated. A final measures it beside the winner, in the same rounds.
    pub default: Option<Candidate>,
    /// The best correct configuration.
    pub best: Option<Candidate>,
    /// Correct configurations that the best cannot be told from, the best of them first.
    pub ties: Vec<Candidate>,
    /// Configurations measured again in turn at the end of the search; 0 when there was no final.
    pub finalists: usize,
    /// Configurations that were correct and failed when they were measured again; none of them can be the best.
    pub failed_again: Vec<Candidate>,
    /// What measuring a reference through the run showed; none where it was not.
    pub drift: Option<DriftLine>,
    /// What the model of the device holds possible; none without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<ModelledLimit>,
    /// How sure it is that the best is near the optimum: the latest estimate for each `regret` of the stop condition.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub regret: Vec<RegretClaim>,
    /// The number of configurations, in decimal.
    pub space_size: String,
    /// Wall time of this part of the run, building the space included.
    pub wall_seconds: f64,
    /// What the run would have taken by the recorded costs of its evaluations, earlier parts of a resumed one included: the time
    /// that its stop conditions saw. On recordings alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub simulated_seconds: Option<f64>,
    /// Where the wall time went.
    pub seconds: SecondsOfRun,
    /// The journal.
    pub out: Option<PathBuf>,
}

/// The time that a model holds possible, and how far the run came.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct ModelledLimit {
    /// The time that no variant of the kernel falls below by the model.
    pub time_ms: f64,
    /// This time over that of the best configuration: 1 at the limit, above where the model is too slow; none without a best one.
    pub share: Option<f64>,
}

/// An estimate of what is left to find.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct RegretClaim {
    /// How far above the optimum the best may be: 0.02 is 2 %.
    pub regret: f64,
    /// The probability that it is no farther.
    pub probability: f64,
    /// The evaluations from which that was estimated.
    pub evaluations: u64,
}

impl From<&RegretBound> for RegretClaim {
    fn from(bound: &RegretBound) -> Self {
        Self { regret: bound.share, probability: bound.probability, evaluations: bound.evaluations }
    }
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
    /// The median time: of the final for who was measured in it, else of all samples; none where the configuration failed.
    pub time_ms: Option<f64>,
    /// A 95 % interval of that median.
    pub ci95_ms: Option<(f64, f64)>,
    /// The median when the configuration was first measured.
    pub first_time_ms: Option<f64>,
    /// All samples of the search.
    pub times_ms: Vec<f64>,
    /// The medians of the visits in the final, for finalists and the default configuration.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub final_times_ms: Vec<f64>,
    /// Of a composite problem: the median time of each kernel by its name, over all samples of the search.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub parts_ms: BTreeMap<String, f64>,
    /// The medians of the other numbers that its runs yielded, by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub values: BTreeMap<String, f64>,
    /// The value of the objective, where that is not time; as of the time, of the final for who was in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    /// A 95 % interval of that value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value_ci95: Option<(f64, f64)>,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

impl Candidate {
    /// A configuration with its evaluation and what of `resamples` is about it.
    pub(crate) fn new(space: &Space, evaluation: &Evaluation, resamples: &[Resample]) -> Self {
        let id = evaluation.request.config;
        let own = resamples.iter().filter(|resample| resample.config == id);
        let (failed, correct): (Vec<_>, Vec<_>) = own.partition(|resample| resample.failure.is_some());
        let failure = evaluation.failure.as_ref().or_else(|| failed.first()?.failure.as_ref());
        let finals = final_medians(correct.iter().map(|again| (again.role, again.measurement.times_ms.as_slice())));
        let times = &evaluation.measurement.times_ms;
        let counted = Some(if finals.is_empty() { times } else { &finals }).filter(|_| failure.is_none());
        Self {
            config: Journal::config(space, &space.unrank(id)),
            index: id.to_string(),
            status: failure.map_or("correct", |failure| failure.kind.word()).to_string(),
            time_ms: counted.and_then(|times| statistics::median(times)),
            ci95_ms: counted.and_then(|times| statistics::median_interval(times, 0.95)),
            first_time_ms: statistics::median(times).filter(|_| evaluation.is_correct()),
            times_ms: times.clone(),
            message: failure.map(|failure| failure.message.clone()),
            final_times_ms: finals,
            parts_ms: medians(&evaluation.measurement.parts_ms),
            values: medians(&evaluation.measurement.values),
            value: None,
            value_ci95: None,
        }
    }

    /// The configuration in the form that `--config` and `--start` take.
    pub fn arguments(&self) -> String {
        arguments(&self.config)
    }
}

fn medians(samples: &BTreeMap<String, Vec<f64>>) -> BTreeMap<String, f64> {
    samples.iter().filter_map(|(name, samples)| Some((name.clone(), statistics::median(samples)?))).collect()
}

impl Outcome {
    /// Adds the values of an objective that is not time.
    pub(crate) fn add_values(&mut self, run: &Run, objective: &dyn Objective, target: &Target) {
        let candidates = self.best.iter_mut().chain(&mut self.default).chain(&mut self.ties);
        for candidate in candidates.filter(|candidate| candidate.time_ms.is_some()) {
            let of = |scored: &&tunesmith_core::Scored| {
                scored.score.is_some() && scored.evaluation.request.config.to_string() == candidate.index
            };
            let Some(scored) = run.history.iter().find(of) else { continue };
            let config = scored.evaluation.request.config;
            let scores = |measurement: &tunesmith_core::Measurement| objective.samples(config, measurement).ok();
            let own = run.resamples.iter().filter(|again| again.config == config);
            let visits: Vec<(Role, Vec<f64>)> =
                own.filter_map(|again| Some((again.role, scores(&again.measurement)?))).collect();
            let finals = final_medians(visits.iter().map(|(role, scores)| (*role, scores.as_slice())));
            let counted = if finals.is_empty() { scores(&scored.evaluation.measurement) } else { Some(finals) };
            let counted = counted.unwrap_or_default();
            candidate.value = statistics::median(&counted).map(|score| target.value(score));
            candidate.value_ci95 = statistics::median_interval(&counted, 0.95).map(|(low, high)| {
                let (a, b) = (target.value(low), target.value(high));
                (a.min(b), a.max(b))
            });
        }
    }
}

/// How many correct configurations have no value of the objective, and why the first has none.
pub(crate) fn unscored<'a>(
    evaluations: impl Iterator<Item = &'a Evaluation>,
    objective: &dyn Objective,
) -> Option<(usize, String)> {
    let reason = |evaluation: &Evaluation| objective.samples(evaluation.request.config, &evaluation.measurement).err();
    let mut reasons = evaluations.filter(|evaluation| evaluation.is_correct()).filter_map(reason);
    let first = reasons.next()?;
    Some((1 + reasons.count(), first))
}

/// The median of every visit of one configuration that counts ([`counted`]). Empty for one that was in no final.
pub(crate) fn final_medians<'a>(visits: impl Iterator<Item = (Role, &'a [f64])>) -> Vec<f64> {
    counted(visits.filter_map(|(role, samples)| Some((role.stage()?, statistics::median(samples)?))))
}

/// For each kind of failure how often it occurred and its commonest headline, the commonest kind first.
pub(crate) fn common_failures<'a>(failures: impl Iterator<Item = &'a Failure>) -> Vec<(FailureKind, usize, String)> {
    let mut headlines: BTreeMap<FailureKind, BTreeMap<&str, usize>> = BTreeMap::new();
    for failure in failures {
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
