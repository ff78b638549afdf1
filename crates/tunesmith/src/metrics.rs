//! Objectives other than time: numbers that users define or that runs print.

use crate::Error;
use crate::Problem;
use serde::{Deserialize, Serialize};
use std::cell::Cell;
use std::collections::BTreeSet;
use tunesmith_core::{Direction, Measurement, Objective, Target};
use tunesmith_device::ENERGY_MJ;
use tunesmith_space::did_you_mean;
use tunesmith_space::lookup;
use tunesmith_space::{ConfigId, Expr, Space, Value};
use tunesmith_store::Header;

/// A metric to optimise, with all inputs of its value besides the configuration and the
/// measurements. Journals keep it in this form, so that they can be ranked without the problem.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Metric {
    /// The direction: less or more.
    #[serde(with = "DirectionWord")]
    pub direction: Direction,
    /// The metric's name.
    #[serde(rename = "metric")]
    pub name: String,
    /// Metrics by name, as expressions over each other and over the names in [`Metric::samples`].
    pub metrics: Vec<(String, String)>,
    /// The sizes.
    pub sizes: Vec<(String, f64)>,
}

/// A [`Direction`] in files.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Direction", rename_all = "lowercase")]
enum DirectionWord {
    Minimise,
    Maximise,
}

/// The numbers that every measurement has besides the values that the run prints.
const MEASURED: [&str; 2] = ["time_ms", "compile_ms"];

/// Metrics that every problem has unless it defines them itself: the energy of a sample in
/// millijoules, and its product with the time.
const ENERGIES: [(&str, &str); 2] = [("energy", ENERGY_MJ), ("edp", "energy * time_ms")];

/// Maximum depth of references between metrics. Deeper ones form a circle.
const MAX_DEPTH: usize = 32;

impl Metric {
    /// Returns the metric that `target` names: a metric of the problem, `gflops` or `gbytes` if the
    /// problem declares its work, or a value that the run prints. Returns `None` for time.
    ///
    /// # Errors
    /// A metric of the problem cannot be read, or the name is not known but resembles a known one.
    pub(crate) fn new(target: &Target, problem: &Problem) -> Result<Option<Self>, Error> {
        let Target::Metric { direction, name } = target else { return Ok(None) };
        let float = |(name, value): &(String, Value)| Some((name.clone(), value.as_float()?));
        let metric = Self {
            direction: *direction,
            name: name.clone(),
            metrics: definitions(problem),
            sizes: problem.sizes.iter().filter_map(float).collect(),
        };
        metric.check(problem)?;
        Ok(Some(metric))
    }

    /// Returns the metric that the run of a journal optimised, or `None` for time.
    pub(crate) fn of(header: &Header) -> Option<Self> {
        serde_json::from_value(header.objective.clone()?).ok()
    }

    /// Returns the objective as users write it.
    pub fn target(&self) -> Target {
        Target::Metric { direction: self.direction, name: self.name.clone() }
    }

    /// Returns true if its value depends on the energy of samples.
    pub(crate) fn needs_energy(&self) -> bool {
        self.needed().contains(ENERGY_MJ)
    }

    /// Returns the names that the value comes from in the end: all but metrics and sizes.
    fn needed(&self) -> BTreeSet<String> {
        let (mut waiting, mut seen) = (vec![self.name.clone()], BTreeSet::new());
        let mut needed = BTreeSet::new();
        while let Some(name) = waiting.pop() {
            let definition = self.metrics.iter().find(|(known, _)| *known == name);
            match definition.map(|(_, text)| Expr::parse(text)) {
                None if self.sizes.iter().any(|(size, _)| *size == name) => {}
                None => drop(needed.insert(name)),
                Some(Ok(expr)) if seen.insert(name) => {
                    waiting.extend(expr.names().iter().map(|name| name.text.clone()));
                }
                Some(_) => {}
            }
        }
        needed
    }

    /// Refuses the metric if it needs a number that is neither a parameter nor among `yielded`,
    /// which is all that every run yields.
    pub(crate) fn check_yielded(&self, problem: &Problem, yielded: &BTreeSet<String>) -> Result<(), Error> {
        let is_parameter = |name: &str| problem.parameters.iter().any(|parameter| parameter.name() == name);
        let needed = self.needed();
        let Some(missing) = needed.iter().find(|name| !is_parameter(name) && !yielded.contains(*name)) else {
            return Ok(());
        };
        let text = format!("the objective `{}` needs `{missing}`, which nothing yields on this device", self.target());
        let known = yielded.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
        let meant = did_you_mean(missing, yielded.iter().map(String::as_str));
        let remedy = format!("{}a run yields {known}", meant.map(|meant| format!("{meant} ")).unwrap_or_default());
        Err(Error::request(text, Some(remedy)))
    }

    /// Returns the reason if `measurement` lacks a number that the value needs.
    fn lacking(&self, parameter: &dyn Fn(&str) -> Option<Value>, measurement: &Measurement) -> Option<String> {
        let is_known = |name: &str| match name {
            "time_ms" => !measurement.times_ms.is_empty(),
            "compile_ms" => measurement.compile.is_some(),
            name => parameter(name).is_some() || measurement.values.contains_key(name),
        };
        let needed = self.needed();
        let missing = needed.iter().find(|name| !is_known(name))?;
        Some(format!("`{}` needs `{missing}`, which the run did not yield", self.name))
    }

    /// Returns the metric's value for a score.
    pub fn value(&self, score: f64) -> f64 {
        if self.direction == Direction::Minimise { score } else { 1.0 / score }
    }

    /// Returns the metric's value for each sample. `parameter` gives the values of the
    /// configuration. Names are parameters, sizes, `time_ms`, `compile_ms`, the values that the run
    /// prints, and metrics.
    ///
    /// # Errors
    /// A number is missing, or a value is not positive and finite.
    pub fn samples(
        &self,
        parameter: &dyn Fn(&str) -> Option<Value>,
        measurement: &Measurement,
    ) -> Result<Vec<f64>, String> {
        let sample = |at: usize| {
            let named = |name: &str| match name {
                "time_ms" => measurement.times_ms.get(at).copied(),
                "compile_ms" => measurement.compile.as_ref().map(|compile| compile.time_ms),
                name => measurement.values.get(name).and_then(|values| values.get(at)).copied(),
            };
            let missing = || {
                let yielded: Vec<&str> = measurement.values.keys().map(String::as_str).chain(MEASURED).collect();
                format!("`{}` cannot be computed; the run measured {}", self.name, yielded.join(", "))
            };
            let scope = Scope { metric: self, parameter, named: &named, depth: Cell::new(0) };
            let value = scope.value(&self.name).and_then(|value| value.as_float()).ok_or_else(missing)?;
            if value.is_finite() && value > 0.0 {
                return Ok(value);
            }
            Err(format!("`{}` is {value}, but an objective needs a positive number", self.name))
        };
        (0..measurement.times_ms.len()).map(sample).collect()
    }

    /// Returns the score of a value. Inverse of [`value`](Self::value).
    pub(crate) fn score(&self, value: f64) -> f64 {
        if self.direction == Direction::Minimise { value } else { 1.0 / value }
    }

    /// Finds metrics that are not expressions, and misspelt names. A name that resembles no known
    /// one may be a value that only the run prints.
    fn check(&self, problem: &Problem) -> Result<(), Error> {
        let parameters = problem.parameters.iter().map(|parameter| parameter.name());
        let sizes = self.sizes.iter().map(|(name, _)| name.as_str());
        let metrics = self.metrics.iter().map(|(name, _)| name.as_str());
        let known: BTreeSet<&str> = parameters.chain(sizes).chain(metrics).chain(MEASURED).chain([ENERGY_MJ]).collect();
        let mut used = vec![("the objective".to_string(), self.name.clone())];
        for (name, text) in &self.metrics {
            let expr = Expr::parse(text)
                .map_err(|error| Error::request(format!("in `{text}` of metric `{name}`: {error}"), error.remedy))?;
            used.extend(expr.names().iter().map(|used| (format!("metric `{name}`"), used.text.clone())));
        }
        for (place, name) in used.iter().filter(|(_, name)| !known.contains(name.as_str())) {
            let work = [("gflops", "flops"), ("gbytes", "bytes"), ("flops", "flops"), ("bytes", "bytes")];
            if let Some((_, key)) = work.iter().find(|(rate, _)| rate == name) {
                let text = format!("{place} uses `{name}`, but the problem does not declare its `{key}`");
                return Err(Error::request(text, Some(format!("write `{key} = \"...\"` under `[problem]`"))));
            }
            if let Some(remedy) = did_you_mean(name, known.iter().copied()) {
                return Err(Error::request(format!("{place} uses `{name}`, which does not exist"), Some(remedy)));
            }
        }
        Ok(())
    }
}

/// Metrics of every problem that declares its work.
const RATES: [&str; 2] = ["gflops", "gbytes"];

/// Returns the metrics of the problem, its declared work, and the rates derived from that.
fn definitions(problem: &Problem) -> Vec<(String, String)> {
    let mut all: Vec<(String, String)> = problem.metrics.clone();
    let mut add = |name: &str, text: String| {
        if !all.iter().any(|(known, _)| known == name) {
            all.push((name.to_string(), text));
        }
    };
    ENERGIES.iter().for_each(|(name, text)| add(name, (*text).to_string()));
    for (work, rate, expr) in [("flops", RATES[0], &problem.flops), ("bytes", RATES[1], &problem.bytes)] {
        if let Some(expr) = expr {
            add(work, expr.text().to_string());
            // Per millisecond to 10^9 per second.
            add(rate, format!("{work} / time_ms / 1e6"));
        }
    }
    all
}

/// The meaning of names in one sample of one configuration.
struct Scope<'a> {
    metric: &'a Metric,
    parameter: &'a dyn Fn(&str) -> Option<Value>,
    named: &'a dyn Fn(&str) -> Option<f64>,
    depth: Cell<usize>,
}

impl Scope<'_> {
    fn value(&self, name: &str) -> Option<Value> {
        if let Some((_, text)) = self.metric.metrics.iter().find(|(known, _)| known == name) {
            self.depth.set(self.depth.get() + 1);
            let expr = Expr::parse(text).ok().filter(|_| self.depth.get() <= MAX_DEPTH)?;
            let value = expr.evaluate(&|name| self.value(name)).ok();
            self.depth.set(self.depth.get() - 1);
            return value;
        }
        let size = || self.metric.sizes.iter().find(|(known, _)| known == name).map(|(_, size)| number(*size));
        (self.parameter)(name).or_else(size).or_else(|| (self.named)(name).map(Value::Float))
    }
}

/// Returns an integer if the number is whole: integers divide and shift as sizes do.
fn number(value: f64) -> Value {
    if value.fract() == 0.0 && value.abs() < 2f64.powi(53) { Value::Int(value as i64) } else { Value::Float(value) }
}

/// The objective of a [`Metric`] over the configurations of a space. A maximised metric scores as
/// its reciprocal, which is positive and scales as the metric does. Strategies need not know the
/// direction.
pub(crate) struct MetricObjective {
    metric: Metric,
    space: Space,
    name: String,
}

impl MetricObjective {
    pub(crate) fn new(metric: Metric, space: &Space) -> Self {
        Self { name: metric.target().to_string(), space: space.clone(), metric }
    }

    /// Returns the metric.
    pub(crate) fn metric(&self) -> &Metric {
        &self.metric
    }

    fn values(&self, config: ConfigId, measurement: &Measurement) -> Result<Vec<f64>, String> {
        let configuration = self.space.unrank(config);
        let pairs: Vec<(String, Value)> =
            self.space.values(&configuration).map(|(name, value)| (name.to_string(), value.clone())).collect();
        self.metric.samples(&|name| lookup(&pairs, name), measurement)
    }
}

impl Objective for MetricObjective {
    fn name(&self) -> &str {
        &self.name
    }

    fn samples(&self, config: ConfigId, measurement: &Measurement) -> Result<Vec<f64>, String> {
        let values = self.values(config, measurement)?;
        Ok(values.into_iter().map(|value| self.metric.score(value)).collect())
    }

    fn lacks(&self, config: ConfigId, measurement: &Measurement) -> Option<String> {
        let configuration = self.space.unrank(config);
        let value = |name: &str| {
            let mut values = self.space.values(&configuration);
            values.find(|(known, _)| *known == name).map(|(_, value)| value.clone())
        };
        self.metric.lacking(&value, measurement)
    }

    /// Compares the score at three times. Other measurements are missing there, so that a metric
    /// that needs them has none.
    fn per_millisecond(&self, config: ConfigId) -> Option<f64> {
        let times_ms = vec![1.0, 1024.0, 1.0 / 1024.0];
        let scores =
            self.samples(config, &Measurement { times_ms: times_ms.clone(), ..Measurement::default() }).ok()?;
        let slope = scores[0];
        let straight = scores.iter().zip(&times_ms).all(|(score, time)| (score / time / slope - 1.0).abs() < 1e-9);
        straight.then_some(slope)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn metric(text: &str, metrics: &str) -> Result<Option<Metric>, Error> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("p.toml");
        let problem = "[problem]\nsizes = { N = 3000 }\nflops = \"2 * N\"\n[parameters]\nTILE = [1, 2]\n[metrics]\n";
        std::fs::write(&path, format!("{problem}{metrics}")).unwrap();
        Metric::new(&text.parse().unwrap(), &Problem::load(&path, &[]).unwrap())
    }

    fn measured() -> Measurement {
        let values = [("joules".to_string(), vec![4.0, 8.0])].into();
        Measurement { times_ms: vec![2.0, 4.0], values, ..Measurement::default() }
    }

    fn values(text: &str, metrics: &str) -> Result<Vec<f64>, String> {
        let metric = metric(text, metrics).unwrap().unwrap();
        metric.samples(&|name| (name == "TILE").then_some(Value::Int(2)), &measured())
    }

    #[test]
    fn metrics_are_computed_for_every_sample_from_all_there_is() {
        assert_eq!(values("gflops", "").unwrap(), [6000.0 / 2.0 / 1e6, 6000.0 / 4.0 / 1e6]);
        assert_eq!(values("minimise joules", "").unwrap(), [4.0, 8.0]);
        assert_eq!(values("work", "edp = \"joules * time_ms\"\nwork = \"edp * TILE + N\"").unwrap(), [3016.0, 3064.0]);
    }

    #[test]
    fn journals_keep_a_metric_with_its_definitions() {
        let kept = serde_json::to_string(&metric("gflops", "").unwrap().unwrap()).unwrap();
        assert!(kept.starts_with(r#"{"direction":"maximise","metric":"gflops","metrics":[["energy","#), "{kept}");
        assert!(kept.ends_with(r#""sizes":[["N",3000.0]]}"#), "{kept}");
        assert_eq!(serde_json::from_str::<Metric>(&kept).unwrap(), metric("gflops", "").unwrap().unwrap());
        assert!(metric("time", "").unwrap().is_none());
    }

    #[test]
    fn what_is_wrong_is_said_with_a_remedy() {
        let wrong = |text: &str, metrics: &str| {
            let error = metric(text, metrics).unwrap_err();
            format!("{error}; {}", error.remedy().unwrap_or_default())
        };
        assert!(wrong("gflop", "").contains("did you mean `gflops`?"));
        assert!(wrong("gbytes", "").contains("does not declare its `bytes`"));
        assert!(wrong("e", "e = \"tims_ms * 2\"").contains("did you mean `time_ms`?"));
    }

    #[test]
    fn what_is_no_positive_number_or_is_missing_is_a_message() {
        assert!(values("loss", "loss = \"3 - joules\"").unwrap_err().contains("`loss` is -1"));
        assert!(values("watts", "").unwrap_err().contains("the run measured joules, time_ms"));
        assert!(values("a", "a = \"b\"\nb = \"a\"").unwrap_err().contains("cannot be computed"), "a circle");
    }

    #[test]
    fn energy_and_its_product_with_time_are_metrics_of_every_problem() {
        let needs = |text: &str, metrics: &str| metric(text, metrics).unwrap().unwrap().needs_energy();
        assert!(needs("energy", "") && needs("edp", "") && needs("w", "w = \"energy / time_ms\""));
        assert!(!needs("gflops", "") && !needs("energy", "energy = \"joules\"") && !needs("a", "a = \"b\"\nb = \"a\""));
        let values = [(ENERGY_MJ.to_string(), vec![10.0, 20.0])].into();
        let measured = Measurement { times_ms: vec![2.0, 4.0], values, ..Measurement::default() };
        let edp = metric("edp", "").unwrap().unwrap();
        assert_eq!(edp.samples(&|_| None, &measured).unwrap(), [20.0, 80.0]);
        assert_eq!(edp.target().to_string(), "minimise edp");
    }

    #[test]
    fn only_what_is_proportional_to_time_is_raced() {
        let tile = tunesmith_space::Parameter::new("TILE", vec![Value::Int(1), Value::Int(2)]).unwrap();
        let space = Space::builder().parameter(tile).build().unwrap();
        let slope = |text: &str, metrics: &str| {
            MetricObjective::new(metric(text, metrics).unwrap().unwrap(), &space).per_millisecond(space.id(1).unwrap())
        };
        assert!((slope("gflops", "").unwrap() - 1e6 / 6000.0).abs() < 1e-6);
        assert_eq!(slope("e", "e = \"time_ms * TILE\""), Some(2.0));
        assert_eq!(slope("joules", ""), None);
        assert_eq!(slope("e", "e = \"time_ms + 1\""), None);
    }
}
