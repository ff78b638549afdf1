//! The names that metrics and limits may use, and their values.

use crate::problem_spec::ProblemSpec;
use serde::{Deserialize, Serialize};
use std::cell::Cell;
use std::collections::BTreeSet;
use tunesmith_core::{ERROR, Measurement, Refusal, Source};
use tunesmith_kernel::RESOURCE_NAMES;
use tunesmith_kernel::measure::ENERGY_MJ;
use tunesmith_space::{Course, Expr, Trend, Value, did_you_mean};

/// The numbers that every measurement has besides the values that the run yields.
const MEASURED: [&str; 2] = ["time_ms", "compile_ms"];

/// Predefined metrics of every problem: the energy of a sample in millijoules, and its product with
/// the time.
const ENERGIES: [(&str, &str); 2] = [("energy", ENERGY_MJ), ("edp", "energy * time_ms")];

/// Metrics of every problem that declares its work.
const RATES: [&str; 2] = ["gflops", "gbytes"];

/// The metric of every problem that declares its operations: 10^9 of them per second for each watt.
pub const EFFICIENCY: &str = "gflops_per_w";

/// Maximum depth of references between metrics. [`check_metrics`](crate::metrics::check_metrics) refuses deeper
/// ones and cycles; the journals of older versions may hold both.
pub(crate) const MAX_DEPTH: usize = 32;

/// The name of the metric that joins the objectives of a front into one number: the geometric mean,
/// which no unit influences. A maximised objective counts with its reciprocal. `Metric` computes it.
pub const MEAN: &str = "geometric mean";

/// The name of the predefined metric that is another word for `time_ms`.
pub const TIME: &str = "time";

/// The metrics and sizes of a problem, from which the values of names follow.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Definitions {
    /// Metrics by name, as expressions over each other, the sizes, the parameters, and what a run
    /// measures.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub metrics: Vec<(String, String)>,
    /// The sizes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sizes: Vec<(String, f64)>,
}

/// The numbers that every run on a device yields.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Yielded {
    /// The names of those that are known.
    pub names: BTreeSet<String>,
    /// The origin of those that the problem does not define.
    pub source: Source,
    /// True if the device yields numbers of its own beside them.
    pub has_more: bool,
}

impl Yielded {
    /// Returns true if a run may yield `name`. Every run has a time, and only verification yields an error.
    fn may_have(&self, name: &str) -> bool {
        name == "time_ms" || self.names.contains(name) || (self.has_more && name != ERROR)
    }
}

/// The values of names that are neither metrics nor sizes.
pub struct Known<'a> {
    /// Returns the value of a parameter.
    pub parameter: &'a dyn Fn(&str) -> Option<Value>,
    /// Returns a measured number.
    pub measured: &'a dyn Fn(&str) -> Option<f64>,
}

impl Definitions {
    /// Returns the metrics of the problem, its declared work, the rates derived from that, and its
    /// sizes. A number that is among `yielded`, or that the problem's command prints, keeps its name: no
    /// predefined metric hides it.
    pub fn of(problem: &ProblemSpec, yielded: &Yielded) -> Self {
        let float = |(name, value): &(String, Value)| Some((name.clone(), value.as_float()?));
        Self { metrics: metrics(problem, yielded), sizes: problem.sizes.iter().filter_map(float).collect() }
    }

    /// Returns the `metrics` over the numbers of a recording, each of its own name.
    pub fn over_recording(metrics: &[(String, String)]) -> Result<Self, Refusal> {
        for (at, (name, text)) in metrics.iter().enumerate() {
            if let Some((_, first)) = metrics[..at].iter().find(|(known, _)| known == name) {
                let remedy = "remove one of them, or give it another name".to_string();
                return Err(Refusal::new(
                    format!("`{name}` is there twice, as `{first}` and as `{text}`"),
                    Some(remedy),
                ));
            }
            Expr::parse(text)
                .map_err(|error| Refusal::new(format!("in `{text}` of metric `{name}`: {error}"), error.remedy))?;
        }
        let time = (TIME.to_string(), "time_ms".to_string());
        Ok(Self { metrics: metrics.iter().cloned().chain([time]).collect(), sizes: Vec::new() })
    }

    /// Returns the names that the values of `names` come from in the end: all but metrics and sizes.
    pub fn needed(&self, names: impl IntoIterator<Item = String>) -> BTreeSet<String> {
        let (mut waiting, mut seen) = (Vec::from_iter(names), BTreeSet::new());
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

    /// Refuses a quantity that needs a number which is neither a parameter nor among `yielded`.
    /// `needed` are the names that its value comes from, `label` says what it is.
    pub fn check_yielded(
        &self,
        label: &str,
        needed: &BTreeSet<String>,
        problem: &ProblemSpec,
        yielded: &Yielded,
    ) -> Result<(), Refusal> {
        let is_parameter = |name: &str| problem.space.parameters.iter().any(|parameter| parameter.name() == name);
        let is_missing = |name: &&String| !is_parameter(name) && !yielded.may_have(name);
        let Some(missing) = needed.iter().find(is_missing) else { return Ok(()) };
        let yielded = &yielded.names;
        let text = format!("{label} needs `{missing}`, which nothing yields on this device");
        let known = yielded.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
        let advice = match did_you_mean(missing, yielded.iter().map(String::as_str)) {
            Some(meant) => format!("{meant} "),
            None if missing == ERROR => {
                "it is the largest relative error against the correct results: add them to `[verify]`; ".to_string()
            }
            None => String::new(),
        };
        Err(Refusal::new(text, Some(format!("{advice}a run yields {known}"))))
    }

    /// Finds metrics that are not expressions, and misspelt names among `used`, each with the place
    /// of its use, and in metrics. A name that resembles no known one may be a value that only the run
    /// prints. Names among `yielded` are never misspelt.
    pub fn check_names(
        &self,
        problem: &ProblemSpec,
        yielded: &Yielded,
        mut used: Vec<(String, String)>,
    ) -> Result<(), Refusal> {
        let parameters = problem.space.parameters.iter().map(|parameter| parameter.name());
        let sizes = self.sizes.iter().map(|(name, _)| name.as_str());
        let metrics = self.metrics.iter().map(|(name, _)| name.as_str());
        let known: BTreeSet<&str> = parameters
            .chain(sizes)
            .chain(metrics)
            .chain(printed(problem))
            .chain(yielded.names.iter().map(String::as_str))
            .chain(MEASURED)
            .chain([ENERGY_MJ, ERROR])
            .chain(RESOURCE_NAMES)
            .collect();
        for (name, text) in &self.metrics {
            let expr = Expr::parse(text)
                .map_err(|error| Refusal::new(format!("in `{text}` of metric `{name}`: {error}"), error.remedy))?;
            used.extend(expr.names().iter().map(|used| (format!("metric `{name}`"), used.text.clone())));
        }
        for (place, name) in used.iter().filter(|(_, name)| !known.contains(name.as_str())) {
            let work = [
                ("gflops", "flops"),
                ("gbytes", "bytes"),
                ("flops", "flops"),
                ("bytes", "bytes"),
                (EFFICIENCY, "flops"),
            ];
            if let Some((_, key)) = work.iter().find(|(rate, _)| rate == name) {
                let text = format!("{place} uses `{name}`, but the problem does not declare its `{key}`");
                return Err(Refusal::new(text, Some(format!("write `{key} = \"...\"` under `[problem]`"))));
            }
            if let Some(remedy) = did_you_mean(name, known.iter().copied()) {
                return Err(Refusal::new(format!("{place} uses `{name}`, which does not exist"), Some(remedy)));
            }
        }
        Ok(())
    }

    /// Returns the value of a name, or `None` if a number is missing, or if metrics form a circle.
    pub fn value(&self, name: &str, known: &Known<'_>) -> Option<Value> {
        Scope { definitions: self, known, depth: Cell::new(0) }.value(name)
    }

    /// Returns the change of a name's value while the time grows and the configuration stays.
    /// `parameter` gives the values of the configuration. Of a value that depends on anything else that
    /// is measured, nothing is certain.
    pub fn over_time(&self, name: &str, parameter: &dyn Fn(&str) -> Option<Value>) -> Trend {
        match self.course(name, parameter, 0) {
            Some(Course::Changes(trend)) => trend,
            _ => Trend::UNKNOWN,
        }
    }

    /// Looks names up in the order of [`value`](Self::value).
    fn course(&self, name: &str, parameter: &dyn Fn(&str) -> Option<Value>, depth: usize) -> Option<Course> {
        if let Some((_, text)) = self.metrics.iter().find(|(known, _)| known == name) {
            let expr = Expr::parse(text).ok().filter(|_| depth < MAX_DEPTH)?;
            return Some(Course::Changes(expr.trend(&|name| self.course(name, parameter, depth + 1))));
        }
        let size = || self.sizes.iter().find(|(known, _)| known == name).map(|(_, size)| Value::of_number(*size));
        let constant = parameter(name).or_else(size).map(Course::Stays);
        constant.or_else(|| (name == "time_ms").then_some(Course::Changes(Trend::GROWS)))
    }
}

/// Returns a number of `measurement` by its name. `value` returns the one called so of the values
/// that the run yields, and `time_ms` is the time that goes with it. What the compiler tells comes
/// last.
pub fn measured(
    name: &str,
    time_ms: Option<f64>,
    measurement: &Measurement,
    value: impl Fn(&str) -> Option<f64>,
) -> Option<f64> {
    if name == "time_ms" {
        return time_ms;
    }
    value(name).or_else(|| {
        let compile = measurement.compile.as_ref()?;
        if name == "compile_ms" { Some(compile.time_ms) } else { compile.resource(name) }
    })
}

/// Returns the names of the numbers that a run yielded.
pub fn yielded(measurement: &Measurement) -> String {
    let resources = measurement.compile.iter().flat_map(|compile| compile.resources.keys());
    measurement.values.keys().chain(resources).map(String::as_str).chain(MEASURED).collect::<Vec<_>>().join(", ")
}

/// Returns the names of the numbers that the problem's command prints.
pub fn printed(problem: &ProblemSpec) -> impl Iterator<Item = &str> {
    problem.command().into_iter().flat_map(|command| &command.values).map(|(name, _)| name.as_str())
}

/// Returns true if Tunesmith gives `name` a meaning in some problem: a predefined metric, or a number
/// that it measures itself.
pub(crate) fn is_predefined(name: &str) -> bool {
    let metrics = ENERGIES.map(|(name, _)| name).into_iter().chain(RATES).chain([EFFICIENCY, TIME, "flops", "bytes"]);
    metrics.chain(MEASURED).chain([ENERGY_MJ, ERROR, MEAN]).chain(RESOURCE_NAMES).any(|known| known == name)
}

/// Returns the metrics of the problem, its declared work, and the rates derived from that.
fn metrics(problem: &ProblemSpec, yielded: &Yielded) -> Vec<(String, String)> {
    let mut all: Vec<(String, String)> = problem.measure.metrics.clone();
    let taken: BTreeSet<&str> = (problem.measure.metrics.iter().map(|(name, _)| name.as_str()))
        .chain(printed(problem))
        .chain(yielded.names.iter().map(String::as_str))
        .chain(problem.space.parameters.iter().map(|parameter| parameter.name()))
        .chain(problem.sizes.iter().map(|(name, _)| name.as_str()))
        .collect();
    let mut add = |name: &str, text: String| {
        if !taken.contains(name) {
            all.push((name.to_string(), text));
        }
    };
    ENERGIES.iter().for_each(|(name, text)| add(name, (*text).to_string()));
    add(TIME, "time_ms".to_string());
    for (work, rate, expr) in [("flops", RATES[0], &problem.measure.flops), ("bytes", RATES[1], &problem.measure.bytes)]
    {
        if let Some(expr) = expr {
            add(work, expr.text().to_string());
            // Per millisecond to 10^9 per second.
            add(rate, format!("{work} / time_ms / 1e6"));
        }
    }
    if problem.measure.flops.is_some() {
        // Per millijoule to 10^9 per joule, which are 10^9 per second for each watt. A recorded or
        // printed `energy` may have another unit.
        add(EFFICIENCY, format!("flops / {ENERGY_MJ} / 1e6"));
    }
    all
}

/// The meaning of names in one sample of one configuration.
struct Scope<'a> {
    definitions: &'a Definitions,
    known: &'a Known<'a>,
    depth: Cell<usize>,
}

impl Scope<'_> {
    fn value(&self, name: &str) -> Option<Value> {
        let Definitions { metrics, sizes } = self.definitions;
        if let Some((_, text)) = metrics.iter().find(|(known, _)| known == name) {
            self.depth.set(self.depth.get() + 1);
            let expr = Expr::parse(text).ok().filter(|_| self.depth.get() <= MAX_DEPTH)?;
            let value = expr.evaluate(&|name| self.value(name)).ok();
            self.depth.set(self.depth.get() - 1);
            return value;
        }
        let size = || sizes.iter().find(|(known, _)| known == name).map(|(_, size)| Value::of_number(*size));
        (self.known.parameter)(name).or_else(size).or_else(|| (self.known.measured)(name).map(Value::Float))
    }
}
