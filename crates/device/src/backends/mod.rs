//! The backends, and the one place that knows all of them.
//!
//! A backend has two sides. The tuner's side ([`Backend`]) turns a configuration into a program on
//! disk. The worker's side ([`Session`]) holds buffers, loads programs and launches them. All the
//! rest exists once and knows no backend: which configuration is built when ([`crate::live`]), what
//! buffers hold before and after a launch, how often a kernel is launched, what is a failure
//! ([`crate::worker`]), how long things may take ([`crate::measure`]).
//!
//! A new backend is a folder here, a variant of each enum below, and a Cargo feature. What each
//! enum dispatches to says what the folder must provide. Nothing here knows [`crate::worker`] or
//! [`crate::live`].

pub(crate) mod ahead;
mod backend;
pub(crate) mod c;
pub(crate) mod command;
pub(crate) mod compiling;
pub(crate) mod cuda;
mod listing;
pub(crate) mod opencl;
mod session;
mod source;

pub use backend::BuildPlan;
pub use listing::{DeviceInfo, Missing};

pub(crate) use backend::{Backend, BuildError, Built, Mismatch};
pub(crate) use listing::Absent;
pub(crate) use session::{BufferId, Fault, Launch, LaunchArgument, Profiler, Resources, Session};
pub(crate) use source::KernelSource;

use crate::backends::compiling::{CompileService, Compiled, Workshop};
use crate::error::DeviceError;
use crate::host::{Compiler, Compilers, CudaSetup};
use crate::problem::Language;
use c::{CBackend, CSession};
use cuda::{ChipCounters, CountersTask, CudaBackend, CudaDevice, CudaProgram, CudaTask, NoCounters};
use opencl::{FoundArgument, OpenClBackend, OpenClDevice, OpenClProgram, OpenClTask};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tunesmith_core::Clock;
use tunesmith_core::counters::Hardware;

/// A device that runs compiled kernels.
#[derive(Clone, Debug, PartialEq)]
pub enum Target {
    /// The processor of this machine, through its C and C++ compilers.
    Processor,
    /// One of the [`opencl_devices`](crate::opencl_devices).
    OpenCl(Box<OpenClDevice>),
    /// One of the [`cuda_devices`](crate::cuda_devices).
    Cuda(Box<CudaDevice>),
}

/// What opening a backend takes beside the kernel and the device.
pub(crate) struct Opening<'a> {
    /// The folder of programs and their sources.
    pub(crate) folder: &'a Path,
    /// Tells the files of one kernel from those of another.
    pub(crate) name: &'a str,
    /// The limit of a compilation.
    pub(crate) limit: Duration,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) compilers: &'a Compilers,
    /// The processes in which drivers compile.
    pub(crate) service: Arc<dyn CompileService>,
}

impl Target {
    /// Returns whether kernels in `language` run on it.
    pub(crate) fn runs(&self, language: Language) -> bool {
        match self {
            Self::Processor => !language.has_work_items(),
            Self::OpenCl(_) => language == Language::OpenCl,
            Self::Cuda(_) => language == Language::Cuda,
        }
    }

    /// Returns the language that generated kernels are compiled from here.
    pub fn language(&self) -> Language {
        match self {
            Self::Processor => Language::C,
            Self::OpenCl(_) => Language::OpenCl,
            Self::Cuda(_) => Language::Cuda,
        }
    }

    /// Returns the device as lists have it; `None` of the processor where no compiler can be used.
    pub(crate) fn info(&self, compilers: &Compilers) -> Option<DeviceInfo> {
        match self {
            Self::Processor => c::devices(compilers).0.into_iter().next(),
            Self::OpenCl(device) => Some(device.info()),
            Self::Cuda(device) => Some(device.info()),
        }
    }

    /// Returns the size of a device that counts what kernels do as they run; `None` of others.
    pub(crate) fn counted_hardware(&self) -> Option<Hardware> {
        match self {
            // No bottleneck needs the size of the processor.
            Self::Processor => c::missing_counters().is_none().then(Hardware::default),
            Self::OpenCl(_) => None,
            Self::Cuda(device) => Some(device.hardware()),
        }
    }

    /// Opens what compiles `source` for it. A function in C serves as the reference of every
    /// device.
    ///
    /// # Errors
    /// A language that the device does not run, a source that cannot be read, a missing compiler.
    pub(crate) fn backend(&self, source: KernelSource, opening: Opening<'_>) -> Result<Box<dyn Backend>, DeviceError> {
        let language = source.kernel.language;
        match self {
            _ if !language.has_work_items() => {
                let Opening { folder, name, limit, clock, compilers, .. } = opening;
                let compiler = Compiler::find(compilers, language, clock.as_ref())?;
                Ok(Box::new(CBackend::new(source, compiler, folder, name, limit, clock)?))
            }
            Self::OpenCl(device) if self.runs(language) => {
                Ok(Box::new(OpenClBackend::new(source, device.as_ref().clone(), Workshop::new(opening))?))
            }
            Self::Cuda(device) if self.runs(language) => {
                Ok(Box::new(CudaBackend::new(source, device.as_ref().clone(), Workshop::new(opening))?))
            }
            _ => Err(self.wrong_language(&source)),
        }
    }

    /// Says that `source` is for other devices.
    pub(crate) fn wrong_language(&self, source: &KernelSource) -> DeviceError {
        let device = match self {
            Self::Processor => "the device `c`".to_owned(),
            Self::OpenCl(device) => format!("OpenCL device {} ({})", device.index, device.name),
            Self::Cuda(device) => format!("CUDA device {} ({})", device.index, device.name),
        };
        let language = source.kernel.language;
        DeviceError::Language {
            what: source.what,
            name: source.kernel.function.clone(),
            language,
            device,
            remedy: format!("choose `--device {}`", device_of(language)),
        }
    }
}

/// Returns what `--device` calls the devices that run `language`.
fn device_of(language: Language) -> &'static str {
    match language {
        Language::C | Language::Cpp => "c",
        Language::OpenCl => "opencl",
        Language::Cuda => "cuda",
    }
}

/// What a session loads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Program {
    /// A shared library that exports `tunesmith_call`.
    Library { path: PathBuf },
    /// The result of an OpenCL driver.
    OpenCl(OpenClProgram),
    /// The result of NVRTC.
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
            Self::C => Ok(Box::new(CSession::new())),
            Self::OpenCl { device } => opencl::open(device),
            Self::Cuda { device, setup } => cuda::open(&setup, device),
        }
    }
}

/// A configuration to compile in a compile worker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum CompileTask {
    /// By an OpenCL driver.
    OpenCl(OpenClTask),
    /// By NVRTC.
    Cuda(CudaTask),
}

/// What a compiler tells of what it made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Made {
    /// The kernel's arguments as the driver sees them. `retire` asks for another worker next time:
    /// a kernel still runs in this one.
    OpenCl { arguments: Vec<FoundArgument>, retire: bool },
    /// The mangled names of the kernel and of the variables asked for.
    Cuda { function: String, symbols: Vec<String> },
}

impl Made {
    /// Returns whether the worker that made it is not to be used again.
    pub(crate) fn retires_its_worker(&self) -> bool {
        match self {
            Self::OpenCl { retire, .. } => *retire,
            Self::Cuda { .. } => false,
        }
    }
}

/// The compilers of a compile worker, each opened at its first task.
#[derive(Default)]
pub(crate) struct DriverCompilers {
    opencl: opencl::Compiler,
    cuda: cuda::Compiler,
}

impl DriverCompilers {
    /// Compiles one configuration. Calls `launching` when a kernel is about to run: a crash after
    /// that need not be the compiler's fault.
    pub(crate) fn compile(&mut self, task: &CompileTask, launching: &mut dyn FnMut()) -> Compiled {
        match task {
            CompileTask::OpenCl(task) => self.opencl.compile(task, launching),
            CompileTask::Cuda(task) => self.cuda.compile(task),
        }
    }
}

/// What drivers are asked in a worker, because they may crash.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum DriverQuestion {
    /// The devices of all OpenCL drivers.
    OpenClDevices,
    /// The devices of the NVIDIA driver.
    CudaDevices(CudaSetup),
    /// The counters of NVIDIA chips.
    CudaCounters(CountersTask),
}

/// What drivers answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum DriverAnswer {
    /// The devices, or what is missing.
    OpenClDevices(Result<Vec<OpenClDevice>, Absent>),
    /// The devices, or what is missing.
    CudaDevices(Result<Vec<CudaDevice>, Absent>),
    /// The counters of the chips asked for, or why there are none.
    CudaCounters(Result<Vec<ChipCounters>, NoCounters>),
}

impl DriverQuestion {
    /// Asks the driver.
    pub(crate) fn answer(&self) -> DriverAnswer {
        match self {
            Self::OpenClDevices => DriverAnswer::OpenClDevices(opencl::describe_all()),
            Self::CudaDevices(setup) => DriverAnswer::CudaDevices(cuda::describe_all(setup)),
            Self::CudaCounters(task) => DriverAnswer::CudaCounters(cuda::resolve(task)),
        }
    }
}
