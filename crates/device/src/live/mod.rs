//! Evaluates configurations: compiles, runs, checks and times them.

mod confirm;
mod examination;
mod influence;
mod names;
mod open;
mod outside;
mod programs;
mod reference;
mod remarks;
mod resample;
#[cfg(test)]
mod simulation;
mod station;
mod steered;
mod twins;

pub use influence::{Doubt, SourcePlace};
pub use programs::KernelPlan;
pub use steered::missed_clocks;

use crate::backends::ahead::{Build, BuildResult, Builds};
use crate::backends::{BuildError, OutsideProfiler, SessionKind, Target};
use crate::data::layout::Passed;
use crate::data::{DataSet, Expected, passed};
use crate::energy::EnergySource;
use crate::error::DeviceError;
use crate::host::{Compilers, Processes, SystemProcesses, WorkerCommand, threads};
use crate::live::examination::Examination;
use crate::live::open::Opener;
use crate::live::programs::{BuiltKernels, Programs};
use crate::live::reference::{Asked, Oracle, Question};
use crate::live::remarks::Remarks;
use crate::live::resample::Kept;
use crate::live::station::{MeasuredJob, Station};
use crate::live::steered::Steered;
use crate::live::twins::{Twins, likeness};
use crate::measure::limits::{Limit, launch_limit};
use crate::measure::{Policy, Sampling};
use crate::power::PowerSetup;
use crate::problem::{KernelSpec, Scope};
use crate::sandbox::{Confinement, Sandbox};
use crate::worker::protocol::{Job, Purpose, Setup};
use std::cell::OnceCell;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;
use tunesmith_core::{
    Asides, Clock, Completion, Confirmed, Depth, Error, Evaluator, Failure, FailureKind, Interrupt, Request, Spent,
    SystemClock, statistics,
};
use tunesmith_power::{Knob, Setting};
use tunesmith_space::{ConfigId, Space};

/// The options of a [`LiveEvaluator`].
#[derive(Clone)]
pub struct LiveOptions {
    /// The problem to tune.
    pub spec: KernelSpec,
    /// The device to tune on.
    pub target: Target,
    /// The compilers and their settings.
    pub compilers: Compilers,
    /// The rules of measuring.
    pub policy: Policy,
    /// Maximum number of concurrent compilations. 0 means the number of processors.
    pub jobs: usize,
    /// True if the counters of every configuration are read, even when a request asks only for its
    /// time.
    pub profile: bool,
    /// True if the energy of every sample is measured.
    pub energy: bool,
    /// The tuning parameters that set the device in place of becoming macros.
    pub knobs: Vec<Knob>,
    /// The places of notes about clocks, and of the processors' energy counters.
    pub power: PowerSetup,
    /// The executable that runs kernels.
    pub worker: WorkerCommand,
    /// The sandbox of user code, on systems that have one. `None` runs it without.
    pub sandbox: Option<Sandbox>,
    /// The source of the time.
    pub clock: Arc<dyn Clock>,
    /// Starts the workers' processes. Simulations replace it.
    #[doc(hidden)]
    pub processes: Arc<dyn Processes>,
}

impl LiveOptions {
    /// Returns the default options for a kernel.
    pub fn new(spec: KernelSpec) -> Self {
        Self {
            spec,
            target: Target::Processor,
            compilers: Compilers::default(),
            policy: Policy::default(),
            jobs: 0,
            profile: false,
            energy: false,
            knobs: Vec::new(),
            power: PowerSetup::default(),
            worker: WorkerCommand::current(),
            sandbox: None,
            clock: Arc::new(SystemClock::new()),
            processes: Arc::new(SystemProcesses),
        }
    }
}

/// Evaluates configurations of a kernel on a device.
///
/// Requests are compiled in parallel and measured one by one, in the order submitted; see
/// [`Evaluator`]. Each configuration is launched once untimed, and its result is checked. Then it
/// is launched until its median time is stable ([`sampling::decide`](crate::sampling::decide)).
/// Kernels run in a worker process. A configuration that crashes, hangs or exits is therefore an
/// evaluation like any other.
pub struct LiveEvaluator {
    space: Space,
    options: LiveOptions,
    programs: Arc<Programs>,
    session: SessionKind,
    /// The correct outputs.
    oracle: Oracle,
    identity: Vec<(String, String)>,
    builds: Builds<Programs>,
    station: Option<Station>,
    /// The median time of the best correct configuration so far.
    best: Option<Duration>,
    /// The requested depth and the device's setting of each submitted configuration, oldest first.
    asked: VecDeque<(Depth, Setting)>,
    /// The device's clock and power limit.
    steered: Steered,
    /// The reader of counters that the worker cannot read, once it was searched for.
    outside: OnceCell<Option<Box<dyn OutsideProfiler>>>,
    /// The time in milliseconds that the next configurations race against.
    bar_ms: Option<f64>,
    /// The programs of configurations that are measured again.
    kept: Kept,
    /// The results of earlier configurations, for later ones with the same machine code.
    twins: Twins,
    /// The number of jobs so far.
    jobs: u64,
    /// The problem at further sizes, once a configuration was verified at them.
    others: Vec<Option<Box<LiveEvaluator>>>,
    /// The number of the second set of data, once a configuration was verified on it.
    second_set: Option<usize>,
    /// Remarks about the device.
    remarks: Remarks,
    /// Dropped last, because workers and compilers use its folder.
    data: DataSet,
}

impl LiveEvaluator {
    /// Prepares the data, finds the compilers and reads the sources. Runs none of the user's code
    /// yet.
    ///
    /// # Errors
    /// A file, a type or a name in the problem is wrong, or a compiler is missing.
    pub fn new(space: &Space, mut options: LiveOptions) -> Result<Self, DeviceError> {
        let spec = &options.spec;
        let scope = Scope::example(&spec.sizes, space).without(&options.knobs);
        names::check(spec, &scope)?;
        let steered = Steered::open(&options)?;
        let data = DataSet::create(spec)?;
        let confinement = Confinement::of_run(options.sandbox.as_ref(), data.folder())?;
        options.worker = options.worker.confined(confinement);
        let spec = &options.spec;
        let opener = Opener::new(&options, data.folder());
        let programs = opener.programs()?;
        // Configurations that differ in the device's setting alone share their programs.
        let programs = Arc::new(if options.knobs.is_empty() { programs } else { programs.reusing() });
        let session = programs.session().ok_or(DeviceError::NoKernel)?;
        let mut oracle = Oracle::new(opener.reference()?);
        oracle.take_stated(spec)?;
        let mut identity = programs.identity(&scope)?;
        identity.extend(oracle.digest(spec)?.map(|digest| ("reference".to_owned(), digest)));
        let jobs = if options.jobs == 0 { threads() } else { options.jobs };
        let shared_memory = identity.iter().any(|(name, value)| name == "compiler" && registers_openmp(value));
        options.worker = options.worker.sharing_memory(shared_memory);
        Ok(Self {
            space: space.clone(),
            builds: Builds::new(Arc::clone(&programs), jobs),
            programs,
            session,
            oracle,
            identity,
            station: None,
            best: None,
            asked: VecDeque::new(),
            steered,
            outside: OnceCell::new(),
            bar_ms: None,
            kept: Kept::default(),
            twins: Twins::default(),
            jobs: 0,
            others: spec.verify.sizes.iter().map(|_| None).collect(),
            second_set: None,
            remarks: Remarks::default(),
            data,
            options,
        })
    }

    /// Compiles one configuration to check that the kernel can be called with the problem's
    /// arguments. Any other compiler error is ignored here, because other configurations may
    /// compile.
    ///
    /// # Errors
    /// The function is missing, or the number or a type of its arguments does not fit
    /// ([`DeviceError::Signature`]).
    pub fn preflight(&mut self, config: ConfigId) -> Result<(), DeviceError> {
        self.uncompiled(config).map(drop)
    }

    /// Compiles one configuration as [`preflight`](Self::preflight) does. Returns the message if it
    /// does not compile, or if the device refuses it.
    ///
    /// # Errors
    /// Those of [`preflight`](Self::preflight).
    pub fn uncompiled(&mut self, config: ConfigId) -> Result<Option<String>, DeviceError> {
        Ok(self.compile(config)?.map(|failure| failure.message))
    }

    /// Compiles one configuration as [`preflight`](Self::preflight) does. Returns the failure if it
    /// does not compile, or if the device refuses it.
    ///
    /// # Errors
    /// Those of [`preflight`](Self::preflight).
    pub fn compile(&mut self, config: ConfigId) -> Result<Option<Failure>, DeviceError> {
        let kind = |kind, message| Ok(Some(Failure::new(kind, message)));
        let scope = self.scope(config);
        match self.programs.build(&scope, self.options.worker.interrupt()) {
            Err(BuildError::Signature(mismatch)) => Err(mismatch.into_error(self.options.spec.alternative(&scope))),
            Err(BuildError::Broken(error)) => Err(error),
            Err(BuildError::Failed(message)) => kind(FailureKind::Compile, message),
            Err(BuildError::Refused(message)) => kind(FailureKind::Constraints, message),
            Err(BuildError::Cancelled) => Err(DeviceError::Interrupted),
            Ok(_) => Ok(None),
        }
    }

    /// Compiles the reference, if there is one. [`prepare`](Self::prepare) does so, too, and runs it.
    ///
    /// # Errors
    /// The reference does not compile, or its arguments are not the problem's.
    pub fn compile_reference(&mut self) -> Result<(), DeviceError> {
        let interrupt = self.options.worker.interrupt();
        self.oracle.compile(Asked { spec: &self.options.spec, data: &self.data, interrupt })
    }

    /// Returns the values that must stay the same when a run is resumed, by name: the device, the
    /// compiler, and digests of the sources.
    pub fn identity(&self) -> Vec<(String, String)> {
        self.identity.clone()
    }

    /// Returns the source and the compiler command for each kernel of a configuration.
    pub fn plan(&self, config: ConfigId) -> Vec<KernelPlan> {
        self.programs.plan(&self.scope(config))
    }

    /// Returns the process id of the worker, if one is running.
    pub fn worker_id(&self) -> Option<u32> {
        self.station.as_ref()?.worker.as_ref().map(|worker| worker.id())
    }

    /// Runs the reference once. Without this call, the first evaluation does it. Returns `false` if
    /// interrupted.
    ///
    /// # Errors
    /// The reference does not compile, crashes, or exceeds its time limit.
    pub fn prepare(&mut self, interrupt: &Interrupt) -> Result<bool, DeviceError> {
        if self.station.is_some() {
            return Ok(true);
        }
        // Values that depend on the parameters wait for a configuration.
        if let Some(values) = self.oracle.constant_values(&self.options.spec) {
            self.data.grow(&self.options.spec, &values)?;
            if self.expected(Question { set: 0, values }, interrupt)?.is_none() {
                return Ok(false);
            }
        }
        self.station = Some(self.new_station());
        Ok(true)
    }

    /// Returns the correct outputs. Returns `None` if interrupted.
    fn expected(&mut self, question: Question, interrupt: &Interrupt) -> Result<Option<Arc<Expected>>, DeviceError> {
        let station = self.new_station();
        let asked = Asked { spec: &self.options.spec, data: &self.data, interrupt };
        self.oracle.expected(asked, &question, station)
    }

    fn new_station(&self) -> Station {
        let spec = &self.options.spec;
        Station {
            processes: Arc::clone(&self.options.processes),
            command: self.options.worker.clone(),
            setup: Setup {
                session: self.session.clone(),
                arguments: self.data.layout(spec, &[0], |position| spec.compares(position)),
                results: None,
                energy: self.options.energy.then(|| self.energy_source()),
            },
            device: self.device_name(),
            bytes: self.data.bytes(spec),
            policy: self.options.policy,
            clock: Arc::clone(&self.options.clock),
            worker: None,
            had_worker: false,
            usual_changes: None,
            folder: self.data.folder().to_owned(),
            results: None,
        }
    }

    /// Returns the correct outputs on each of `sets` in the configuration of `scope`, in which
    /// `passed` is passed. Returns `None` if interrupted.
    fn expected_of(
        &mut self,
        scope: &Scope,
        passed: &[Passed],
        sets: &[usize],
        interrupt: &Interrupt,
    ) -> Result<Option<Vec<Arc<Expected>>>, DeviceError> {
        self.data.grow(&self.options.spec, passed)?;
        let values = self.oracle.values(&self.options.spec, scope)?;
        let mut all = Vec::with_capacity(sets.len());
        for set in sets {
            let question = Question { set: *set, values: values.clone() };
            let Some(expected) = self.expected(question, interrupt)? else { return Ok(None) };
            all.push(expected);
        }
        Ok(Some(all))
    }

    fn examination<'a>(&self, expected: &'a [Arc<Expected>]) -> Examination<'a> {
        if self.options.spec.is_verified() { Examination::Compare(expected) } else { Examination::Nothing }
    }

    fn launch_limit(&self) -> Limit {
        launch_limit(&self.options.policy.limits, self.oracle.time, self.best)
    }

    /// Returns the meter of the energy of the device.
    fn energy_source(&self) -> EnergySource {
        if self.options.target.is_processor() {
            EnergySource::Processors(self.options.power.counters.clone())
        } else {
            EnergySource::Device
        }
    }

    /// Returns the names that the programs of a configuration depend on. Settings of the device are
    /// not among them.
    fn scope(&self, config: ConfigId) -> Scope {
        Scope::of(&self.options.spec.sizes, &self.space, config).without(&self.options.knobs)
    }

    /// Returns the clock and the power limit of a configuration.
    fn setting(&self, config: ConfigId) -> Setting {
        self.steered.setting(&self.space, config)
    }

    fn now(&self) -> Duration {
        self.options.clock.now()
    }

    /// Runs built programs. Returns `None` if interrupted.
    fn measure(
        &mut self,
        scope: &Scope,
        prepared: &BuiltKernels,
        how: Looking,
        interrupt: &Interrupt,
    ) -> Result<Option<MeasuredJob>, DeviceError> {
        let passed = match passed(&self.options.spec.arguments, scope) {
            Ok(passed) => passed,
            Err(error) => return Ok(Some(refused(&error))),
        };
        let start = self.now();
        let expected = match self.expected_of(scope, &passed, &[0], interrupt) {
            Err(error @ DeviceError::Ranges { .. }) => return Ok(Some(refused(&error))),
            expected => expected?,
        };
        let Some(expected) = expected else { return Ok(None) };
        let asking = self.now() - start;
        let policy = self.options.policy;
        let Looking { sampling, profile, setting } = how;
        self.jobs += 1;
        let Policy { cache, launches, .. } = policy;
        let purpose = Purpose::Measure { sampling, cache, launches, profile, seed: self.jobs, setting };
        let job = Job { steps: self.programs.steps(prepared), passed, purpose };
        let limit = self.launch_limit();
        let mut examination = self.examination(&expected);
        let setting_since = self.now();
        let applied = self.steered.apply(setting)?;
        let settled = self.now() - setting_since;
        let Some(station) = &mut self.station else { return Ok(None) };
        let Some(mut measured) = station.run(&job, &mut examination, &limit, interrupt)? else { return Ok(None) };
        measured.verify += asking;
        measured.run += settled;
        measured.measurement.note = steered::missed(setting, applied, &measured.measurement);
        self.remark(&mut measured);
        if measured.unprofiled.is_some() && measured.failure.is_none() {
            self.profile_beside(&job, &mut measured, interrupt)?;
        }
        let median = statistics::median(&measured.measurement.times_ms).filter(|_| measured.failure.is_none());
        if let Some(median) = median.map(|median| Duration::from_secs_f64(median / 1e3)) {
            self.best = Some(self.best.map_or(median, |best| best.min(median)));
        }
        Ok(Some(measured))
    }

    /// Passes the device's troubles on to users, and keeps them with the measurement.
    fn remark(&mut self, measured: &mut MeasuredJob) {
        let device = self.device_name();
        let lines: Vec<String> = measured.troubles.iter().map(|trouble| trouble.line(&device)).collect();
        if !lines.is_empty() {
            let note = measured.measurement.note.take().into_iter().chain(lines.iter().cloned());
            measured.measurement.note = Some(note.collect::<Vec<_>>().join("; "));
        }
        lines.into_iter().for_each(|line| self.remarks.add(line));
    }

    fn device_name(&self) -> String {
        let name = self.identity.iter().find(|(label, _)| label == "device");
        name.map_or_else(|| "the device".to_owned(), |(_, name)| name.clone())
    }

    /// Returns the completion of a configuration, whether it was built or not.
    fn complete(
        &mut self,
        scope: &Scope,
        result: BuildResult<Programs>,
        how: Looking,
        interrupt: &Interrupt,
    ) -> Result<Option<Completion>, DeviceError> {
        let failed = |failure| Completion { failure: Some(failure), ..Completion::default() };
        let prepared = match result {
            Ok(prepared) => prepared,
            Err(BuildError::Cancelled) => return Ok(None),
            Err(BuildError::Broken(error)) => return Err(error),
            Err(BuildError::Failed(log)) => return Ok(Some(failed(Failure::new(FailureKind::Compile, log)))),
            Err(BuildError::Signature(mismatch)) => return Ok(Some(failed(mismatch.into_failure()))),
            Err(BuildError::Refused(why)) => return Ok(Some(failed(Failure::new(FailureKind::Constraints, why)))),
        };
        let Some(mut measured) = self.measure(scope, &prepared, how, interrupt)? else { return Ok(None) };
        let mut compile = prepared.compile_data();
        if prepared.is_postponed() {
            self.programs.loaded_in(measured.load);
            if measured.failure.is_some() && !measured.began {
                // The compiler or the driver may be at fault. A build of its own tells them apart.
                let apart = self.programs.build_apart(scope, interrupt).map(Arc::new);
                return self.complete(scope, apart, how, interrupt);
            }
            compile.time_ms = measured.load.as_secs_f64() * 1e3;
        }
        // The driver's numbers replace those of the compiler, which knows nothing of the launch.
        compile.resources.append(&mut measured.resources);
        measured.measurement.compile = Some(compile);
        let spent = Spent { compile: measured.load, run: measured.run, verify: measured.verify };
        let MeasuredJob { failure, measurement, unprofiled, .. } = measured;
        Ok(Some(Completion { request: None, failure, measurement, spent, unprofiled }))
    }
}

/// Returns true if the OpenMP of a compiler registers itself in shared memory. It ends the process
/// if it cannot.
fn registers_openmp(compiler: &str) -> bool {
    ["clang", "Intel"].iter().any(|name| compiler.contains(name))
}

/// The depth at which a configuration is measured.
#[derive(Clone, Copy)]
struct Looking {
    sampling: Sampling,
    /// True if the configuration's counters are read.
    profile: bool,
    /// The clock and power limit at which it runs.
    setting: Setting,
}

impl Evaluator for LiveEvaluator {
    fn submit(&mut self, request: Request) -> Result<(), Error> {
        self.builds.submit(self.scope(request.config));
        self.asked.push_back((request.depth, self.setting(request.config)));
        Ok(())
    }

    fn next(&mut self, interrupt: &Interrupt) -> Result<Option<Completion>, Error> {
        let start = self.now();
        let (depth, setting) = self.asked.pop_front().unwrap_or((Depth::Timed, Setting::default()));
        let profile = depth == Depth::Profiled || self.options.profile;
        if !self.prepare(interrupt)? {
            self.builds.drop_oldest();
            return Ok(None);
        }
        let prepared = self.now();
        let Some((scope, result)) = self.builds.next(interrupt) else { return Ok(None) };
        let compiled = self.now();
        let sampling = Sampling { bar_ms: self.bar_ms, ..self.options.policy.sampling };
        let likeness = likeness(&self.options.spec.arguments, &scope, &result, setting);
        let known = result.as_ref().ok().and_then(|prepared| self.twins.completion(likeness.as_ref(), prepared));
        let completion = match known.filter(|known| !profile || !known.measurement.counters.is_empty()) {
            Some(known) => Some(known),
            None => self.complete(&scope, result, Looking { sampling, profile, setting }, interrupt)?,
        };
        let Some(mut completion) = completion else { return Ok(None) };
        self.twins.keep(likeness, &completion);
        // The reference runs for verification, so its time counts as such.
        completion.spent.verify += prepared - start;
        completion.spent.compile += compiled - prepared;
        Ok(Some(completion))
    }

    fn race(&mut self, bar_ms: Option<f64>) {
        self.bar_ms = bar_ms;
    }

    fn resample(
        &mut self,
        config: ConfigId,
        samples: usize,
        interrupt: &Interrupt,
    ) -> Result<Option<Completion>, Error> {
        self.measure_again(config, samples, interrupt)
    }

    fn confirm(&mut self, config: ConfigId, interrupt: &Interrupt) -> Result<Option<Confirmed>, Error> {
        self.confirm_everywhere(config, interrupt)
    }

    fn take_asides(&mut self) -> Asides {
        Asides { notes: self.remarks.take(), ..Asides::default() }
    }
}

/// Returns the failure of a configuration with a scalar argument that has no value. It cannot be
/// launched.
fn refused(error: &DeviceError) -> MeasuredJob {
    MeasuredJob { failure: Some(Failure::new(FailureKind::Constraints, error.to_string())), ..MeasuredJob::default() }
}
