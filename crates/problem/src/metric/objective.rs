//! The objective functions of runs: a metric, and a metric within limits.

use super::{Limits, Metric};
use std::cell::LazyCell;
use std::time::Duration;
use tunesmith_core::{
    Aspects, Evaluation, Failure, FailureKind, Measurement, Objective, ObjectiveFunction, statistics,
};
use tunesmith_space::{ConfigId, Space, Value};

/// The objective function of a run: a metric, within the limits of the problem.
pub struct SearchObjective {
    metric: MetricObjective,
    /// The objectives of a front.
    front: Vec<MetricObjective>,
    limits: Limits,
    space: Space,
}

impl SearchObjective {
    /// Creates the function that optimises `metric` over the configurations of `space` within `limits`.
    pub fn new(metric: Metric, limits: Limits, space: &Space) -> Self {
        let front = metric.objectives().into_iter().map(|metric| MetricObjective::new(metric, space)).collect();
        Self { metric: MetricObjective::new(metric, space), front, limits, space: space.clone() }
    }

    /// Returns the objective function of the metric, without limits.
    pub fn metric(&self) -> &MetricObjective {
        &self.metric
    }

    /// Returns the limits.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Returns the objectives of a front. Empty if there is only one objective.
    pub fn front(&self) -> &[MetricObjective] {
        &self.front
    }
}

/// Calls `ask` with a function that returns the values of the parameters of `config` by name.
fn of_config<T>(space: &Space, config: ConfigId, ask: impl FnOnce(&dyn Fn(&str) -> Option<Value>) -> T) -> T {
    // Most objectives need no parameter.
    let configuration = LazyCell::new(|| space.unrank(config));
    let value = |name: &str| {
        let mut values = space.values(&configuration);
        values.find(|(known, _)| *known == name).map(|(_, value)| value.clone())
    };
    ask(&value)
}

impl ObjectiveFunction for SearchObjective {
    fn objective(&self) -> Objective {
        self.metric.objective()
    }

    fn samples(&self, config: ConfigId, measurement: &Measurement) -> Result<Vec<f64>, String> {
        self.metric.samples(config, measurement)
    }

    fn lacks(&self, config: ConfigId, measurement: &Measurement) -> Option<String> {
        self.metric.lacks(config, measurement)
    }

    fn broken(&self, config: ConfigId, measurement: &Measurement) -> Option<Failure> {
        if self.limits.is_empty() {
            return None;
        }
        of_config(&self.space, config, |parameter| self.limits.broken(parameter, measurement))
    }

    fn aspects(&self, evaluation: &Evaluation) -> Option<Box<Aspects>> {
        if self.limits.is_empty() && self.front.is_empty() {
            return None;
        }
        // Any other failure has no measurement that says something about a limit.
        if evaluation.status().is_some_and(|kind| kind != FailureKind::Infeasible) {
            return None;
        }
        let (config, measurement) = (evaluation.request.config, &evaluation.measurement);
        let samples = self.samples(config, measurement).ok()?;
        let excesses = of_config(&self.space, config, |parameter| self.limits.excesses(parameter, measurement));
        let score = statistics::median(&samples);
        let median = |objective: &MetricObjective| statistics::median(&objective.samples(config, measurement).ok()?);
        let objectives = self.front.iter().map(median).collect::<Option<Vec<f64>>>()?;
        Some(Box::new(Aspects { score, excesses: excesses.unwrap_or_default(), objectives }))
    }

    fn time_ms_at(&self, config: ConfigId, score: f64) -> Option<f64> {
        self.metric.time_ms_at(config, score)
    }

    fn has_common_times(&self) -> bool {
        self.metric.has_common_times()
    }

    fn longest_time_that_can_win(&self, config: ConfigId, best: f64) -> Option<Duration> {
        self.metric.longest_time_that_can_win(config, best)
    }
}

/// The objective function of a [`Metric`] over the configurations of a space. A maximised metric scores
/// as its negative, so that strategies need not know the direction.
pub struct MetricObjective {
    metric: Metric,
    space: Space,
}

impl MetricObjective {
    /// Creates the objective function of `metric` over the configurations of `space`.
    pub fn new(metric: Metric, space: &Space) -> Self {
        Self { space: space.clone(), metric }
    }

    /// Returns the metric.
    pub fn metric(&self) -> &Metric {
        &self.metric
    }

    fn worsens_with_time(&self, config: ConfigId) -> bool {
        of_config(&self.space, config, |parameter| self.metric.worsens_with_time(parameter))
    }

    /// Returns the score at a time, if it has one there without any other measurement.
    fn score_at(&self, config: ConfigId, time_ms: f64) -> Option<f64> {
        let measurement = Measurement { times_ms: vec![time_ms], ..Measurement::default() };
        self.samples(config, &measurement).ok()?.first().copied()
    }

    fn values(&self, config: ConfigId, measurement: &Measurement) -> Result<Vec<f64>, String> {
        of_config(&self.space, config, |parameter| self.metric.samples(parameter, measurement))
    }
}

/// The times among which the longest one that can win is looked for: from a nanosecond to thirty
/// years. The limits that follow from it need no more than a thousandth.
const SHORTEST_MS: f64 = 1e-6;
const LONGEST_MS: f64 = 1e12;
const PRECISION: f64 = 1e-3;

impl ObjectiveFunction for MetricObjective {
    fn objective(&self) -> Objective {
        self.metric.objective().clone()
    }

    fn samples(&self, config: ConfigId, measurement: &Measurement) -> Result<Vec<f64>, String> {
        let values = self.values(config, measurement)?;
        Ok(values.into_iter().map(|value| self.metric.objective().score(value)).collect())
    }

    fn lacks(&self, config: ConfigId, measurement: &Measurement) -> Option<String> {
        of_config(&self.space, config, |parameter| self.metric.lacking(parameter, measurement))
    }

    /// Compares the score at three times. Other measurements are missing there, so that a metric
    /// that needs them has none.
    fn time_ms_at(&self, config: ConfigId, score: f64) -> Option<f64> {
        // A front that joins times has no trend of its own. Its members race by their mean.
        if self.metric.objective().parts().is_empty() && !self.worsens_with_time(config) {
            return None;
        }
        let times_ms = vec![1.0, 1024.0, 1.0 / 1024.0];
        let scores =
            self.samples(config, &Measurement { times_ms: times_ms.clone(), ..Measurement::default() }).ok()?;
        let first = scores[0];
        let follows = |expected: fn(f64) -> f64| {
            scores.iter().zip(&times_ms).all(|(score, time)| (score / expected(*time) / first - 1.0).abs() < 1e-9)
        };
        if first > 0.0 && score > 0.0 && follows(|time| time) {
            return Some(score / first);
        }
        // A maximised rate.
        (first < 0.0 && score < 0.0 && follows(f64::recip)).then(|| first / score)
    }

    fn has_common_times(&self) -> bool {
        !self.metric.uses_parameters(|name| self.space.parameters().iter().any(|parameter| parameter.name() == name))
    }

    /// Returns the time at which the score leaves `best` behind, for a metric that nowhere becomes
    /// better for more time.
    fn longest_time_that_can_win(&self, config: ConfigId, best: f64) -> Option<Duration> {
        if !self.worsens_with_time(config) {
            return None;
        }
        if self.metric.objective().is_time() {
            return Duration::try_from_secs_f64(best / 1e3).ok();
        }
        // Where the metric has no value, nothing is certain.
        let reaches = |time_ms: f64| self.score_at(config, time_ms).is_none_or(|score| score <= best);
        let [mut reached, mut left] = [SHORTEST_MS, LONGEST_MS].map(f64::ln);
        if reaches(LONGEST_MS) {
            return None;
        }
        while left - reached > PRECISION {
            let middle = f64::midpoint(reached, left);
            if reaches(middle.exp()) { reached = middle } else { left = middle }
        }
        Duration::try_from_secs_f64(left.exp() / 1e3).ok()
    }
}
