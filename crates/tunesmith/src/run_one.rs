//! Runs one configuration: compiles, runs, verifies and times it.

use crate::devices::device_for;
use crate::runner::{Extras, OnePlan, Runner};
use crate::{Error, Problem};
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::Arc;
use tunesmith_core::counters::Hardware;
use tunesmith_core::{Completion, Evaluation, Interrupt, Measurement, Request, SystemClock};
use tunesmith_device::Machine;
use tunesmith_model::counters::CounterModel;
use tunesmith_problem::configuration;
use tunesmith_space::{ConfigId, Space, Value};
use tunesmith_study::outcome::{Candidate, CandidateDocument, Rates};
use tunesmith_study::{CounterExplanation, CounterSubject, ModelChoice, REMEDY, Suggestible, read_model};

/// The configuration to run, and the readings to take.
#[derive(Clone, Debug, Default)]
pub struct RunOptions {
    /// Parameters and values. Unnamed parameters are as in the problem's default configuration.
    pub config: Vec<(String, String)>,
    /// True to read counters and explain them.
    pub profile: bool,
    /// The counter model for the explanation, which predicts the effect of parameters.
    pub model: Option<ModelChoice>,
}

/// The result of one configuration. [`OneRun::document`] is its JSON form.
#[derive(Clone, Debug)]
pub struct OneRun {
    /// The configuration and its times.
    pub candidate: Candidate,
    /// Time of the untimed first launch in milliseconds.
    pub warmup_ms: Option<f64>,
    /// Time of the compilation in milliseconds.
    pub compile_ms: Option<f64>,
    /// The device's resources that the kernels use, by name, if the driver reports them.
    pub resources: BTreeMap<String, f64>,
    /// The explanation of the counters, if requested and if the device has counters.
    pub profile: Option<CounterExplanation>,
    /// The counters themselves, by name.
    pub counters: BTreeMap<String, f64>,
    /// The reason why a requested profile is missing.
    pub no_profile: Option<String>,
    /// The rates of the configuration, if the problem declares its work.
    pub rates: Rates,
}

/// A [`OneRun`] as JSON: a contract with other programs. See `run --json` in the interface.
#[derive(Clone, Debug, Serialize)]
pub struct OneRunDocument<'a> {
    #[serde(flatten)]
    candidate: CandidateDocument<'a>,
    warmup_ms: Option<f64>,
    compile_ms: Option<f64>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    resources: &'a BTreeMap<String, f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    profile: Option<&'a CounterExplanation>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    counters: &'a BTreeMap<String, f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    no_profile: Option<&'a str>,
    gflops: Option<f64>,
    gbytes: Option<f64>,
}

impl OneRun {
    /// Returns the JSON form.
    pub fn document(&self) -> OneRunDocument<'_> {
        OneRunDocument {
            candidate: CandidateDocument::new(&self.candidate),
            warmup_ms: self.warmup_ms,
            compile_ms: self.compile_ms,
            resources: &self.resources,
            profile: self.profile.as_ref(),
            counters: &self.counters,
            no_profile: self.no_profile.as_deref(),
            gflops: self.rates.gflops,
            gbytes: self.rates.gbytes,
        }
    }
}

/// Runs one configuration. Returns `None` if `interrupt` was raised meanwhile.
///
/// # Errors
/// The request is wrong, or a device fails. A configuration that fails is a result.
pub fn run_one(
    problem: &Problem,
    machine: &Machine,
    options: &RunOptions,
    interrupt: &Interrupt,
) -> Result<Option<OneRun>, Error> {
    let model = profile_model(options)?;
    let (space, mut runner, id) = opened(problem, machine, options)?;
    runner.preflight_all(&[id])?;
    if !runner.prepare(interrupt)? {
        return Ok(None);
    }
    let request = if options.profile { Request::profiled(id) } else { Request::timed(id) };
    runner.evaluator().submit(request)?;
    let Some(completion) = runner.evaluator().next(interrupt)? else { return Ok(None) };
    let Completion { failure, measurement, unprofiled, .. } = completion;
    let evaluation = Evaluation { request, failure, measurement, clock: std::time::Duration::ZERO, proposed: None };
    let candidate = Candidate::new(&space, &evaluation, &[], None);
    let profile = options
        .profile
        .then(|| explained(&space, &candidate, &evaluation.measurement, &runner.hardware(), model.as_ref()));
    let (profile, no_profile) = match profile {
        None => (None, None),
        Some(Ok(profile)) => (Some(profile), None),
        Some(Err(reason)) => (None, Some(unprofiled.unwrap_or_else(|| format!("{reason}; {}", REMEDY)))),
    };
    let Measurement { warmup_ms, compile, counters, .. } = evaluation.measurement;
    let rates = Rates::new(problem, &candidate);
    Ok(Some(OneRun {
        profile,
        no_profile,
        counters,
        candidate,
        warmup_ms,
        compile_ms: compile.as_ref().map(|compile| compile.time_ms),
        resources: compile.map(|compile| compile.resources).unwrap_or_default(),
        rates,
    }))
}

/// Opens the device for the configuration that `options` name.
fn opened<'a>(
    problem: &'a Problem,
    machine: &Machine,
    options: &RunOptions,
) -> Result<(Space, Runner<'a>, ConfigId), Error> {
    let device = device_for(problem, machine)?;
    let space = problem.space_until(&device.limits(machine), machine.interrupt())?.space;
    let id = configuration_id(problem, &space, &options.config)?;
    let clock = Arc::new(SystemClock::new());
    let runner = Runner::open(problem, &space, &device, machine, Extras::default(), clock)?;
    Ok((space, runner, id))
}

/// Returns the counter model for the explanation.
fn profile_model(options: &RunOptions) -> Result<Option<CounterModel>, Error> {
    match &options.model {
        Some(ModelChoice::File(file)) if options.profile => Ok(Some(read_model(file)?)),
        Some(other) if options.profile => {
            let text = format!("`--model {}` needs many recorded runs, but this is one", other.text());
            Err(Error::request(text, Some("name a file of `tunesmith train counters`".to_string())))
        }
        _ => Ok(None),
    }
}

/// Returns the explanation of the counters of `candidate`, or the reason why there is none.
fn explained(
    space: &Space,
    candidate: &Candidate,
    measurement: &Measurement,
    hardware: &Hardware,
    model: Option<&CounterModel>,
) -> Result<CounterExplanation, String> {
    if measurement.counters.is_empty() {
        return Err("the device gave no counters".to_string());
    }
    let values: Vec<Value> = space.values(&space.unrank(candidate.index)).map(|(_, value)| value.clone()).collect();
    let is_valid = |values: &[Value]| {
        let pairs: Vec<(&str, Value)> =
            space.parameters().iter().map(tunesmith_space::Parameter::name).zip(values.iter().cloned()).collect();
        let found = space.configuration(&pairs, None).ok().and_then(|found| space.rank(&found));
        if found.is_some() { Suggestible::Unmeasured } else { Suggestible::No }
    };
    let time_ms = candidate.time_ms;
    let subject = CounterSubject { parameters: space.parameters(), values: &values, hardware, time_ms };
    subject.explain(measurement, model, &is_valid).map(|explained| explained.with_gaps(measurement))
}

/// Returns the exact way in which one configuration is built and run.
///
/// # Errors
/// The request is wrong, or the problem has no kernel.
pub fn plan_one(problem: &Problem, machine: &Machine, options: &RunOptions) -> Result<OnePlan, Error> {
    let (_, runner, id) = opened(problem, machine, options)?;
    Ok(runner.plan(id))
}

fn configuration_id(problem: &Problem, space: &Space, pairs: &[(String, String)]) -> Result<ConfigId, Error> {
    let default = problem.default_configuration(space)?;
    let configuration = configuration(space, default.as_ref(), pairs)?;
    // `configuration` refuses configurations that a constraint excludes. Only a space beyond 128
    // bits then has no rank.
    space.rank(&configuration).ok_or_else(|| {
        Error::request("the space has more than 2^128 configurations", Some("add constraints".to_string()))
    })
}
