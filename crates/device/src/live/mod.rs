//! Evaluates configurations: compiles, runs, checks and times them.

mod budget;
mod confirm;

mod examination;
mod excuses;
mod handover;
mod influence;
mod lanes;
mod measured;
mod names;
mod open;
mod options;
mod outside;
mod parcel_queue;
mod parcels;
mod placing;
mod program_cache;
mod programs;
mod quiet;
mod reference;
mod remarks;
mod resample;
mod sampling_depth;
#[cfg(test)]
mod simulation;
mod station;
mod steered;
mod twins;

pub use influence::{Doubt, SourcePlace};
pub use options::LiveOptions;
pub use parcel_queue::Parcels;
pub use parcels::{MOST_PARCEL, Packer, Unpacked};
pub use programs::KernelPlan;
pub use steered::missed_clocks;

use crate::data::{DataSet, Expected};
use crate::energy::EnergySource;
use crate::live::lanes::{Lanes, lanes};
use crate::live::open::Opener;
use crate::live::placing::Placed;
use crate::live::program_cache::ProgramCache;
use crate::live::programs::Programs;
use crate::live::reference::{Asked, Oracle, Question};
use crate::live::remarks::Remarks;
use crate::live::sampling_depth::SamplingDepth;
use crate::live::station::Station;
use crate::live::steered::Steered;
use crate::live::twins::{Twins, likeness};
use crate::worker::protocol::Setup;
use std::cell::OnceCell;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::thread;
use std::time::Duration;
use tunesmith_backend::ahead::{Build, Builds, FinishedBuild};
use tunesmith_backend::host::{Suspension, threads};
use tunesmith_backend::{BuildError, OutsideProfiler, SessionKind};
use tunesmith_core::{
    Bound, Claim, CompileLimit, Completion, Confirmed, Depth, Error, Evaluator, Failure, FailureKind, Interrupt,
    Request, Spent, statistics,
};
use tunesmith_kernel::measure::Sampling;
use tunesmith_kernel::measure::limits::Pace;
use tunesmith_kernel::{DeviceError, Scope};
use tunesmith_power::Setting;
use tunesmith_space::{ConfigId, Space};

/// Evaluates configurations of a kernel on a device.
///
/// Requests are compiled in parallel and measured one by one, as they are compiled; see [`Evaluator`].
/// Compilers on the processors of the device stand still meanwhile. Each configuration is launched once
/// untimed, and its result is checked. Then it is launched until its median time is stable ([`sampling::decide`](tunesmith_kernel::measure::sampling::decide)).
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
    builds: Builds<Programs, (Request, Setting)>,
    /// Stops the compilers of the kernels while one of them is timed.
    suspension: Arc<Suspension>,
    /// The measuring workers, once the run is prepared.
    lanes: Lanes,
    /// The median times of correct configurations, which bound launches.
    pace: Pace,
    /// The time since the latest answer in which the next one was waited for.
    waited: Spent,
    /// The device's clock and power limit.
    steered: Steered,
    /// The reader of counters that the worker cannot read, once it was searched for.
    outside: OnceCell<Option<Box<dyn OutsideProfiler>>>,
    /// The time in milliseconds that the next configurations race against.
    bar_ms: Option<f64>,
    /// The programs of configurations that are measured again.
    kept: ProgramCache,
    /// The results of earlier configurations, for later ones with the same machine code.
    twins: Twins,
    /// The number of jobs so far.
    jobs: u64,
    /// The problem at further sizes, once a configuration was verified at them.
    others: Vec<Option<Box<LiveEvaluator>>>,
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
        let Placed { mut data, programs, suspension } = Placed::open(&mut options)?;
        let spec = &options.spec;
        data.add(spec, spec.seed)?;
        let programs = Arc::new(programs);
        let session = programs.session().ok_or(DeviceError::NoKernel)?;
        let mut oracle = Oracle::new(Opener::new(&options, data.folder(), &suspension).reference()?);
        oracle.take_stated(spec)?;
        let mut identity = programs.identity(&scope)?;
        identity.extend(oracle.digest(spec)?.map(|digest| ("reference".to_owned(), digest)));
        let jobs = jobs_at_once(&options);
        Ok(Self {
            space: space.clone(),
            builds: Builds::new(Arc::clone(&programs), jobs, Arc::clone(&suspension)),
            suspension,
            programs,
            session,
            oracle,
            identity,
            lanes: Lanes::new(lanes(jobs, data.bytes(&options.spec))),
            pace: Pace::default(),
            waited: Spent::default(),
            steered,
            outside: OnceCell::new(),
            bar_ms: None,
            kept: ProgramCache::default(),
            twins: Twins::default(),
            jobs: 0,
            others: spec.verify.sizes.iter().map(|_| None).collect(),
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
    pub fn preflight(&self, config: ConfigId) -> Result<(), DeviceError> {
        self.uncompiled(config).map(drop)
    }

    /// Compiles `configs` as [`preflight`](Self::preflight) does, and the reference beside them where
    /// several compilations may run at once. The first evaluations find the programs.
    ///
    /// # Errors
    /// Those of [`preflight`](Self::preflight), and of [`compile_reference`](Self::compile_reference).
    pub fn preflight_all(&self, configs: &[ConfigId]) -> Result<(), DeviceError> {
        let mut preflights = configs.iter().map(|config| self.preflight(*config));
        if jobs_at_once(&self.options) == 1 {
            return preflights.collect();
        }
        let Self { oracle, options, data, .. } = self;
        let asked = Asked { spec: &options.spec, data, interrupt: options.worker.interrupt() };
        thread::scope(|threads| {
            let reference = threads.spawn(|| oracle.compile(asked));
            let kernels = preflights.try_for_each(|result| result);
            let reference = reference.join().unwrap_or_else(|panic| resume_unwind(panic));
            // A mismatch between the problem and its kernel says more than one with the reference.
            kernels.and(reference)
        })
    }

    /// Compiles one configuration as [`preflight`](Self::preflight) does. Returns the message if it
    /// does not compile, or if the device refuses it.
    ///
    /// # Errors
    /// Those of [`preflight`](Self::preflight).
    pub fn uncompiled(&self, config: ConfigId) -> Result<Option<String>, DeviceError> {
        Ok(self.compile(config)?.map(|failure| failure.message))
    }

    /// Compiles one configuration as [`preflight`](Self::preflight) does. Returns the failure if it
    /// does not compile, or if the device refuses it.
    ///
    /// # Errors
    /// Those of [`preflight`](Self::preflight).
    pub fn compile(&self, config: ConfigId) -> Result<Option<Failure>, DeviceError> {
        let kind = |kind, message| Ok(Some(Failure::new(kind, message)));
        let scope = self.scope(config);
        let interrupt = self.options.worker.interrupt();
        let built = self.programs.build(&scope, interrupt).and_then(|built| match built.is_postponed() {
            // It would say nothing before it is measured.
            true => self.programs.build_apart(&scope, interrupt).map(Arc::new),
            false => Ok(built),
        });
        match built {
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
    pub fn compile_reference(&self) -> Result<(), DeviceError> {
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
        self.lanes.first()?.worker.as_ref().map(|worker| worker.id())
    }

    /// Runs the reference once. Without this call, the first evaluation does it. Returns `false` if
    /// interrupted.
    ///
    /// # Errors
    /// The reference does not compile, crashes, or exceeds its time limit.
    pub fn prepare(&mut self, interrupt: &Interrupt) -> Result<bool, DeviceError> {
        if self.lanes.first().is_some() {
            return Ok(true);
        }
        // Values that depend on the parameters wait for a configuration.
        if let Some(values) = self.oracle.constant_values(&self.options.spec) {
            self.data.grow(&self.options.spec, &values)?;
            if self.expected(Question { set: 0, values }, interrupt)?.is_none() {
                return Ok(false);
            }
        }
        self.lanes.add(self.new_station());
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
            usual_changes: Arc::default(),
            folder: self.data.folder().to_owned(),
            results: None,
            suspension: self.programs.shares_processor().then(|| Arc::clone(&self.suspension)),
        }
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

    /// Returns the answer of a configuration whose compilation was put aside.
    fn put_aside(&mut self, request: Request, limit: CompileLimit) -> Completion {
        let (failure, spent) = (Some(Failure::put_aside(limit)), std::mem::take(&mut self.waited));
        Completion { request: Some(request), failure, spent, ..Completion::default() }
    }

    fn now(&self) -> Duration {
        self.options.clock.now()
    }

    fn device_name(&self) -> String {
        let name = self.identity.iter().find(|(label, _)| label == "device");
        name.map_or_else(|| "the device".to_owned(), |(_, name)| name.clone())
    }
}

/// Returns the number of configurations to compile at a time.
fn jobs_at_once(options: &LiveOptions) -> usize {
    if options.jobs == 0 { threads() } else { options.jobs }
}

impl Evaluator for LiveEvaluator {
    fn submit(&mut self, request: Request) -> Result<(), Error> {
        let scope = self.scope(request.config);
        self.receive(request.config, &scope);
        let setting = self.setting(request.config);
        self.builds.submit(scope, (request, setting));
        Ok(())
    }

    fn runs_here(&self) -> bool {
        true
    }

    fn next(&mut self, interrupt: &Interrupt) -> Result<Option<Completion>, Error> {
        self.upcoming(interrupt)?;
        let start = self.now();
        let Some(FinishedBuild { request, scope, result, aside }) = self.builds.next(interrupt) else {
            return Ok(None);
        };
        let (request, setting) = request;
        if let Some(limit) = aside {
            return Ok(Some(self.put_aside(request, limit)));
        }
        let profile = request.depth == Depth::Profiled || self.options.profile;
        if let Ok(built) = &result {
            self.load_ahead(built, interrupt)?;
        }
        self.waited.compile += self.now() - start;
        let sampling = Sampling { bar_ms: self.bar_ms, ..self.options.policy.sampling };
        let likeness = likeness(&self.options.spec.arguments, &scope, &result, setting);
        let built = result.as_ref().ok().cloned();
        let known = result.as_ref().ok().and_then(|prepared| self.twins.completion(likeness.as_ref(), prepared));
        let completion = match known.filter(|known| !profile || !known.measurement.counters.is_empty()) {
            Some(known) => Some(known),
            None => self.complete(&scope, result, SamplingDepth { sampling, profile, setting }, interrupt)?,
        };
        let Some(mut completion) = completion else { return Ok(None) };
        self.twins.keep(likeness, &completion);
        let median = statistics::median(&completion.measurement.times_ms).filter(|_| completion.failure.is_none());
        if let Some((built, median)) = built.zip(median) {
            self.kept.offer(request.config, built, median);
        }
        completion.request = Some(request);
        completion.spent += std::mem::take(&mut self.waited);
        Ok(Some(completion))
    }

    fn upcoming(&mut self, interrupt: &Interrupt) -> Result<Option<Request>, Error> {
        let start = self.now();
        if !self.prepare(interrupt)? {
            return Ok(None);
        }
        let prepared = self.now();
        let request = self.builds.upcoming(interrupt).map(|(request, _)| *request);
        // The reference runs for verification, so its time counts as such.
        self.waited.verify += prepared - start;
        self.waited.compile += self.now() - prepared;
        Ok(request)
    }

    fn cancel(&mut self) {
        self.builds.cancel();
    }

    fn race(&mut self, bar_ms: Option<f64>) {
        self.bar_ms = bar_ms;
    }

    fn limit_compilation(&mut self, limit: Option<CompileLimit>) {
        self.builds.limit(limit);
    }

    fn has_limits(&self) -> bool {
        true
    }

    fn bound(&mut self, bound: Bound) {
        self.pace.bind(bound);
    }

    fn resample(
        &mut self,
        config: ConfigId,
        samples: usize,
        interrupt: &Interrupt,
    ) -> Result<Option<Completion>, Error> {
        self.measure_again(config, samples, interrupt)
    }

    fn confirm(&mut self, config: ConfigId, claim: Claim, interrupt: &Interrupt) -> Result<Option<Confirmed>, Error> {
        self.confirm_everywhere(config, claim, interrupt)
    }

    fn take_notes(&mut self) -> Vec<String> {
        self.remarks.take()
    }
}
