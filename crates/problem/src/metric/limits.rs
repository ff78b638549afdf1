//! Limits on what is measured: conditions that decide whether a correct configuration may win.

use crate::{Problem, ProblemError};
use std::collections::BTreeSet;
use tunesmith_core::{Failure, FailureKind, Measurement, Refusal, statistics};
use tunesmith_kernel::measure::ENERGY_MJ;
use tunesmith_space::{Expr, Value};
use tunesmith_spec::{Definitions, Key, Known, Limit, Yielded, measured, yielded};

/// The limits of a problem. A value with several samples counts as their median.
#[derive(Clone, Debug)]
pub struct Limits {
    limits: Vec<Limit>,
    definitions: Definitions,
}

impl Limits {
    /// Returns the limits of `problem` on a device whose runs yield `yielded`.
    ///
    /// # Errors
    /// A limit uses a name that is not known but resembles a known one, or a metric cannot be read.
    pub fn new(problem: &Problem, yielded: &Yielded) -> Result<Self, ProblemError> {
        let limits =
            Self { limits: problem.spec.limits().to_vec(), definitions: Definitions::of(problem.spec(), yielded) };
        for limit in &limits.limits {
            let label = format!("limit `{}`", limit.name);
            let used = limit.condition.names().iter().map(|used| (label.clone(), used.text.clone()));
            let checked = limits.definitions.check_names(problem.spec(), yielded, used.collect());
            checked.map_err(at(problem, limit))?;
        }
        Ok(limits)
    }

    /// Returns limits over the numbers of a recording and `metrics` of them.
    ///
    /// # Errors
    /// A limit or a metric is no expression.
    pub fn over_recording(conditions: &[String], metrics: &[(String, String)]) -> Result<Self, Refusal> {
        let limit = |text: &String| {
            let condition = Expr::parse(text)
                .map_err(|error| Refusal::new(format!("in the limit `{text}`: {error}"), error.remedy))?;
            Ok(Limit { name: text.clone(), condition })
        };
        let limits = conditions.iter().map(limit).collect::<Result<_, Refusal>>()?;
        Ok(Self { limits, definitions: Definitions::over_recording(metrics)? })
    }

    /// Returns true if there is no limit.
    pub fn is_empty(&self) -> bool {
        self.limits.is_empty()
    }

    /// Returns true if a limit depends on the energy of samples.
    pub fn needs_energy(&self) -> bool {
        self.limits.iter().any(|limit| self.needed(limit).contains(ENERGY_MJ))
    }

    /// Checks that the limits need only parameters and what a run yields.
    ///
    /// # Errors
    /// One needs another number.
    pub fn check_yielded(&self, problem: &Problem, yielded: &Yielded) -> Result<(), ProblemError> {
        for limit in &self.limits {
            let (label, needed) = (format!("the limit `{}`", limit.name), self.needed(limit));
            let checked = self.definitions.check_yielded(&label, &needed, problem.spec(), yielded);
            checked.map_err(at(problem, limit))?;
        }
        Ok(())
    }

    /// Returns the excess over every limit ([`Expr::excess`](tunesmith_space::Expr::excess)), or the failure of a
    /// configuration that lacks a number.
    pub(super) fn excesses(
        &self,
        parameter: &dyn Fn(&str) -> Option<Value>,
        measurement: &Measurement,
    ) -> Result<Vec<f64>, Failure> {
        let excess = |limit: &Limit| {
            let scope = |name: &str| self.value(name, parameter, measurement);
            limit.condition.excess(&scope).map_err(|error| {
                let text = format!(
                    "{}\nit cannot be checked: {error}; the run measured {}",
                    limit.headline(),
                    yielded(measurement)
                );
                Failure::new(FailureKind::Infeasible, text)
            })
        };
        self.limits.iter().map(excess).collect()
    }

    /// Returns the failure of a correct configuration that breaks a limit: the first one by its name,
    /// with the numbers, then the others.
    pub(super) fn broken(
        &self,
        parameter: &dyn Fn(&str) -> Option<Value>,
        measurement: &Measurement,
    ) -> Option<Failure> {
        let excesses = match self.excesses(parameter, measurement) {
            Ok(excesses) => excesses,
            Err(failure) => return Some(failure),
        };
        let broken = self.limits.iter().zip(excesses).filter(|(_, excess)| *excess > 0.0).map(|(limit, _)| limit);
        let line = |limit: &Limit| {
            let names = limit.condition.names().iter().map(|name| name.text.as_str());
            let number = |name: &str| {
                let value = self.value(name, parameter, measurement)?;
                let is_size = self.definitions.sizes.iter().any(|(size, _)| size == name);
                (!is_size).then(|| format!("{name} is {value}"))
            };
            format!("{}\n{}", limit.headline(), names.filter_map(number).collect::<Vec<_>>().join(", "))
        };
        let lines: Vec<String> = broken.map(line).collect();
        (!lines.is_empty()).then(|| Failure::new(FailureKind::Infeasible, lines.join("\n")))
    }

    fn value(&self, name: &str, parameter: &dyn Fn(&str) -> Option<Value>, measurement: &Measurement) -> Option<Value> {
        let time_ms = statistics::median(&measurement.times_ms);
        let median = |name: &str| statistics::median(measurement.values.get(name)?);
        let named = |name: &str| measured(name, time_ms, measurement, median);
        self.definitions.value(name, &Known { parameter, measured: &named })
    }

    /// Returns the names that a limit comes from in the end.
    fn needed(&self, limit: &Limit) -> BTreeSet<String> {
        self.definitions.needed(limit.condition.names().iter().map(|name| name.text.clone()))
    }
}

/// Returns the error for a refusal that concerns a limit of the problem.
fn at<'a>(problem: &'a Problem, limit: &'a Limit) -> impl FnOnce(Refusal) -> ProblemError + 'a {
    let key = Key::of("limits").field(&limit.name);
    move |refusal| problem.error(&key, refusal.text, refusal.remedy)
}
