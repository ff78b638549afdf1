//! Lists the usable devices, and the reasons why others are not usable. Drivers are asked in
//! workers, because they may crash.

use crate::backends::cuda::{self, ChipCounters, CountersTask, NoCounters};
use crate::backends::gpu::{GpuApi, GpuDevice};
use crate::backends::opencl::{self, OpenClDevice};
use crate::backends::{Absent, DeviceInfo, DriverAnswer, DriverQuestion, Missing, Target, c, command};
use crate::error::DeviceError;
use crate::host::{Compilers, CudaSetup, HipSetup, WorkerCommand};
use crate::worker::{LIMIT, NoAnswer, OTHER_PROTOCOL, ask};
use std::path::Path;

/// Returns the processor as the device of the C backend. Returns `None` if neither of its compilers
/// is usable.
pub fn processor(compilers: &Compilers, worker: &WorkerCommand) -> Option<DeviceInfo> {
    Target::Processor.info(compilers, worker)
}

/// Lists every usable device, and every unusable backend with the reason. The list of unusable
/// backends includes the processor's counters. Starts workers to ask the drivers.
pub fn devices(compilers: &Compilers, worker: &WorkerCommand) -> (Vec<DeviceInfo>, Vec<Missing>) {
    let (mut devices, mut missing) = c::devices(compilers, worker);
    if !devices.is_empty() {
        missing.extend(c::missing_counters());
    }
    let opencl = opencl_devices(worker).map(|found| found.iter().map(OpenClDevice::info).collect());
    let gpus = |found: Vec<GpuDevice>| found.iter().map(GpuDevice::info).collect();
    let cuda = cuda_devices(&compilers.cuda, worker).map(gpus);
    let hip = hip_devices(&compilers.hip, worker).map(gpus);
    for (backend, found) in [("opencl", opencl), ("cuda", cuda), ("hip", hip)] {
        match found {
            Ok(found) => devices.extend::<Vec<DeviceInfo>>(found),
            Err(error) => missing.push(Missing::of(backend, error)),
        }
    }
    devices.push(command::device());
    (devices, missing)
}

/// Lists every OpenCL device. Asks the drivers in a worker and waits for their answers.
///
/// # Errors
/// There is no OpenCL library, no driver or no device ([`DeviceError::NoDevices`]), or the worker
/// cannot be started.
pub fn opencl_devices(worker: &WorkerCommand) -> Result<Vec<OpenClDevice>, DeviceError> {
    let found = match ask(worker, DriverQuestion::OpenClDevices)? {
        Ok(DriverAnswer::OpenClDevices(found)) => found,
        other => Err(opencl::missing(&why_no_devices(other))),
    };
    found.map_err(|absent| absent.into_error("OpenCL"))
}

/// Lists every CUDA device. Asks the driver in a worker and waits for its answer.
///
/// # Errors
/// There is no driver, no device or no compiler ([`DeviceError::NoDevices`]), or the worker cannot
/// be started.
pub fn cuda_devices(setup: &CudaSetup, worker: &WorkerCommand) -> Result<Vec<GpuDevice>, DeviceError> {
    gpus(GpuApi::Cuda, DriverQuestion::CudaDevices(setup.clone()), worker)
}

/// Lists every HIP device. Asks the runtime in a worker and waits for its answer.
///
/// # Errors
/// There is no runtime, no device or no compiler ([`DeviceError::NoDevices`]), or the worker cannot
/// be started.
pub fn hip_devices(setup: &HipSetup, worker: &WorkerCommand) -> Result<Vec<GpuDevice>, DeviceError> {
    gpus(GpuApi::Hip, DriverQuestion::HipDevices(setup.clone()), worker)
}

fn gpus(api: GpuApi, question: DriverQuestion, worker: &WorkerCommand) -> Result<Vec<GpuDevice>, DeviceError> {
    let found = match ask(worker, question)? {
        Ok(DriverAnswer::GpuDevices(found)) => found,
        other => Err(api.missing_driver(&why_no_devices(other))),
    };
    found.map_err(|absent| absent.into_error(api.title()))
}

/// Returns a device that only compiles: an architecture by NVRTC's name, such as `sm_90`, with the
/// limits that every GPU of it has. Needs NVRTC, but neither a GPU nor a driver. Asks the compiler
/// in a worker.
///
/// # Errors
/// NVRTC is missing or does not know the architecture ([`DeviceError::NoDevices`]), or the worker
/// cannot be started.
pub fn cuda_architecture(setup: &CudaSetup, name: &str, worker: &WorkerCommand) -> Result<GpuDevice, DeviceError> {
    let question = DriverQuestion::CudaArchitecture(CudaSetup { script: None, ..setup.clone() }, name.to_owned());
    architecture(GpuApi::Cuda, question, worker)
}

/// Returns a device that only compiles: an architecture by AMD's name, such as `gfx90a`, with the
/// limits that every GPU of it has. Needs hiprtc, but neither a GPU nor a runtime. Asks the compiler
/// in a worker.
///
/// # Errors
/// hiprtc is missing or does not know the architecture ([`DeviceError::NoDevices`]), or the worker
/// cannot be started.
pub fn hip_architecture(setup: &HipSetup, name: &str, worker: &WorkerCommand) -> Result<GpuDevice, DeviceError> {
    let question = DriverQuestion::HipArchitecture(HipSetup { script: None, ..setup.clone() }, name.to_owned());
    architecture(GpuApi::Hip, question, worker)
}

fn architecture(api: GpuApi, question: DriverQuestion, worker: &WorkerCommand) -> Result<GpuDevice, DeviceError> {
    let found = match ask(worker, question)? {
        Ok(DriverAnswer::GpuArchitecture(found)) => *found,
        other => Err(api.missing_driver(&why_no_devices(other))),
    };
    found.map_err(|absent| absent.into_error(api.title()))
}

/// Returns the reason why a driver listed no devices.
fn why_no_devices(answer: Result<DriverAnswer, NoAnswer>) -> String {
    match answer {
        Err(NoAnswer::Crashed(how)) => format!("a driver crashes when it lists its devices ({how})"),
        Err(NoAnswer::TimedOut) => format!("the drivers do not list their devices within {} s", LIMIT.as_secs()),
        Ok(_) | Err(NoAnswer::OtherProtocol) => OTHER_PROTOCOL.to_owned(),
    }
}

/// Returns the counters of NVIDIA chips, from Volta on. `chips` holds NVIDIA's names of them, such
/// as `GH100`; no GPU is needed for these. If `chips` is empty, returns the counters of this
/// machine's GPUs. CUPTI is searched for in the folder `libraries` first, and asked in a worker. A
/// chip takes about 0.1 s.
///
/// # Errors
/// CUPTI is missing or crashes ([`DeviceError::NoCounters`]), or it does not know a chip
/// ([`DeviceError::NoChip`]).
pub fn counters(
    chips: &[String],
    libraries: Option<&Path>,
    worker: &WorkerCommand,
) -> Result<Vec<ChipCounters>, DeviceError> {
    let task = CountersTask { libraries: libraries.map(Path::to_owned), chips: chips.to_vec() };
    let (reason, remedy) = match ask(worker, DriverQuestion::CudaCounters(task))? {
        Ok(DriverAnswer::CudaCounters(Ok(found))) => return Ok(found),
        Ok(DriverAnswer::CudaCounters(Err(NoCounters::UnknownChip(Absent { reason, remedy })))) => {
            return Err(DeviceError::NoChip { reason, remedy });
        }
        Ok(DriverAnswer::CudaCounters(Err(NoCounters::Absent(Absent { reason, remedy })))) => (reason, remedy),
        Err(NoAnswer::Crashed(how)) => (format!("CUPTI crashes ({how})"), cuda::CRASH_REMEDY.to_owned()),
        Err(NoAnswer::TimedOut) => {
            (format!("CUPTI does not answer within {} s", LIMIT.as_secs()), cuda::REMEDY.to_owned())
        }
        Ok(_) | Err(NoAnswer::OtherProtocol) => (OTHER_PROTOCOL.to_owned(), String::new()),
    };
    Err(DeviceError::NoCounters { reason, remedy })
}
