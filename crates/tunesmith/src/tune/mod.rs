//! The main job: tuning a problem.

mod plan;

use crate::configuration::start_configuration;
use crate::devices::DeviceChoice;
use crate::guided::{CounterWatch, guided};
use crate::metrics::{Metric, Target};
use crate::outcome::{self, Candidate, ModelledLimit, Outcome, RegretClaim, SecondsOfRun};
use crate::prior::{Estimated, Prior};
use crate::runner::Runner;
use crate::{Diagnostic, Error, Problem, ProblemSpace};
pub(crate) use plan::Plan;
use plan::check_limit;
use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tunesmith_choose::timing::KnownDevice;
use tunesmith_core::{
    Clock, Evaluator, Interrupt, MedianTime, Objective, Observer, Resample, Role, Run, Seconds, SystemClock, Tuner,
};
use tunesmith_cost::Counting;
use tunesmith_device::Compilers;
use tunesmith_device::worker::WorkerCommand;
use tunesmith_search::{Knowledge, PastTimes, RegretModel};
use tunesmith_space::{ConfigId, Space, Value};
use tunesmith_store::{DriftLine, Resumed};
use tunesmith_study::LeftOut;
use tunesmith_study::ModelChoice;

/// How to tune. What is `None` comes from the problem file, then from our defaults.
#[derive(Clone, Debug, Default)]
pub struct TuneOptions {
    /// `c`, `opencl`, `opencl:N`, `cuda`, `cuda:N`, `command`, `replay:FILE` or `synthetic:EXPR`; by default the best one for the problem's
    /// kernels.
    pub device: Option<String>,
    /// The strategy: `NAME` or `NAME(option=value, ...)`.
    pub strategy: Option<String>,
    /// The stop condition.
    pub stop: Option<String>,
    /// What is optimised: `time`, `minimise NAME` or `maximise NAME`.
    pub objective: Option<String>,
    /// The seed.
    pub seed: Option<u64>,
    /// A configuration to evaluate before the search begins: parameters and values; unnamed ones as in the default.
    pub start: Vec<(String, String)>,
    /// Recordings of the same kernel on other devices, or for other sizes, that the strategy is told of; a resumed run takes
    /// those it began with.
    pub history: Vec<PathBuf>,
    /// The counter model that `default` and `profile_guided` are guided by, or a timing model or a device
    /// file, whose best candidates any strategy begins with; a resumed run takes the one it began with.
    pub model: Option<ModelChoice>,
    /// Whether the counters of every configuration are read.
    pub profile: bool,
    /// What was measured of the device besides its limits, by name: journals keep it for models of several devices.
    pub device_features: BTreeMap<String, f64>,
    /// The journal; by default beside the problem.
    pub out: Option<PathBuf>,
    /// Whether to go on with an existing journal.
    pub resume: bool,
    /// How many requests the strategy may have in flight.
    pub room: Option<usize>,
    /// How many compilations run at once; by default as many as there are processors.
    pub jobs: Option<usize>,
    /// The compilers.
    pub compilers: Compilers,
    /// The executable that runs kernels; by default this one.
    pub worker: WorkerCommand,
}

/// What surrounds a run: who watches it, who may end it, what time it is.
pub struct Session<'a> {
    /// Watches the run.
    pub observers: Vec<&'a mut dyn Observer>,
    /// Ends the run.
    pub interrupt: Interrupt,
    /// Tells the time.
    pub clock: Arc<dyn Clock>,
    /// Called once the run is about to start.
    pub on_start: Option<&'a mut dyn FnMut(&Starting<'_>)>,
}

/// What is known when a run is about to start.
#[derive(Debug)]
pub struct Starting<'a> {
    /// The device, by name.
    pub device: &'a str,
    /// The strategy, as the user wrote it.
    pub strategy: &'a str,
    /// The space.
    pub space: &'a Space,
    /// A warning for every constraint left out because the device lacks what it asks for.
    pub warnings: &'a [Diagnostic],
    /// The history that the strategy is told of.
    pub history: &'a [PathBuf],
    /// Recordings that were left out of it.
    pub left_out: &'a [LeftOut],
    /// The journal.
    pub journal: &'a Path,
    /// How many evaluations it holds already.
    pub resumed: usize,
}

impl Default for Session<'_> {
    fn default() -> Self {
        let clock = Arc::new(SystemClock::new());
        Self { observers: Vec::new(), interrupt: Interrupt::default(), clock, on_start: None }
    }
}

/// Tunes `problem`.
///
/// The default configuration is evaluated first, then the start configuration if one is given, then what the
/// strategy asks. Every evaluation is in the journal before the strategy learns of it.
///
/// # Errors
/// A wrong request before anything is measured; a device or disk that fails, after everything measured was written.
pub fn tune(problem: &Problem, options: &TuneOptions, session: &mut Session<'_>) -> Result<Outcome, Error> {
    let began = session.clock.now();
    let device = DeviceChoice::for_problem(problem, options.device.as_deref(), &options.compilers, &options.worker)?;
    let limits = device.limits(&options.compilers);
    let building = session.clock.now();
    let ProblemSpace { space, warnings } = problem.space(&limits)?;
    let space_time = session.clock.now() - building;
    check_size(&space)?;
    let default = problem.default_configuration(&space)?;
    let start = start_configuration(&space, default.as_ref(), &options.start)?;
    let plan = Plan::new(problem, options, &device)?;
    let first: Vec<ConfigId> = [&default, &start].into_iter().flatten().filter_map(|c| space.rank(c)).collect();

    let metric = plan.target.clone().map(|target| Metric::new(target, &space));
    let objective: &dyn Objective = metric.as_ref().map_or(&MedianTime, |metric| metric);
    let history = plan.history(&space, objective, &device)?;

    let grid = problem.grid(&space, default.as_ref())?.map(Arc::from);
    // A wrong model is found before the device is opened.
    let prior = Prior::chosen(plan.model.as_ref(), problem, || device.of_kernels(&options.compilers))?;
    let mut estimated = prior.as_ref().map_or_else(Estimated::default, |prior| prior.estimated(&space, &plan));
    let mut guided = match prior {
        Some(_) => std::mem::take(&mut estimated.guided),
        None => guided(plan.model.as_ref(), &space, &device, &plan.strategy)?,
    };
    check_limit(&plan.stop, estimated.limit_ms, plan.target.as_ref())?;
    guided.notes.extend(estimated.notes.iter().cloned());
    let energy = plan.target.as_ref().is_some_and(Target::needs_energy);
    device.check_counted(options.profile, energy)?;
    let (mut runner, preparation) = open(problem, &space, &device, options, energy, session, first.first().copied())?;
    let mut header = plan.header(problem, &space, default.as_ref(), session);
    header.history = history.named();
    header.device_features = device_features(&limits, options);
    header.identity.extend(runner.identity());
    let has_counters = device.counted_hardware().is_some();
    let device = runner.device();
    let (mut journal, Resumed { evaluations: recorded, resamples }) = plan.open_journal(&header, &space)?;
    let path = journal.path().to_path_buf();
    if let Some(on_start) = &mut session.on_start {
        let (device, strategy) = (device.as_str(), plan.strategy.as_str());
        let (warnings, resumed) = (warnings.as_slice(), recorded.len());
        on_start(&Starting {
            device,
            strategy,
            space: &space,
            warnings,
            history: &history.files,
            left_out: &history.left_out,
            journal: &path,
            resumed,
        });
    }

    let mut watch = CounterWatch::new(&mut session.observers, &guided);
    let simulated = runner.simulate(plan.seed);
    let told: Vec<PastTimes> = history.times.into_iter().chain(estimated.times.clone()).collect();
    let knowledge = Knowledge { history: PastTimes::all(&told), grid, guide: guided.guide.clone() };
    let mut searcher = tunesmith_search::build_with(&plan.strategy, &knowledge)?;
    searcher = estimated.primed(&plan.strategy, searcher);
    if let Some(Prior::Timing(model)) = &prior {
        let here = KnownDevice { name: runner.device(), features: header.device_features.clone() };
        searcher = crate::timing::primed(&model, problem, &space, &here, searcher)?;
    }
    let mut regret = RegretModel::default();
    let mut counting;
    let evaluator: &mut dyn Evaluator = match &prior {
        Some(Prior::Estimates { estimates, .. }) if guided.guide.is_some() && !has_counters => {
            counting = Counting::new(runner.evaluator(), estimates, &space);
            &mut counting
        }
        _ => runner.evaluator(),
    };
    let mut tuner = Tuner::new(&space, searcher.as_mut(), evaluator)
        .store(&mut journal)
        .clock(session.clock.clone())
        .interrupt(session.interrupt.clone())
        .stop(plan.stop)
        .seed(plan.seed)
        .room(plan.room)
        .objective(objective)
        .regret(&mut regret)
        .limit(estimated.limit_ms)
        .baseline(default.as_ref().and_then(|configuration| space.rank(configuration)))
        .judging(problem.judging.clone())
        .first(first)
        .recorded(recorded)
        .resamples(resamples);
    if let Some(clock) = &simulated {
        tuner = tuner.simulated(clock.clone());
    }
    let run = tuner.observer(&mut watch).run()?;
    let notes = watch.notes;
    let wall = session.clock.now() - began;
    let mut outcome = Outcome {
        problem: problem.name.clone(),
        seconds: seconds(&run.seconds, space_time, &preparation, wall),
        device,
        strategy: plan.strategy,
        notes,
        seed: plan.seed,
        out: Some(path),
        wall_seconds: wall.as_secs_f64(),
        simulated_seconds: simulated.map(|_| run.progress.elapsed.as_secs_f64()),
        objective: plan.target.as_ref().map_or_else(|| "minimise time".to_string(), Target::text),
        ..outcome_of(&run, &space, objective)
    };
    let default = default.and_then(|configuration| run.history.of(space.rank(&configuration)?));
    outcome.default = default.map(|scored| Candidate::new(&space, &scored.evaluation, &run.resamples));
    let best_ms = outcome.best.as_ref().and_then(|best| best.time_ms);
    let limit = |time_ms: f64| ModelledLimit { time_ms, share: best_ms.map(|best_ms| time_ms / best_ms) };
    outcome.limit = estimated.limit_ms.map(limit);
    if let Some(target) = &plan.target {
        outcome.add_values(&run, objective, target);
    }
    Ok(outcome)
}

/// What a journal keeps of the device as numbers.
fn device_features(limits: &[(String, Value)], options: &TuneOptions) -> BTreeMap<String, f64> {
    let limits = limits.iter().filter_map(|(name, value)| Some((name.clone(), value.as_float()?)));
    limits.chain(options.device_features.clone()).collect()
}

/// The parts of making a device ready, which belong to others of the report.
struct Preparation {
    /// Making the data and the reference's results, which is part of verifying.
    preparing: Duration,
    /// The compilation before the first measurement.
    probing: Duration,
}

/// Opens the device, sees whether it can run `probe`, and makes what outputs are compared with.
fn open<'a>(
    problem: &'a Problem,
    space: &Space,
    device: &DeviceChoice,
    options: &TuneOptions,
    energy: bool,
    session: &Session<'_>,
    probe: Option<ConfigId>,
) -> Result<(Runner<'a>, Preparation), Error> {
    let started = session.clock.now();
    let mut runner = Runner::open(problem, space, device, options, energy, session.clock.clone())?;
    let opened = session.clock.now();
    // One compilation before the first measurement finds what is wrong with every configuration.
    if let Some(probe) = probe.or_else(|| space.id(0)) {
        runner.preflight(probe)?;
    }
    let probed = session.clock.now();
    // Interrupted here, the run ends before its first evaluation.
    runner.prepare(&session.interrupt)?;
    let preparing = (opened - started) + (session.clock.now() - probed);
    Ok((runner, Preparation { preparing, probing: probed - opened }))
}

/// Ranks beyond 128 bits cannot be told apart in a run.
fn check_size(space: &Space) -> Result<(), Error> {
    if space.len().is_some() {
        return Ok(());
    }
    let text = format!("the space has {} configurations, more than 2^128", space.size());
    Err(Error::request(text, Some("add constraints or shorten the parameters' values".to_string())))
}

fn outcome_of(run: &Run, space: &Space, objective: &dyn Objective) -> Outcome {
    let candidate = |config: &ConfigId| {
        let scored = run.history.of(*config)?;
        Some(Candidate::new(space, &scored.evaluation, &run.resamples))
    };
    let competed = |again: &&Resample| [Role::Selection, Role::Confirmation].contains(&again.role);
    let finalists: HashSet<ConfigId> = run.resamples.iter().filter(competed).map(|again| again.config).collect();
    let evaluations = || run.history.iter().map(|scored| &scored.evaluation);
    let failed = tunesmith_core::FailureKind::ALL.map(|kind| (kind.word(), run.history.failed(kind)));
    Outcome {
        problem: String::new(),
        device: String::new(),
        strategy: String::new(),
        notes: Vec::new(),
        seed: 0,
        stop_reason: run.stop_reason.to_string(),
        evaluations: run.progress.evaluations,
        resumed: run.resumed,
        failed: failed.into(),
        common_failures: outcome::common_failures(evaluations().filter_map(|evaluation| evaluation.failure.as_ref())),
        objective: String::new(),
        unscored: outcome::unscored(evaluations(), objective),
        default: None,
        best: run.verdict.winner.as_ref().and_then(candidate),
        ties: run.verdict.ties.iter().filter_map(candidate).collect(),
        finalists: finalists.len(),
        failed_again: run.verdict.failed.iter().filter_map(|(config, _)| candidate(config)).collect(),
        limit: None,
        drift: run.drift.as_ref().map(DriftLine::from),
        regret: run.progress.regret.iter().map(RegretClaim::from).collect(),
        space_size: space.size().to_string(),
        wall_seconds: 0.0,
        simulated_seconds: None,
        seconds: SecondsOfRun::default(),
        out: None,
    }
}

/// Where the wall time went: what the loop, the space and the device explain, and the rest.
fn seconds(loop_parts: &Seconds, space: Duration, preparation: &Preparation, wall: Duration) -> SecondsOfRun {
    let compile = loop_parts.compile + preparation.probing;
    let verify = loop_parts.verify + preparation.preparing;
    let explained = space + loop_parts.search + compile + loop_parts.run + verify + loop_parts.store;
    SecondsOfRun {
        space: space.as_secs_f64(),
        search: loop_parts.search.as_secs_f64(),
        compile: compile.as_secs_f64(),
        run: loop_parts.run.as_secs_f64(),
        verify: verify.as_secs_f64(),
        store: loop_parts.store.as_secs_f64(),
        other: wall.saturating_sub(explained).as_secs_f64(),
    }
}
