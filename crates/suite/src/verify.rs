//! Verifies a suite: samples configurations of every problem, runs them, and compares their outputs
//! with those of the reference.

use crate::refusal::refused;
use crate::{Place, Suite, SuiteEntry};
use rand::SeedableRng as _;
use serde::Serialize;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use tunesmith::problem::ProblemError;
use tunesmith::{
    Error, Problem,
    runner::{Extras, Runner},
};
use tunesmith_backend::DeviceChoice;
use tunesmith_core::{Completion, Evaluator, Failure, FailureKind, Interrupt, Request, Rng, SystemClock};
use tunesmith_device::{Device, Machine, cuda_architecture, hip_architecture};
use tunesmith_space::{ConfigId, Space};
use tunesmith_store::{Journal, arguments};

/// The multiple of a search's limit that a compilation may take.
const PATIENCE: u32 = 10;

/// The configurations to verify.
#[derive(Clone, Debug)]
pub struct VerifyOptions {
    /// The number of configurations of each problem, drawn uniformly. A smaller space is verified
    /// as a whole.
    pub samples: usize,
    /// The seed of the draw.
    pub seed: u64,
    /// Architectures to compile for without running anything: of CUDA, such as `sm_90`, and of HIP,
    /// such as `gfx90a`. No GPU is needed.
    pub compile_only: Vec<String>,
}

/// The verification of one problem on one device. Its JSON form is an element of `suite verify
/// --json`.
#[derive(Clone, Debug, Serialize)]
pub struct Verified {
    /// The name of the problem.
    pub name: String,
    /// The problem file.
    pub file: PathBuf,
    /// The device, as a user writes it; an architecture if nothing ran.
    pub device: String,
    /// The number of configurations tried.
    pub sampled: usize,
    /// The number of correct ones. If nothing ran, those that compile.
    pub correct: usize,
    /// The number of configurations that the device refuses, for a stated reason.
    pub refused: usize,
    /// The number of others: wrong results, failed compilations, crashes and hangs.
    pub wrong: usize,
    /// True if nothing ran.
    pub compile_only: bool,
    /// The reasons of the refusals, commonest first.
    pub reasons: Vec<Reason>,
    /// The first configuration that is wrong.
    pub first_wrong: Option<WrongConfiguration>,
    /// The reason why the problem could not be verified at all.
    pub error: Option<String>,
}

/// A reason for refusing configurations.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Reason {
    /// The reason, of the first such configuration.
    pub reason: String,
    /// The number of configurations.
    pub count: usize,
}

/// A configuration that is wrong.
#[derive(Clone, Debug, Serialize)]
pub struct WrongConfiguration {
    /// The configuration in the form that `--config` takes.
    pub config: String,
    /// The word for its status.
    pub status: &'static str,
    /// The message.
    pub message: String,
}

impl Verified {
    /// Returns true if no configuration is wrong.
    pub fn is_ok(&self) -> bool {
        self.wrong == 0 && self.error.is_none()
    }
}

/// Verifies the problems of `suite` on the device that `machine` names, or on one device of each
/// backend. Calls `on_problem` after each problem, and `on_missing` with the reason why a backend is
/// left out. Returns `None` if `interrupt` was raised.
///
/// # Errors
/// The machine lacks the named device, or its compiler does not know an architecture. What is wrong with
/// one problem is in its [`Verified::error`].
pub fn verify_suite(
    suite: &Suite,
    machine: &Machine,
    options: &VerifyOptions,
    interrupt: &Interrupt,
    on_missing: &mut dyn FnMut(&str),
    on_problem: &mut dyn FnMut(&Verified),
) -> Result<Option<Vec<Verified>>, Error> {
    let grounds = grounds(machine, &options.compile_only, on_missing)?;
    let mut all = Vec::new();
    for entry in &suite.entries {
        for ground in &grounds {
            let Some(file) = entry.file(ground.place.backend) else { continue };
            let mut verified = Verified::new(entry, file, ground);
            match verify(entry, ground, options, interrupt, &mut verified) {
                Ok(()) if interrupt.is_raised() => return Ok(None),
                Err(error) if error.is_interruption() => return Ok(None),
                Ok(()) => {}
                Err(error) => verified.error = Some(with_remedy(&error)),
            }
            on_problem(&verified);
            all.push(verified);
        }
    }
    Ok(Some(all))
}

/// A device to verify on.
struct Ground {
    place: Place,
    device: Device,
    compile_only: bool,
}

/// Returns the devices to verify on: the architectures to compile for, or those of the machine.
fn grounds(machine: &Machine, compile_only: &[String], on_missing: &mut dyn FnMut(&str)) -> Result<Vec<Ground>, Error> {
    if compile_only.is_empty() {
        let chosen: Vec<DeviceChoice> = machine.device.iter().cloned().collect();
        let (places, missing) = Place::all(&chosen, machine)?;
        missing.iter().for_each(|reason| on_missing(reason));
        let ground = |place: Place| Ok(Ground { device: place.device()?, place, compile_only: false });
        return places.into_iter().map(ground).collect();
    }
    let ground = |name: &String| {
        let device = match name.starts_with("gfx") {
            true => hip_architecture(&machine.compilers.hip, name, &machine.worker)?,
            false => cuda_architecture(&machine.compilers.cuda, name, &machine.worker)?,
        };
        let place = Place { backend: device.api().device(), text: name.clone(), machine: machine.clone() };
        Ok(Ground { place, device: Device::Kernels(device.into()), compile_only: true })
    };
    compile_only.iter().map(ground).collect()
}

/// Counts what becomes of the sampled configurations of one problem in `verified`.
fn verify(
    entry: &SuiteEntry,
    ground: &Ground,
    options: &VerifyOptions,
    interrupt: &Interrupt,
    verified: &mut Verified,
) -> Result<(), Error> {
    let problem = entry.load(&verified.file, false)?;
    let mut policy = problem.spec().policy();
    // Correctness needs one sample, and no race ends it early.
    policy.sampling.min_samples = 1;
    policy.sampling.max_samples = 1;
    // A busy machine may stop a correct configuration, or its compiler, for longer than a search would wait
    // for it.
    policy.limits.floor = policy.limits.floor.max(policy.limits.first);
    policy.limits.compile = policy.limits.compile.saturating_mul(PATIENCE);
    let problem = problem.with_policy(policy);
    let machine = &ground.place.machine;
    let space = problem.space_until(&ground.device.limits(machine), machine.interrupt())?.space;
    let configs = sampled(&space, options)?;
    let clock = Arc::new(SystemClock::new());
    let mut runner = Runner::open(&problem, &space, &ground.device, machine, Extras::default(), clock)?;
    if ground.compile_only {
        for config in configs {
            if interrupt.is_raised() {
                return Ok(());
            }
            let failure = runner.compile(config)?;
            verified.count(&space, config, failure);
        }
        return Ok(());
    }
    check_reference(&problem, &ground.device)?;
    if !runner.prepare(interrupt)? {
        return Ok(());
    }
    run(runner.evaluator(), &configs, machine.jobs(), interrupt, &mut |config, failure| {
        verified.count(&space, config, failure);
    })
}

/// Runs the configurations, some of which are compiled ahead, and counts them in the order sampled.
fn run(
    evaluator: &mut dyn Evaluator,
    configs: &[ConfigId],
    jobs: usize,
    interrupt: &Interrupt,
    count: &mut dyn FnMut(ConfigId, Option<Failure>),
) -> Result<(), Error> {
    let mut answers = HashMap::new();
    let ran = answer(evaluator, configs, jobs, interrupt, &mut answers);
    for config in configs {
        if let Some(failure) = answers.remove(config) {
            count(*config, failure);
        }
    }
    ran
}

/// Puts what became of each configuration into `answers`. They come in any order.
fn answer(
    evaluator: &mut dyn Evaluator,
    configs: &[ConfigId],
    jobs: usize,
    interrupt: &Interrupt,
    answers: &mut HashMap<ConfigId, Option<Failure>>,
) -> Result<(), Error> {
    let mut waiting = configs.iter();
    for config in waiting.by_ref().take(jobs + 1) {
        evaluator.submit(Request::timed(*config))?;
    }
    while answers.len() < configs.len() {
        let Some(Completion { request, failure, .. }) = evaluator.next(interrupt)? else { return Ok(()) };
        // An answer without a request is that of the oldest.
        let oldest = || configs.iter().copied().find(|config| !answers.contains_key(config));
        let Some(config) = request.map(|request| request.config).or_else(oldest) else { return Ok(()) };
        answers.insert(config, failure);
        if let Some(next) = waiting.next() {
            evaluator.submit(Request::timed(*next))?;
        }
    }
    Ok(())
}

/// Refuses a problem whose outputs are compared with nothing: every configuration would be correct.
fn check_reference(problem: &Problem, device: &Device) -> Result<(), Error> {
    let Device::Kernels(target) = device else { return Ok(()) };
    if problem.kernel_spec(target.language())?.is_verified() {
        return Ok(());
    }
    let text = format!("`{}` compares no output with a correct result", problem.source_file().path.display());
    Err(refused(text, Some(problem.verification_remedy())))
}

fn sampled(space: &Space, options: &VerifyOptions) -> Result<Vec<ConfigId>, Error> {
    if space.len().is_none() {
        let text = format!("the space has {} configurations, more than 2^128", space.size());
        return Err(refused(text, Some("add constraints or shorten the parameters' values".to_string())));
    }
    Ok(space.sample_distinct(options.samples, &mut Rng::seed_from_u64(options.seed)))
}

impl Verified {
    fn new(entry: &SuiteEntry, file: PathBuf, ground: &Ground) -> Self {
        Self {
            name: entry.name.clone(),
            file,
            device: ground.place.text.clone(),
            sampled: 0,
            correct: 0,
            refused: 0,
            wrong: 0,
            compile_only: ground.compile_only,
            reasons: Vec::new(),
            first_wrong: None,
            error: None,
        }
    }

    /// Counts a configuration.
    fn count(&mut self, space: &Space, config: ConfigId, failure: Option<Failure>) {
        self.sampled += 1;
        match failure {
            None => self.correct += 1,
            // A refusal without a reason is a fault as well.
            Some(failure) if failure.kind == FailureKind::Constraints && !failure.message.trim().is_empty() => {
                self.refused += 1;
                self.add_reason(failure.headline());
            }
            Some(failure) => {
                self.wrong += 1;
                let config = || arguments(&Journal::config(space, &space.unrank(config)));
                self.first_wrong.get_or_insert_with(|| WrongConfiguration {
                    config: config(),
                    status: failure.kind.word(),
                    message: failure.message,
                });
            }
        }
    }

    /// Adds a reason. Reasons that differ only in their numbers are one.
    fn add_reason(&mut self, reason: &str) {
        let shape = |text: &str| text.chars().filter(|c| !c.is_ascii_digit()).collect::<String>();
        match self.reasons.iter_mut().find(|known| shape(&known.reason) == shape(reason)) {
            Some(known) => known.count += 1,
            None => self.reasons.push(Reason { reason: reason.to_string(), count: 1 }),
        }
        self.reasons.sort_by_key(|reason| std::cmp::Reverse(reason.count));
    }
}

/// Returns an error in one line, with its advice. A fault of a problem file has its place.
pub(super) fn with_remedy(error: &Error) -> String {
    match (error.downcast_ref::<ProblemError>().and_then(|problem| problem.messages.first()), error.remedy()) {
        (Some(message), _) => format!("{}:{}: {}", message.file.display(), message.line, message.text),
        (None, Some(remedy)) => format!("{error}; {remedy}"),
        (None, None) => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tunesmith_core::testing::{FunctionEvaluator, OutOfOrder};
    use tunesmith_space::{Parameter, Value};

    #[test]
    fn each_configuration_gets_its_own_answer_whatever_is_answered_first() {
        let parameter = Parameter::new("X", (0..30).map(Value::Int)).unwrap();
        let space = Space::builder().parameter(parameter).build().unwrap();
        let configs: Vec<ConfigId> = space.iter().collect();
        let function = |values: &[Value]| match values {
            [Value::Int(x)] if x % 7 == 3 => Err(Failure::new(FailureKind::Correctness, x.to_string())),
            _ => Ok(1.0),
        };
        for seed in 0..20 {
            let mut evaluator = OutOfOrder::new(FunctionEvaluator::new(&space, function), seed);
            let mut counted = Vec::new();
            let mut count = |config: ConfigId, failure: Option<Failure>| counted.push((config, failure));
            run(&mut evaluator, &configs, 4, &Interrupt::default(), &mut count).unwrap();
            assert_eq!(counted.iter().map(|(config, _)| *config).collect::<Vec<_>>(), configs);
            for (config, failure) in counted {
                let wrong = (config.rank() % 7 == 3).then(|| config.to_string());
                assert_eq!(failure.map(|failure| failure.message), wrong);
            }
        }
    }
}
