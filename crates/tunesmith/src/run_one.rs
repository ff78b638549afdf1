//! One configuration: compile, run, verify, time.

use crate::configuration::configuration;
use crate::devices::DeviceChoice;
use crate::explain::{self, Explanation, Subject};
use crate::outcome::Candidate;
use crate::rates::Rates;
use crate::runner::Runner;
use crate::tune::TuneOptions;
use crate::{Error, Problem};
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::Arc;
use tunesmith_core::counters::Hardware;
use tunesmith_core::{Completion, Evaluation, Interrupt, Measurement, Request, SystemClock};
use tunesmith_device::KernelPlan;
use tunesmith_model::counters::CounterModel;
use tunesmith_space::{ConfigId, Space, Value};
use tunesmith_study::{ModelChoice, read_model};

/// Which configuration to run, and where.
#[derive(Clone, Debug, Default)]
pub struct RunOptions {
    /// Parameters and values; unnamed ones as in the problem's default configuration.
    pub config: Vec<(String, String)>,
    /// Whether counters are read and explained.
    pub profile: bool,
    /// Device, counter model, compilers and worker; the rest is ignored.
    pub tune: TuneOptions,
}

/// What one configuration gave.
#[derive(Clone, Debug, Serialize)]
pub struct OneRun {
    /// The configuration and its times.
    #[serde(flatten)]
    pub candidate: Candidate,
    /// Time of the untimed first launch in milliseconds.
    pub warmup_ms: Option<f64>,
    /// Time of the compilation in milliseconds.
    pub compile_ms: Option<f64>,
    /// What the kernels use of the device, by name, where the driver tells.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub resources: BTreeMap<String, f64>,
    /// What the counters say, where they were asked for and the device has any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<Explanation>,
    /// The counters themselves, by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub counters: BTreeMap<String, f64>,
    /// Why there is no profile although one was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_profile: Option<String>,
    /// GFLOP/s at the median, where the problem declares `flops`.
    pub gflops: Option<f64>,
    /// GB/s at the median, where the problem declares `bytes`.
    pub gbytes: Option<f64>,
}

/// Runs one configuration. `None` when `interrupt` was raised meanwhile.
///
/// # Errors
/// A wrong request, or a device that fails; a configuration that fails is a result.
pub fn run_one(problem: &Problem, options: &RunOptions, interrupt: &Interrupt) -> Result<Option<OneRun>, Error> {
    let model = profile_model(options)?;
    let device = DeviceChoice::for_problem(
        problem,
        options.tune.device.as_deref(),
        &options.tune.compilers,
        &options.tune.worker,
    )?;
    let space = problem.space(&device.limits(&options.tune.compilers))?.space;
    let id = configuration_id(problem, &space, &options.config)?;
    let mut runner = Runner::open(problem, &space, &device, &options.tune, false, Arc::new(SystemClock::new()))?;
    runner.preflight(id)?;
    if !runner.prepare(interrupt)? {
        return Ok(None);
    }
    let request = if options.profile { Request::profiled(id) } else { Request::timed(id) };
    runner.evaluator().submit(request)?;
    let Some(completion) = runner.evaluator().next(interrupt)? else { return Ok(None) };
    let Completion { failure, measurement, unprofiled, .. } = completion;
    let (warmup_ms, compile) = (measurement.warmup_ms, measurement.compile.clone());
    let evaluation = Evaluation { request, failure, measurement, clock: std::time::Duration::ZERO };
    let candidate = Candidate::new(&space, &evaluation, &[]);
    let rates = Rates::new(problem, &candidate);
    let profile = options.profile.then(|| {
        let explanation = explained(&space, id, &evaluation.measurement, &runner.hardware(), model.as_ref());
        explanation.map(|explanation| Explanation { time_ms: candidate.time_ms, ..explanation })
    });
    let (profile, no_profile) = match profile {
        None => (None, None),
        Some(Ok(profile)) => (Some(profile), None),
        Some(Err(reason)) => (None, Some(unprofiled.unwrap_or_else(|| format!("{reason}; {}", explain::REMEDY)))),
    };
    Ok(Some(OneRun {
        profile,
        no_profile,
        counters: evaluation.measurement.counters,
        candidate,
        warmup_ms,
        compile_ms: compile.as_ref().map(|compile| compile.time_ms),
        resources: compile.map(|compile| compile.resources).unwrap_or_default(),
        gflops: rates.gflops,
        gbytes: rates.gbytes,
    }))
}

/// The counter model that says what parameters do.
fn profile_model(options: &RunOptions) -> Result<Option<CounterModel>, Error> {
    match &options.tune.model {
        Some(ModelChoice::File(file)) if options.profile => Ok(Some(read_model(file)?)),
        Some(other) if options.profile => {
            let text = format!("`--model {}` takes many recorded runs, and this is one", other.text());
            Err(Error::request(text, Some("name a file of `tunesmith train counters`".to_string())))
        }
        _ => Ok(None),
    }
}

/// What the counters of the configuration `id` say, or why nothing.
fn explained(
    space: &Space,
    id: ConfigId,
    measurement: &Measurement,
    hardware: &Hardware,
    model: Option<&CounterModel>,
) -> Result<Explanation, String> {
    if measurement.counters.is_empty() {
        return Err("the device gave no counters".to_string());
    }
    let values: Vec<Value> = space.values(&space.unrank(id)).map(|(_, value)| value.clone()).collect();
    let is_valid = |values: &[Value]| {
        let pairs: Vec<(&str, Value)> =
            space.parameters().iter().map(tunesmith_space::Parameter::name).zip(values.iter().cloned()).collect();
        let configuration = space.configuration(&pairs, None).ok()?;
        space.rank(&configuration).map(|_| None)
    };
    Subject { parameters: space.parameters(), values: &values, hardware }.explain(measurement, model, &is_valid)
}

/// How one configuration is built and run.
#[derive(Clone, Debug)]
pub enum Plan {
    /// What is compiled for each kernel, and how.
    Kernels(Vec<KernelPlan>),
    /// A shell script that builds, runs and checks a command as an evaluation does.
    Script(String),
}

/// How exactly one configuration is built and run.
///
/// # Errors
/// A wrong request, or a problem without a kernel.
pub fn plan(problem: &Problem, options: &RunOptions) -> Result<Plan, Error> {
    let device = DeviceChoice::for_problem(
        problem,
        options.tune.device.as_deref(),
        &options.tune.compilers,
        &options.tune.worker,
    )?;
    let space = problem.space(&device.limits(&options.tune.compilers))?.space;
    let id = configuration_id(problem, &space, &options.config)?;
    Ok(Runner::open(problem, &space, &device, &options.tune, false, Arc::new(SystemClock::new()))?.plan(id))
}

fn configuration_id(problem: &Problem, space: &Space, pairs: &[(String, String)]) -> Result<ConfigId, Error> {
    let default = problem.default_configuration(space)?;
    let configuration = configuration(space, default.as_ref(), pairs)?;
    // `configuration` refuses what a constraint excludes; only a space beyond 128 bits has no rank then.
    space.rank(&configuration).ok_or_else(|| {
        Error::request("the space has more than 2^128 configurations", Some("add constraints".to_string()))
    })
}
