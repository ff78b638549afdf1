//! One configuration with its measurements.

use crate::final_medians;
use serde_json::{Map, Value as Json};
use std::collections::BTreeMap;
use tunesmith_core::{
    Evaluation, Failure, Measurement, ObjectiveFunction as _, Resample, Role, Run, Status, statistics,
};
use tunesmith_problem::{MetricObjective, Problem};
use tunesmith_space::{ConfigId, Expr, Space, Value, lookup};
use tunesmith_store::{Journal, arguments};

/// One configuration with its measurements.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// Parameters and values, in the user's order.
    pub config: Map<String, Json>,
    /// The rank of the configuration in its space.
    pub index: ConfigId,
    /// The failure, at first or in a later measurement; `None` if it is correct.
    pub failure: Option<Failure>,
    /// The median time: of the final re-measurement if it took part, else of all samples. `None` if
    /// the configuration failed.
    pub time_ms: Option<f64>,
    /// A 95 % interval of that median.
    pub ci95_ms: Option<(f64, f64)>,
    /// The median of the first measurement.
    pub first_time_ms: Option<f64>,
    /// All samples of the search.
    pub times_ms: Vec<f64>,
    /// The medians of the visits in the final re-measurement, for finalists and the default
    /// configuration.
    pub final_times_ms: Vec<f64>,
    /// For a composite problem: the median time of each kernel by its name, over all samples of the
    /// search.
    pub parts_ms: BTreeMap<String, f64>,
    /// The medians of the other numbers of its runs, by name.
    pub values: BTreeMap<String, f64>,
    /// The value of the objective. As for the time, of the final re-measurement if it took part. `None` if
    /// the configuration failed or has no value.
    pub value: Option<f64>,
    /// A 95 % interval of that value.
    pub value_ci95: Option<(f64, f64)>,
}

/// The value of an objective.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct ObjectiveValue {
    /// The median.
    median: Option<f64>,
    /// A 95 % interval of the median.
    ci95: Option<(f64, f64)>,
}

impl Candidate {
    /// Joins a configuration's evaluation with its part of `resamples`, and with its value of the objective.
    pub fn new(space: &Space, evaluation: &Evaluation, resamples: &[Resample], valued: Option<&Valued<'_>>) -> Self {
        let id = evaluation.request.config;
        let own = resamples.iter().filter(|resample| resample.config == id);
        let (failed, correct): (Vec<_>, Vec<_>) = own.partition(|resample| resample.failure.is_some());
        let failure = evaluation.failure.as_ref().or_else(|| failed.first()?.failure.as_ref());
        let finals = final_medians(correct.iter().map(|again| (again.role, again.measurement.times_ms.as_slice())));
        let times = &evaluation.measurement.times_ms;
        let counted = Some(if finals.is_empty() { times } else { &finals }).filter(|_| failure.is_none());
        let time_ms = counted.and_then(|times| statistics::median(times));
        let value = valued.filter(|_| time_ms.is_some()).map(|valued| valued.of(id)).unwrap_or_default();
        Self {
            config: Journal::config(space, &space.unrank(id)),
            index: id,
            time_ms,
            ci95_ms: counted.and_then(|times| statistics::reported_interval(times)),
            first_time_ms: statistics::median(times).filter(|_| evaluation.is_correct()),
            times_ms: times.clone(),
            failure: failure.cloned(),
            final_times_ms: finals,
            parts_ms: medians(&evaluation.measurement.parts_ms),
            values: medians(&evaluation.measurement.values),
            value: value.median,
            value_ci95: value.ci95,
        }
    }

    /// Returns the status: correct, or the kind of failure.
    pub fn status(&self) -> Status {
        self.failure.as_ref().map(|failure| failure.kind)
    }

    /// Returns the word for the status in files and messages: `correct`, or the failure's word.
    pub fn status_word(&self) -> &'static str {
        self.status().map_or("correct", |kind| kind.word())
    }

    /// Returns the configuration in the form that `--config` and `--start` take.
    pub fn arguments(&self) -> String {
        arguments(&self.config)
    }
}

/// A run with its objective.
pub struct Valued<'a> {
    /// The run.
    pub run: &'a Run,
    /// Its objective.
    pub objective: &'a MetricObjective,
}

impl Valued<'_> {
    /// Returns the value of the objective for `config`, in the final re-measurement if it took
    /// part.
    fn of(&self, config: ConfigId) -> ObjectiveValue {
        let mut scored = self.run.history.iter().filter(|scored| scored.score.is_some());
        let Some(scored) = scored.find(|scored| scored.evaluation.request.config == config) else {
            return ObjectiveValue::default();
        };
        let scores = |measurement: &Measurement| self.objective.samples(config, measurement).ok();
        let own = self.run.resamples.iter().filter(|again| again.config == config);
        let visits: Vec<(Role, Vec<f64>)> =
            own.filter_map(|again| Some((again.role, scores(&again.measurement)?))).collect();
        let finals = final_medians(visits.iter().map(|(role, scores)| (*role, scores.as_slice())));
        let counted = if finals.is_empty() { scores(&scored.evaluation.measurement) } else { Some(finals) };
        self.summary(&counted.unwrap_or_default())
    }

    fn summary(&self, scores: &[f64]) -> ObjectiveValue {
        let value = |score: f64| self.objective.metric().objective().value(score);
        let ordered = |(low, high)| {
            let (a, b) = (value(low), value(high));
            (a.min(b), a.max(b))
        };
        ObjectiveValue {
            median: statistics::median(scores).map(value),
            ci95: statistics::reported_interval(scores).map(ordered),
        }
    }
}

fn medians(samples: &BTreeMap<String, Vec<f64>>) -> BTreeMap<String, f64> {
    samples.iter().filter_map(|(name, samples)| Some((name.clone(), statistics::median(samples)?))).collect()
}

/// The rates of a configuration, if the problem declares its work.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rates {
    /// 10^9 floating-point operations per second.
    pub gflops: Option<f64>,
    /// 10^9 bytes per second.
    pub gbytes: Option<f64>,
}

impl Rates {
    /// Returns the rates of `candidate` at its median time, by the work that `problem` declares.
    pub fn new(problem: &Problem, candidate: &Candidate) -> Self {
        let named = |name: &str| {
            lookup(problem.spec().sizes(), name).or_else(|| Value::of_document(candidate.config.get(name)?))
        };
        let rate = |work: Option<&Expr>| {
            let value = work?.evaluate(&named).ok()?;
            // Per millisecond to 10^9 per second.
            Some(value.as_float()? / candidate.time_ms? / 1e6)
        };
        Self { gflops: rate(problem.spec().flops()), gbytes: rate(problem.spec().bytes()) }
    }
}
