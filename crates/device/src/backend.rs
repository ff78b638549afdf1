//! What a backend has to provide.
//!
//! A backend has two sides. The tuner's side ([`Backend`]) turns a configuration into a program on disk. The worker's
//! side ([`Session`]) holds buffers, loads programs and launches them. All the rest exists once and knows no backend:
//! which configuration is built when ([`crate::live`]), what buffers hold before and after a launch, how often a kernel
//! is launched, what is a failure ([`crate::worker`]), how long things may take ([`crate::measure`]).
//!
//! A new backend adds a folder, a variant of [`SessionKind`] and, where its programs are more than a file, of
//! [`Program`].

use crate::DeviceError;
use crate::cuda::{CudaProgram, CudaSetup};
use crate::energy::Meter;
use crate::opencl::OpenClProgram;
use crate::problem::{Grid, Memory, Scope};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tunesmith_core::{CompileData, Failure, FailureKind, Interrupt};

/// The tuner's side of a backend.
pub(crate) trait Backend: Send + Sync {
    /// Whether kernels run on the processors that compile. Then nothing is compiled while something is measured.
    fn shares_processor(&self) -> bool;

    /// The worker's side that runs the programs.
    fn session(&self) -> SessionKind;

    /// What [`build`](Self::build) compiles and how.
    fn plan(&self, scope: &Scope) -> BuildPlan;

    /// The device and its compiler: what has to be the same when a run is resumed, by name.
    fn identity(&self) -> Vec<(String, String)>;

    /// A digest of everything but the configuration that makes the compiled code what it is. `scope` is that of an
    /// example.
    fn digest(&self, scope: &Scope) -> Result<String, DeviceError>;

    /// Makes the program of one configuration; called from several threads at once. Gives up soon when `cancel` is
    /// raised.
    fn build(&self, scope: &Scope, cancel: &Interrupt) -> Result<Built, BuildError>;
}

/// What is compiled for a configuration, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuildPlan {
    /// Exactly what is compiled.
    pub source: String,
    /// The command and its arguments; empty where a library compiles.
    pub command: Vec<String>,
}

/// A program ready to be loaded. Its file is removed when this is dropped.
#[derive(Debug)]
pub(crate) struct Built {
    pub(crate) program: Program,
    pub(crate) compile: CompileData,
    /// A digest of the machine code: programs of the same take the same time. None where the code is not known.
    pub(crate) digest: Option<String>,
}

impl Drop for Built {
    fn drop(&mut self) {
        // A file that is gone already is as good as removed; the folder is removed at the end in any case.
        let _ = std::fs::remove_file(self.program.path());
    }
}

/// Why there is no program.
#[derive(Debug)]
pub(crate) enum BuildError {
    /// The build was cancelled.
    Cancelled,
    /// The configuration does not compile, or takes too long to.
    Failed(String),
    /// The kernel cannot be called with the problem's arguments.
    Signature(Mismatch),
    /// The device does not take this configuration.
    Refused(String),
    /// The compiler cannot be used.
    Broken(DeviceError),
}

/// Where the kernel's signature and the problem disagree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mismatch {
    pub(crate) argument: Option<String>,
    pub(crate) message: String,
    pub(crate) remedy: String,
    pub(crate) log: String,
}

impl Mismatch {
    /// The same as the failure of one configuration: the signature may depend on parameters.
    pub(crate) fn into_failure(self) -> Failure {
        Failure::new(FailureKind::Compile, format!("{}; {}\n{}", self.message, self.remedy, self.log))
    }

    /// The same as an error of the problem.
    pub(crate) fn into_error(self) -> DeviceError {
        let Self { argument, message, remedy, log } = self;
        DeviceError::Signature { argument, message, remedy, log }
    }
}

/// What a session loads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Program {
    /// A shared library that exports `tunesmith_call`.
    Library { path: PathBuf },
    /// What an OpenCL driver made of a source.
    OpenCl(OpenClProgram),
    /// What NVRTC made of a source.
    Cuda(CudaProgram),
}

impl Program {
    fn path(&self) -> &Path {
        match self {
            Self::Library { path } => path,
            Self::OpenCl(program) => &program.binary,
            Self::Cuda(program) => &program.binary,
        }
    }
}

/// The worker's sides there are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum SessionKind {
    /// Functions in the worker's own process.
    C,
    /// A device of an OpenCL driver, by its position among all.
    OpenCl { device: usize },
    /// A device of the NVIDIA driver, by its position.
    Cuda { device: usize, setup: CudaSetup },
}

impl SessionKind {
    /// Opens the device.
    pub(crate) fn open(self) -> Result<Box<dyn Session>, String> {
        match self {
            Self::C => Ok(Box::new(crate::c::CSession::new())),
            Self::OpenCl { device } => Ok(Box::new(crate::opencl::OpenClSession::open(device)?)),
            Self::Cuda { device, setup } => Ok(Box::new(crate::cuda::open(&setup, device)?)),
        }
    }
}

/// A buffer of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BufferId(pub(crate) usize);

/// An argument of a launch.
#[derive(Clone, Debug)]
pub(crate) enum LaunchArgument {
    /// `bytes` of memory from `offset` on; what lies before and behind them guards against stray writes.
    Buffer { id: BufferId, offset: usize, bytes: usize },
    /// So many bytes of local memory.
    Local(usize),
    /// The bytes of a value.
    Scalar(Vec<u8>),
}

/// How a program is run.
#[derive(Clone, Debug)]
pub(crate) struct Launch<'a> {
    /// In the order of the kernel's signature.
    pub(crate) arguments: Vec<&'a LaunchArgument>,
    /// The work-items, where there are any.
    pub(crate) grid: Option<&'a Grid>,
    /// How often it is launched in a row.
    pub(crate) times: usize,
}

/// Why a session cannot do what it was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The device does not take this configuration: too large a work-group, too much memory.
    Refused(String),
    /// The launch failed.
    Failed(String),
}

/// What a kernel uses of its device, by name: registers of a thread, bytes of its memories, occupancy.
pub(crate) type Resources = BTreeMap<String, f64>;

/// What reads counters while the launches of a configuration are repeated, once for every pass. Dropping it ends profiling.
pub(crate) trait Profiler {
    /// Begins a pass: what is launched from now on is counted.
    fn begin(&mut self) -> Result<(), String>;

    /// Ends the pass. Whether another one is needed.
    fn end(&mut self) -> Result<bool, String>;

    /// What was counted in all passes, by the names of [`tunesmith_core::counters`].
    fn readings(&mut self) -> Result<BTreeMap<String, f64>, String>;
}

/// The worker's side of a backend: one device, the programs of one configuration at a time.
pub(crate) trait Session {
    /// Reserves `bytes` of memory, aligned to 4096 bytes, for the life of the session.
    fn allocate(&mut self, bytes: usize, memory: Memory) -> Result<BufferId, Fault>;

    /// Writes `data` into a buffer from byte `offset` on.
    fn write(&mut self, buffer: BufferId, offset: usize, data: &[u8]) -> Result<(), Fault>;

    /// Reads a buffer from byte `offset` on.
    fn read(&mut self, buffer: BufferId, offset: usize, into: &mut [u8]) -> Result<(), Fault>;

    /// Whether [`copy`](Self::copy) can be called.
    fn can_copy(&self) -> bool {
        false
    }

    /// Copies `bytes` from `offset` on from one buffer to the same place of another; launches come after it.
    fn copy(&mut self, _from: BufferId, _to: BufferId, _offset: usize, _bytes: usize) -> Result<(), Fault> {
        Err(Fault::Failed("this device does not copy buffers".to_owned()))
    }

    /// Whether local memory is the device's own; otherwise it is a buffer like any other.
    fn has_local_memory(&self) -> bool;

    /// Loads the programs of a configuration in place of those loaded before.
    fn load(&mut self, programs: &[&Program]) -> Result<(), Fault>;

    /// What a loaded program will use of the device; nothing where the driver does not tell.
    fn resources(&mut self, _program: usize, _launch: &Launch<'_>) -> Result<Resources, Fault> {
        Ok(Resources::new())
    }

    /// Runs a loaded program, by its position, as often as `launch` says, waits for the end and tells how long it took,
    /// nothing else included. `started` is called once the kernel itself begins, as closely as can be told: what the
    /// driver does before that has a limit of its own.
    fn launch(&mut self, program: usize, launch: &Launch<'_>, started: &mut dyn FnMut()) -> Result<Duration, Fault>;

    /// Begins to profile. Nothing but the profiled launches runs until it is dropped.
    ///
    /// # Errors
    /// Why no counters can be read, and what to do about it.
    fn profiler(&mut self) -> Result<Box<dyn Profiler>, String> {
        Err("the device gave no counters; those of CUDA devices can be read, and recordings may have them".to_owned())
    }

    /// What watches the device while it works.
    ///
    /// # Errors
    /// Why nothing does.
    fn meter(&mut self) -> Result<Box<dyn Meter>, String> {
        Err("this device does not tell its energy; CUDA devices do, through NVML".to_owned())
    }

    /// Fills the caches with other data.
    fn flush_caches(&mut self) -> Result<(), Fault>;

    /// Gives the loaded programs up.
    fn unload(&mut self);
}
