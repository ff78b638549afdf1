//! The options of an evaluator.

use crate::live::parcel_queue::Parcels;
use std::sync::Arc;
use tunesmith_backend::host::{Compilers, Processes, SystemProcesses, WorkerCommand};
use tunesmith_backend::sandbox::Sandbox;
use tunesmith_backend::{PowerSetup, Target};
use tunesmith_core::{Clock, SystemClock};
use tunesmith_kernel::KernelSpec;
use tunesmith_kernel::measure::Policy;
use tunesmith_power::Knob;

/// The options of a [`LiveEvaluator`](super::LiveEvaluator).
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
    /// Programs that other machines compiled. `None` compiles all of them here.
    pub parcels: Option<Arc<Parcels>>,
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
            target: Target::processor(),
            compilers: Compilers::default(),
            policy: Policy::default(),
            jobs: 0,
            profile: false,
            energy: false,
            knobs: Vec::new(),
            power: PowerSetup::default(),
            worker: WorkerCommand::current(),
            sandbox: None,
            parcels: None,
            clock: Arc::new(SystemClock::new()),
            processes: Arc::new(SystemProcesses),
        }
    }
}
