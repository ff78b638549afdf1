//! The backends, and the one place that knows all of them.
//!
//! A backend has two sides. The tuner's side ([`Backend`]) turns a configuration into a program on
//! disk. The worker's side ([`Session`]) holds buffers, loads programs and launches them. All other
//! code exists once and knows no backend:
//!
//! - [`crate::live`] decides when each configuration is built.
//! - [`crate::worker`] fills and checks the buffers, launches the kernels, and defines failures.
//! - [`crate::measure`] sets the time limits.
//!
//! A new backend is a folder here and a variant of [`Target`], [`Program`] and [`SessionKind`]; of
//! the other enums if it asks or compiles in workers. The functions that each enum dispatches to are
//! those that the folder must provide. Nothing here knows [`crate::worker`] or [`crate::live`].

pub(crate) mod ahead;
mod backend;
pub(crate) mod c;
pub(crate) mod command;
pub(crate) mod compiling;
pub(crate) mod cuda;
pub(crate) mod gpu;
pub(crate) mod hip;
mod listing;
pub(crate) mod opencl;
mod session;
mod source;

pub use backend::BuildPlan;
pub use listing::{DeviceInfo, Missing};

pub(crate) use backend::{Backend, BuildError, Built, Mismatch, Origin};
pub(crate) use listing::Absent;
pub(crate) use session::{
    BufferId, Fault, Launch, LaunchArgument, OutsideProfiler, PIECE, Pixels, Placement, Profiler, Resources, Session,
};
pub(crate) use source::{KernelSource, reference_arguments};

use crate::backends::compiling::{CompileService, Compiled, Workshop};
use crate::error::DeviceError;
use crate::host::{Compiler, Compilers, CudaSetup, GpuSetup, HipSetup, WorkerCommand};
use crate::power::PowerSetup;
use crate::problem::Language;
use c::{CBackend, CSession};
pub(crate) use c::{float_controls, fork, interval_timers, leave, openmp_settings, signal_handlers};
use cuda::{ChipCounters, CountersTask, NoCounters};
use gpu::{GpuApi, GpuBackend, GpuDevice, GpuMade, GpuProgram, GpuTask};
use opencl::{FoundArgument, OpenClBackend, OpenClDevice, OpenClKind, OpenClProgram, OpenClTask};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tunesmith_core::Clock;
use tunesmith_core::counters::Hardware;
use tunesmith_power::{Abilities, Knob, ManagedDevice, Powercap, Steering};

/// A device that runs compiled kernels.
#[derive(Clone, Debug, PartialEq)]
pub enum Target {
    /// The processor of this machine, through its C and C++ compilers.
    Processor,
    /// One of the [`opencl_devices`](crate::opencl_devices).
    OpenCl(Box<OpenClDevice>),
    /// One of the [`cuda_devices`](crate::cuda_devices) or [`hip_devices`](crate::hip_devices).
    Gpu(Box<GpuDevice>),
}

/// The values for opening a backend, beside the kernel and the device.
pub(crate) struct Opening<'a> {
    /// The folder of programs and their sources.
    pub(crate) folder: &'a Path,
    /// A name that keeps the files of one kernel apart from those of another.
    pub(crate) name: &'a str,
    /// The limit of a compilation.
    pub(crate) limit: Duration,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) compilers: &'a Compilers,
    /// The executable that supervises compilers.
    pub(crate) worker: &'a WorkerCommand,
    /// The processes in which drivers compile.
    pub(crate) service: Arc<dyn CompileService>,
}

impl Target {
    /// Returns true if the device runs kernels in `language`.
    pub(crate) fn runs(&self, language: Language) -> bool {
        match self {
            Self::Processor => !language.has_work_items(),
            Self::OpenCl(_) => language == Language::OpenCl,
            Self::Gpu(device) => device.api().runs(language),
        }
    }

    /// Returns the language of generated kernels for this device.
    pub fn language(&self) -> Language {
        match self {
            Self::Processor => Language::C,
            Self::OpenCl(_) => Language::OpenCl,
            Self::Gpu(device) => device.api().language(),
        }
    }

    /// Returns the device's entry in lists. Returns `None` for the processor if no compiler is
    /// usable.
    pub fn info(&self, compilers: &Compilers, worker: &WorkerCommand) -> Option<DeviceInfo> {
        match self {
            Self::Processor => c::devices(compilers, worker).0.into_iter().next(),
            Self::OpenCl(device) => Some(device.info()),
            Self::Gpu(device) => Some(device.info()),
        }
    }

    /// Returns true if kernels run on the processors of this machine.
    pub fn is_processor(&self) -> bool {
        match self {
            Self::Processor => true,
            Self::OpenCl(device) => device.kind == OpenClKind::Cpu,
            Self::Gpu(_) => false,
        }
    }

    /// Returns true if the device tells its energy, and its counters to `tune --profile`.
    pub fn is_instrumented(&self) -> bool {
        self.is_of(GpuApi::Cuda)
    }

    /// Returns true if the device is a GPU of this API.
    pub fn is_of(&self, api: GpuApi) -> bool {
        matches!(self, Self::Gpu(device) if device.api() == api)
    }

    /// Returns the device as the library knows it that sets its clock and its power limit.
    ///
    /// # Errors
    /// No library does, on this device.
    pub fn managed(&self) -> Result<&ManagedDevice, DeviceError> {
        let managed = match self {
            Self::Gpu(device) => device.managed.as_ref(),
            Self::Processor | Self::OpenCl(_) => None,
        };
        managed.ok_or_else(|| DeviceError::Settings {
            problem: "the clock and power of this device cannot be set".to_owned(),
            remedy: "remove [device_settings], or choose a device of CUDA or HIP".to_owned(),
        })
    }

    /// Returns the values that the device's knobs take, once it is known that the user may turn them.
    ///
    /// # Errors
    /// The device has no such knob, the user may not turn it, or another run turns it.
    pub fn abilities(
        &self,
        worker: &WorkerCommand,
        power: &PowerSetup,
        knobs: &[Knob],
    ) -> Result<Abilities, DeviceError> {
        let device = self.managed()?.clone();
        let steering = Steering::open(worker.guard(), device, power.notes.clone(), knobs.to_vec())?;
        Ok(steering.abilities().clone())
    }

    /// Checks that the energy of runs on the device can be measured. `power` has the processors'
    /// counters.
    ///
    /// # Errors
    /// The device tells no energy, or the user may not read it.
    pub fn check_energy(&self, power: &PowerSetup) -> Result<(), DeviceError> {
        if self.is_processor() {
            Powercap::open(&power.counters)?;
        } else if !self.is_instrumented() {
            return Err(DeviceError::NoEnergy {
                problem: "this device does not report its energy".to_owned(),
                remedy: "CUDA devices do (--device cuda, for problems in CUDA), and processors (--device c)".to_owned(),
            });
        }
        Ok(())
    }

    /// Finds the profiler that a worker can run under, if its own session cannot read counters.
    pub(crate) fn outside_profiler(&self) -> Option<Box<dyn OutsideProfiler>> {
        match self {
            Self::Processor | Self::OpenCl(_) => None,
            Self::Gpu(device) => cuda::outside_profiler(device),
        }
    }

    /// Returns the size of the device, if the device counts operations while kernels run. Returns
    /// `None` for other devices.
    pub(crate) fn counted_hardware(&self) -> Option<Hardware> {
        match self {
            // No bottleneck depends on the size of the processor.
            Self::Processor => self.missing_counters().is_none().then(Hardware::default),
            Self::Gpu(device) if device.api() == GpuApi::Cuda => Some(device.hardware()),
            Self::OpenCl(_) | Self::Gpu(_) => None,
        }
    }

    /// Returns the part of the device's own counters that is missing, with the reason. Returns
    /// `None` if they can be read, and for devices without counters of their own.
    pub fn missing_counters(&self) -> Option<Missing> {
        match self {
            Self::Processor => c::missing_counters(),
            Self::OpenCl(_) | Self::Gpu(_) => None,
        }
    }

    /// Opens the backend that compiles `source` for the device. A function in C can be the
    /// reference on every device.
    ///
    /// # Errors
    /// The device does not run the language, a source cannot be read, or a compiler is missing.
    pub(crate) fn backend(&self, source: KernelSource, opening: Opening<'_>) -> Result<Box<dyn Backend>, DeviceError> {
        let language = source.kernel.language;
        match self {
            _ if !language.has_work_items() => {
                let Opening { folder, name, limit, clock, compilers, worker, .. } = opening;
                let compiler = Compiler::find(compilers, worker, language, Arc::clone(&clock))?;
                Ok(Box::new(CBackend::new(source, compiler, folder, name, limit, clock)?))
            }
            Self::OpenCl(device) if self.runs(language) => {
                Ok(Box::new(OpenClBackend::new(source, device.as_ref().clone(), Workshop::new(opening))?))
            }
            Self::Gpu(device) if self.runs(language) => {
                Ok(Box::new(GpuBackend::new(source, device.as_ref().clone(), opening)?))
            }
            _ => Err(self.wrong_language(&source)),
        }
    }

    /// Returns the error for a `source` that is for other devices.
    pub(crate) fn wrong_language(&self, source: &KernelSource) -> DeviceError {
        let device = match self {
            Self::Processor => "the device `c`".to_owned(),
            Self::OpenCl(device) => format!("OpenCL device {} ({})", device.index, device.name),
            Self::Gpu(device) => format!("{} device {} ({})", device.api().title(), device.index, device.name),
        };
        let language = source.kernel.language;
        DeviceError::Language {
            what: source.what,
            name: source.kernel.function.to_string(),
            language,
            device,
            remedy: format!("choose `--device {}`", language.device()),
        }
    }
}

/// A program that a session loads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Program {
    /// A shared library that exports `tunesmith_call`.
    Library { path: PathBuf },
    /// The output of an OpenCL driver.
    OpenCl(OpenClProgram),
    /// The output of NVRTC or hiprtc.
    Gpu(GpuProgram),
}

impl Program {
    /// Returns the path of the binary.
    pub(crate) fn path(&self) -> &Path {
        match self {
            Self::Library { path } => path,
            Self::OpenCl(program) => &program.binary,
            Self::Gpu(program) => &program.binary,
        }
    }

    /// Returns the function that is launched, of several that the binary may hold. Empty for a library, which calls it.
    pub(crate) fn function(&self) -> &str {
        match self {
            Self::Library { .. } => "",
            Self::OpenCl(program) => &program.function,
            Self::Gpu(program) => &program.function,
        }
    }
}

/// The kinds of sessions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum SessionKind {
    /// Functions in the worker's own process.
    C,
    /// A device of an OpenCL driver, by its position among all devices.
    OpenCl { device: usize },
    /// A GPU, by its position among those of its API.
    Gpu { device: usize, setup: GpuSetup },
}

impl SessionKind {
    /// Returns true if each job runs in a process of its own, forked from the worker. Drivers do
    /// not survive a fork.
    pub(crate) fn forks(&self) -> bool {
        matches!(self, Self::C)
    }

    /// Opens the device.
    pub(crate) fn open(self) -> Result<Box<dyn Session>, String> {
        match self {
            Self::C => Ok(Box::new(CSession::new())),
            Self::OpenCl { device } => opencl::open(device),
            Self::Gpu { device, setup: GpuSetup::Cuda(setup) } => cuda::open(&setup, device),
            Self::Gpu { device, setup: GpuSetup::Hip(setup) } => hip::open(&setup, device),
        }
    }
}

/// A configuration for a compile worker to compile.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum CompileTask {
    /// A task for an OpenCL driver.
    OpenCl(OpenClTask),
    /// A task for NVRTC or hiprtc.
    Gpu(GpuTask),
}

/// A compiler's description of its output.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Made {
    /// The kernel's arguments as the driver sees them. `retire` is true if a kernel still runs in
    /// this worker, so that the next task needs another one. `took` is the time of the compilation
    /// alone, without the start of the worker and of its driver.
    OpenCl { arguments: Vec<FoundArgument>, retire: bool, took: Duration },
    /// The binary of a compiler for GPUs.
    Gpu(GpuMade),
}

impl Made {
    /// Returns true if the worker must not be used again.
    pub(crate) fn retires_its_worker(&self) -> bool {
        match self {
            Self::OpenCl { retire, .. } => *retire,
            Self::Gpu(_) => false,
        }
    }
}

/// The compilers of a compile worker. Each is opened at its first task.
#[derive(Default)]
pub(crate) struct DriverCompilers {
    opencl: opencl::Compiler,
    cuda: cuda::Compiler,
    hip: hip::Compiler,
}

impl DriverCompilers {
    /// Compiles one configuration. Calls `launching` before a kernel runs, because a later crash
    /// need not be the compiler's fault.
    pub(crate) fn compile(&mut self, task: &CompileTask, launching: &mut dyn FnMut()) -> Compiled {
        match task {
            CompileTask::OpenCl(task) => self.opencl.compile(task, launching),
            CompileTask::Gpu(task) => match task.setup {
                GpuSetup::Cuda(_) => self.cuda.compile(task),
                GpuSetup::Hip(_) => self.hip.compile(task),
            },
        }
    }
}

/// A question to a driver. It is asked in a worker, because drivers may crash.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum DriverQuestion {
    /// The devices of all OpenCL drivers.
    OpenClDevices,
    /// The devices of the NVIDIA driver.
    CudaDevices(CudaSetup),
    /// The device that NVRTC compiles for by the name of its architecture, without a driver.
    CudaArchitecture(CudaSetup, String),
    /// The devices of the HIP runtime.
    HipDevices(HipSetup),
    /// The device that hiprtc compiles for by the name of its architecture, without a driver.
    HipArchitecture(HipSetup, String),
    /// The counters of NVIDIA chips.
    CudaCounters(CountersTask),
}

/// A driver's answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum DriverAnswer {
    /// The devices, or the missing part.
    OpenClDevices(Result<Vec<OpenClDevice>, Absent>),
    /// The devices, or the missing part.
    GpuDevices(Result<Vec<GpuDevice>, Absent>),
    /// The device, or the missing part.
    GpuArchitecture(Box<Result<GpuDevice, Absent>>),
    /// The counters of the requested chips, or the reason why there are none.
    CudaCounters(Result<Vec<ChipCounters>, NoCounters>),
}

impl DriverQuestion {
    /// Asks the driver.
    pub(crate) fn answer(&self) -> DriverAnswer {
        match self {
            Self::OpenClDevices => DriverAnswer::OpenClDevices(opencl::describe_all()),
            Self::CudaDevices(setup) => DriverAnswer::GpuDevices(cuda::describe_all(setup)),
            Self::CudaArchitecture(setup, name) => {
                DriverAnswer::GpuArchitecture(Box::new(cuda::describe_architecture(setup, name)))
            }
            Self::HipDevices(setup) => DriverAnswer::GpuDevices(hip::describe_all(setup)),
            Self::HipArchitecture(setup, name) => {
                DriverAnswer::GpuArchitecture(Box::new(hip::describe_architecture(setup, name)))
            }
            Self::CudaCounters(task) => DriverAnswer::CudaCounters(cuda::resolve(task)),
        }
    }
}
