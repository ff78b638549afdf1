//! Objectives other than time: numbers that users define or that runs yield.

mod limits;
mod objective;
mod record;

pub use limits::Limits;
pub use objective::{MetricObjective, SearchObjective};

use crate::{Problem, ProblemSpec};
use record::Record;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use std::collections::BTreeSet;
use tunesmith_core::{Aim, Direction, Measurement, Objective, Refusal, Source, Target};
use tunesmith_kernel::measure::ENERGY_MJ;
use tunesmith_space::{Change, Value};
use tunesmith_spec::{Definitions, EFFICIENCY, Known, MEAN, TIME, Yielded, check_metrics, measured, printed, yielded};

/// An objective with all inputs of its value besides the configuration and the measurements. Journals
/// keep it in this form, so that they can be ranked without the problem.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "Record", into = "Record")]
pub struct Metric {
    objective: Objective,
    /// The meaning of names.
    definitions: Definitions,
}

impl Default for Metric {
    /// Returns the time.
    fn default() -> Self {
        Self { objective: Objective::time(), definitions: Definitions::default() }
    }
}

impl Metric {
    /// Returns the metric that `target` names: the time, a metric of the problem, `gflops` or `gbytes` if the
    /// problem declares its work, or a value that the run yields. Runs yield `yielded`, whose names come
    /// before predefined metrics. For a front, returns the geometric mean of its objectives.
    ///
    /// # Errors
    /// A metric of the problem cannot be read or may not have its name, metrics form a cycle, or the
    /// objective's name is not known but resembles a known one.
    pub fn new(target: &Target, problem: &Problem, yielded: &Yielded) -> Result<Self, Refusal> {
        // A problem of a space alone has no front door, where this is checked with places.
        let spec = problem.spec();
        if let Some((_, refusal)) = check_metrics(spec).into_iter().next() {
            return Err(refusal);
        }
        let mut definitions = Definitions::of(spec, yielded);
        let used = target.parts().iter().map(|aim| ("the objective".to_string(), aim.name.clone()));
        definitions.check_names(spec, yielded, used.collect())?;
        let mut parts = Vec::from_iter(target.parts().iter().map(|aim| objective(&definitions, aim, spec, yielded)));
        if parts.len() > 1 {
            definitions.metrics.push((MEAN.to_string(), mean(&parts)));
            return Ok(Self { objective: Objective::front(MEAN, parts), definitions });
        }
        let single = Self { objective: parts.pop().unwrap_or_default(), definitions };
        // The time needs no definition, and is what journals are about unless they say so.
        Ok(if single.objective.is_time() { Self::default() } else { single })
    }

    /// Returns the objectives of a front, each as a metric. Empty if there is only one objective.
    pub fn objectives(&self) -> Vec<Self> {
        let single = |part: &Objective| Self { objective: part.clone(), definitions: self.definitions.clone() };
        self.objective.parts().iter().map(single).collect()
    }

    /// Returns the metric that the header of a journal keeps as `objective`: the time if it has none. A metric that
    /// cannot be read, such as one of a later version, has no value in any run, so that no other one ranks it.
    pub fn recorded(objective: Option<&Json>) -> Self {
        let Some(json) = objective else { return Self::default() };
        let unreadable = || Self {
            objective: Objective::new(&json.to_string(), Direction::Minimise, None, Source::Metric),
            definitions: Definitions::default(),
        };
        serde_json::from_value(json.clone()).unwrap_or_else(|_| unreadable())
    }

    /// Returns the metric that ranks a recording by `objective`, a number that it holds or one of `metrics`:
    /// names with expressions over the recorded numbers, the parameters and each other.
    ///
    /// # Errors
    /// A metric is no expression.
    pub fn over_recording(objective: Objective, metrics: &[(String, String)]) -> Result<Self, Refusal> {
        Ok(Self { objective, definitions: Definitions::over_recording(metrics)? })
    }

    /// Returns the objective.
    pub fn objective(&self) -> &Objective {
        &self.objective
    }

    /// Returns the expression that defines the metric, if it is not a value that the run yields.
    pub fn definition(&self) -> Option<&str> {
        let name = self.objective.quantity();
        self.definitions.metrics.iter().find(|(known, _)| known == name).map(|(_, text)| text.as_str())
    }

    /// Returns true if its value depends on the energy of samples.
    pub fn needs_energy(&self) -> bool {
        self.needed().contains(ENERGY_MJ)
    }

    /// Returns the names that the value comes from in the end: all but metrics and sizes.
    fn needed(&self) -> BTreeSet<String> {
        self.definitions.needed([self.objective.quantity().to_string()])
    }

    /// Checks that the value needs only parameters and what a run yields.
    ///
    /// # Errors
    /// It needs another number.
    pub fn check_yielded(&self, problem: &Problem, yielded: &Yielded) -> Result<(), Refusal> {
        let label = format!("the objective `{}`", self.objective);
        self.definitions.check_yielded(&label, &self.needed(), problem.spec(), yielded)
    }

    /// Returns the reason if `measurement` lacks a number that the value needs.
    fn lacking(&self, parameter: &dyn Fn(&str) -> Option<Value>, measurement: &Measurement) -> Option<String> {
        let time_ms = measurement.times_ms.first().copied();
        let value = |name: &str| measurement.values.get(name).map(|_| 0.0);
        let is_known = |name: &str| parameter(name).is_some() || measured(name, time_ms, measurement, value).is_some();
        let needed = self.needed();
        let missing = needed.iter().find(|name| !is_known(name))?;
        Some(format!("`{}` needs `{missing}`, which the run did not yield", self.objective.name()))
    }

    /// Returns true if the value depends on the configuration besides what is measured.
    fn uses_parameters(&self, is_parameter: impl Fn(&str) -> bool) -> bool {
        self.needed().iter().any(|name| is_parameter(name))
    }

    /// Returns the value for each sample from the times alone. Returns `None` if it needs more.
    pub fn of_times(&self, times_ms: &[f64]) -> Option<Vec<f64>> {
        self.objective.is_time().then(|| times_ms.to_vec())
    }

    /// Returns the metric's value for each sample. `parameter` gives the values of the
    /// configuration. Names are parameters, sizes, `time_ms`, `compile_ms`, the values that the run
    /// yields, and metrics.
    ///
    /// # Errors
    /// A number is missing, or a value is not finite.
    pub fn samples(
        &self,
        parameter: &dyn Fn(&str) -> Option<Value>,
        measurement: &Measurement,
    ) -> Result<Vec<f64>, String> {
        if let Some(values) = self.of_times(&measurement.times_ms) {
            return Ok(values);
        }
        let sample = |at: usize| {
            let value = |objective: &Objective| self.value_of(objective.quantity(), at, parameter, measurement);
            let parts = self.objective.parts();
            if parts.is_empty() {
                return value(&self.objective);
            }
            let score = |part: &Objective| Ok((part.direction(), part.score(value(part)?)));
            Ok(joined(&parts.iter().map(score).collect::<Result<Vec<_>, String>>()?))
        };
        // A number of a recording may have no time beside it.
        let yielded = || measurement.values.get(self.objective.quantity()).map_or(0, Vec::len);
        let count = if measurement.times_ms.is_empty() { yielded() } else { measurement.times_ms.len() };
        (0..count).map(sample).collect()
    }

    /// Returns the value of a metric in the sample at a position.
    fn value_of(
        &self,
        name: &str,
        at: usize,
        parameter: &dyn Fn(&str) -> Option<Value>,
        measurement: &Measurement,
    ) -> Result<f64, String> {
        let time_ms = measurement.times_ms.get(at).copied();
        let named = |name: &str| measured(name, time_ms, measurement, |name| measurement.value(name, at));
        let missing = || format!("`{name}` cannot be computed; the run measured {}", yielded(measurement));
        let value = self.definitions.value(name, &Known { parameter, measured: &named });
        let value = value.and_then(|value| value.as_float()).ok_or_else(missing)?;
        if value.is_finite() {
            return Ok(value);
        }
        Err(format!("`{name}` is {value}, but an objective needs a finite number"))
    }

    /// Returns true if no time longer than another one can have a better value, whatever else is
    /// measured. `parameter` gives the values of the configuration.
    fn worsens_with_time(&self, parameter: &dyn Fn(&str) -> Option<Value>) -> bool {
        let worse = match self.objective.direction() {
            Direction::Minimise => Change::Grows,
            Direction::Maximise => Change::Falls,
        };
        let is_single = self.objective.parts().is_empty();
        is_single && self.definitions.over_time(self.objective.quantity(), parameter).change == worse
    }
}

/// Returns the objective that `aim` names. Its unit is known if Tunesmith measures or defines the quantity.
fn objective(definitions: &Definitions, aim: &Aim, problem: &ProblemSpec, yielded: &Yielded) -> Objective {
    let name = aim.name.as_str();
    if name == "time_ms" {
        return Objective::new(TIME, aim.direction, Some("ms"), Source::Time);
    }
    let is_defined = definitions.metrics.iter().any(|(known, _)| known == name);
    let source = match yielded.source {
        _ if is_defined => Source::Metric,
        Source::Metric if printed(problem).any(|known| known == name) => Source::Printed,
        source => source,
    };
    let is_own = problem.metrics().iter().any(|(known, _)| known == name);
    let unit = (source == Source::Metric && !is_own).then(|| unit(name)).flatten();
    Objective::new(name, aim.direction, unit, source)
}

/// Returns the unit of a quantity that Tunesmith measures or defines, if it has one.
fn unit(name: &str) -> Option<&'static str> {
    match name {
        "compile_ms" => Some("ms"),
        "energy" | ENERGY_MJ => Some("mJ"),
        "edp" => Some("mJ ms"),
        "gflops" => Some("GFLOP/s"),
        "gbytes" => Some("GB/s"),
        EFFICIENCY => Some("GFLOP/s/W"),
        _ => None,
    }
}

/// Returns the expression of the geometric mean of objectives, from which the names that it needs follow.
fn mean(parts: &[Objective]) -> String {
    let factor = |part: &Objective| match part.direction() {
        Direction::Minimise => part.quantity().to_string(),
        Direction::Maximise => format!("1 / {}", part.quantity()),
    };
    let factors: Vec<String> = parts.iter().map(|part| format!("({})", factor(part))).collect();
    format!("({}) ** (1 / {})", factors.join(" * "), parts.len())
}

/// Returns the geometric mean of the values of objectives, from their scores: of the reciprocal of one that
/// is maximised.
///
/// Zero and negative values have no logarithm. They count as `asinh` continues it: zero as a positive
/// value of [`NEAR_ZERO`] does, and negative ones below. The result is positive, and grows with
/// every score, so that the configuration with the least of them is one of the front.
fn joined(scores: &[(Direction, f64)]) -> f64 {
    let log = |(direction, score): &(Direction, f64)| {
        (score / NEAR_ZERO).clamp(f64::MIN, f64::MAX).asinh() - direction.score((2.0 / NEAR_ZERO).ln())
    };
    let mean = scores.iter().map(log).sum::<f64>() / scores.len() as f64;
    // A finite number, however large the values are.
    mean.min(f64::MAX.ln()).exp()
}

/// A value so far below every one that is measured, in any unit, that the ratio of means with and without a zero is
/// taken for none.
const NEAR_ZERO: f64 = 1e-140;

#[cfg(test)]
mod tests {
    use super::*;
    use tunesmith_core::{ERROR, Gain, ObjectiveFunction as _};
    use tunesmith_space::Space;

    fn metric(text: &str, metrics: &str) -> Result<Metric, Refusal> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("p.toml");
        let problem = "[problem]\nsizes = { N = 3000 }\nflops = \"2 * N\"\n[parameters]\nTILE = [1, 2]\n[metrics]\n";
        std::fs::write(&path, format!("{problem}{metrics}")).unwrap();
        Metric::new(&text.parse().unwrap(), &Problem::load(&path, &[]).unwrap(), &Yielded::default())
    }

    fn measured() -> Measurement {
        let values = [("joules".to_string(), vec![4.0, 8.0])].into();
        Measurement { times_ms: vec![2.0, 4.0], values, ..Measurement::default() }
    }

    fn values(text: &str, metrics: &str) -> Result<Vec<f64>, String> {
        let metric = metric(text, metrics).unwrap();
        metric.samples(&|name| (name == "TILE").then_some(Value::Int(2)), &measured())
    }

    #[test]
    fn metrics_are_computed_for_every_sample_from_all_there_is() {
        assert_eq!(values("gflops", "").unwrap(), [6000.0 / 2.0 / 1e6, 6000.0 / 4.0 / 1e6]);
        assert_eq!(values("minimise joules", "").unwrap(), [4.0, 8.0]);
        assert_eq!(values("work", "jt = \"joules * time_ms\"\nwork = \"jt * TILE + N\"").unwrap(), [3016.0, 3064.0]);
    }

    #[test]
    fn journals_keep_a_metric_with_its_definitions() {
        let kept = serde_json::to_string(&metric("gflops", "").unwrap()).unwrap();
        let objective =
            r#"{"name":"gflops","direction":"maximise","unit":"GFLOP/s","source":"metric","metrics":[["energy","#;
        assert!(kept.starts_with(objective), "{kept}");
        assert!(kept.ends_with(r#""sizes":[["N",3000.0]]}"#), "{kept}");
        assert_eq!(serde_json::from_str::<Metric>(&kept).unwrap(), metric("gflops", "").unwrap());
        let time = serde_json::to_string(&metric("time", "").unwrap()).unwrap();
        assert_eq!(time, r#"{"name":"time","direction":"minimise","unit":"ms","source":"time"}"#);
        assert_eq!(Metric::recorded(None), metric("time", "").unwrap());
    }

    #[test]
    fn what_is_wrong_is_said_with_a_remedy() {
        let wrong = |text: &str, metrics: &str| {
            let error = metric(text, metrics).unwrap_err();
            format!("{error}; {}", error.remedy.as_deref().unwrap_or_default())
        };
        assert!(wrong("gflop", "").contains("did you mean `gflops`?"));
        assert!(wrong("gbytes", "").contains("does not declare its `bytes`"));
        assert!(wrong("e", "e = \"tims_ms * 2\"").contains("did you mean `time_ms`?"));
    }

    #[test]
    fn what_is_no_finite_number_or_is_missing_is_a_message() {
        assert!(values("loss", "loss = \"1e308 * joules * joules\"").unwrap_err().contains("`loss` is inf"));
        assert!(values("watts", "").unwrap_err().contains("the run measured joules, time_ms"));
    }

    #[test]
    fn a_run_has_one_error_which_every_sample_shares() {
        let error = metric("error", "").unwrap();
        let values = [(ERROR.to_string(), vec![1e-5]), ("joules".to_string(), vec![1.0])].into();
        let measured = Measurement { times_ms: vec![2.0, 4.0], values, ..Measurement::default() };
        assert_eq!(error.samples(&|_| None, &measured).unwrap(), [1e-5, 1e-5]);
        assert!(metric("joules", "").unwrap().samples(&|_| None, &measured).is_err(), "one sample has none");
    }

    #[test]
    fn a_front_counts_as_the_geometric_mean_of_its_objectives() {
        let front = metric("time, gflops", "").unwrap();
        let values = front.samples(&|_| None, &measured()).unwrap();
        assert!((values[0] / (2.0 / (6000.0 / 2.0 / 1e6f64)).sqrt() - 1.0).abs() < 1e-12);
        assert_eq!(front.objective().to_string(), "minimise time, maximise gflops");
        let names = front.objectives().iter().map(|one| one.objective().quantity().to_string()).collect::<Vec<_>>();
        assert_eq!(names, ["time_ms", "gflops"]);
        let kept = serde_json::to_value(&front).unwrap();
        assert_eq!(Metric::recorded(Some(&kept)), front);
        assert!(metric("time, gflop", "").is_err());
    }

    #[test]
    fn a_front_ranks_zero_and_negative_values_as_its_objectives_do() {
        let score = |time: f64, misses: f64| joined(&[(Direction::Minimise, time), (Direction::Maximise, -misses)]);
        let ascending = [(1.0, 9.0), (2.0, 9.0), (2.0, 1e-9), (1.0, 0.0), (2.0, 0.0), (1.0, -1.0), (2.0, -1.0)];
        let scores = ascending.map(|(time, misses)| score(time, misses));
        assert!(scores.iter().all(|score| *score > 0.0), "{scores:?}");
        assert!(scores.is_sorted_by(|one, other| one < other), "{scores:?}");
        assert!(matches!(Gain::between(scores[0], scores[1]), Gain::Ratio(ratio) if (1.0..2.0).contains(&ratio)));
        assert!(matches!(Gain::between(scores[1], scores[3]), Gain::Difference(_)), "zero has no ratio");
        assert!(matches!(Gain::between(scores[1], scores[5]), Gain::Difference(_)), "nor have two signs");
        assert!(matches!(Gain::between(scores[3], scores[4]), Gain::Ratio(ratio) if (1.0..2.0).contains(&ratio)));
        let more = |misses: f64| [vec![(Direction::Minimise, 1.0); 4], vec![(Direction::Minimise, misses)]].concat();
        assert!(score(1e300, -1e300).is_finite() && score(1e300, 1e300).is_finite());
        assert!(matches!(Gain::between(joined(&more(0.0)), joined(&more(1.0))), Gain::Difference(_)), "of five");
    }

    #[test]
    fn energy_and_its_product_with_time_are_metrics_of_every_problem() {
        let needs = |text: &str, metrics: &str| metric(text, metrics).unwrap().needs_energy();
        assert!(needs("energy", "") && needs("edp", "") && needs("w", "w = \"energy / time_ms\""));
        assert!(!needs("gflops", "") && !needs("w", "w = \"joules / time_ms\""));
        let values = [(ENERGY_MJ.to_string(), vec![10.0, 20.0])].into();
        let measured = Measurement { times_ms: vec![2.0, 4.0], values, ..Measurement::default() };
        let edp = metric("edp", "").unwrap();
        assert_eq!(edp.samples(&|_| None, &measured).unwrap(), [20.0, 80.0]);
        assert_eq!(edp.objective().to_string(), "minimise edp");
        let efficiency = metric("gflops_per_w", "").unwrap();
        assert!(efficiency.needs_energy());
        // 6000 operations in 10 and 20 mJ.
        assert_eq!(efficiency.samples(&|_| None, &measured).unwrap(), [6000.0 / 10.0 / 1e6, 6000.0 / 20.0 / 1e6]);
        assert_eq!(efficiency.objective().to_string(), "maximise gflops_per_w");
    }

    #[test]
    fn only_what_is_proportional_to_time_is_raced() {
        let tile = tunesmith_space::Parameter::new("TILE", vec![Value::Int(1), Value::Int(2)]).unwrap();
        let space = Space::builder().parameter(tile).build().unwrap();
        let time = |text: &str, metrics: &str, score: f64| {
            MetricObjective::new(metric(text, metrics).unwrap(), &space).time_ms_at(space.id(1).unwrap(), score)
        };
        assert!((time("gflops", "", -6000.0 / 1e6 / 3.0).unwrap() - 3.0).abs() < 1e-12);
        assert_eq!(time("e", "e = \"time_ms * TILE\"", 8.0), Some(4.0));
        for (text, metrics) in [
            ("joules", ""),
            ("e", "e = \"time_ms + 1\""),
            ("e", "e = \"-time_ms\""),
            ("maximise e", "e = \"time_ms\""),
            ("minimise gflops", ""),
        ] {
            assert_eq!((time(text, metrics, 8.0), time(text, metrics, -8.0)), (None, None), "{text}, {metrics}");
        }
    }

    #[test]
    fn an_objective_that_cannot_be_read_ranks_nothing() {
        for kept in [r#""minimise joules""#, r#"{"name":"joules","direction":"sideways"}"#, "[]"] {
            let metric = Metric::recorded(Some(&serde_json::from_str(kept).unwrap()));
            assert!(!metric.objective().is_time(), "{kept}");
            assert!(metric.samples(&|_| None, &measured()).unwrap_err().contains("cannot be computed"), "{kept}");
        }
    }

    #[test]
    fn times_are_common_to_all_configurations_where_no_parameter_counts() {
        let tile = tunesmith_space::Parameter::new("TILE", vec![Value::Int(1), Value::Int(2)]).unwrap();
        let space = Space::builder().parameter(tile).build().unwrap();
        let common = |text: &str| {
            let metrics = "half = \"time_ms / TILE\"\ne = \"half + 1\"\nf = \"time_ms * N\"";
            MetricObjective::new(metric(text, metrics).unwrap(), &space).has_common_times()
        };
        assert_eq!(["time", "gflops", "f", "half", "e"].map(common), [true, true, true, false, false]);
    }

    #[test]
    fn only_what_worsens_with_time_alone_has_a_longest_time_that_can_win() {
        let tile = tunesmith_space::Parameter::new("TILE", vec![Value::Int(1), Value::Int(2)]).unwrap();
        let space = Space::builder().parameter(tile).build().unwrap();
        let longest_ms = |text: &str, metrics: &str, best: f64| {
            let objective = MetricObjective::new(metric(text, metrics).unwrap(), &space);
            let longest = objective.longest_time_that_can_win(space.id(1).unwrap(), best);
            longest.map(|time| time.as_secs_f64() * 1e3)
        };
        for (text, metrics, best, time) in [
            ("gflops", "", -6000.0 / 1e6 / 3.0, 3.0),
            ("e", "e = \"time_ms * TILE\"", 8.0, 4.0),
            ("e", "e = \"time_ms + 5\"", 8.0, 3.0),
            ("e", "e = \"sqrt(time) * 2\"", 8.0, 16.0),
            ("maximise e", "e = \"1000 - half\"\nhalf = \"time_ms / TILE\"", -900.0, 200.0),
            ("e", "e = \"time_ms if TILE == 2 else -time_ms\"", 7.0, 7.0),
        ] {
            let found = longest_ms(text, metrics, best).unwrap();
            assert!((found / time - 1.0).abs() < 2e-3, "{text}, {metrics}: {found}");
        }
        for (text, metrics) in [
            ("joules", ""),
            ("energy", ""),
            ("edp", ""),
            ("e", "e = \"time_ms * registers\""),
            ("e", "e = \"-time_ms\""),
            ("e", "e = \"time_ms % 2000\""),
            ("e", "e = \"time_ms if TILE == 1 else -time_ms\""),
            ("maximise e", "e = \"time_ms\""),
            ("minimise gflops", ""),
            ("time, gflops", ""),
        ] {
            assert_eq!((longest_ms(text, metrics, 8e3), longest_ms(text, metrics, -8e3)), (None, None), "{metrics}");
        }
        assert_eq!(longest_ms("e", "e = \"min(time_ms, 3000)\"", 8e3), None, "no time is worse");
    }
}
