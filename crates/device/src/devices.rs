//! Lists the usable devices, and the reasons why others are not usable. Drivers are asked in
//! workers, because they may crash.

use crate::worker::drivers;
use std::path::Path;
use tunesmith_backend::cuda::{self, ChipCounters, CountersTask};
use tunesmith_backend::gpu::GpuDevice;
use tunesmith_backend::host::{Compilers, CudaSetup, HipSetup, WorkerCommand};
use tunesmith_backend::kind::Means;
use tunesmith_backend::opencl::{self, OpenClDevice};
use tunesmith_backend::{DeviceInfo, KernelBackend, Missing, Target, command, hip};
use tunesmith_kernel::DeviceError;

/// Returns the processor as the device of the C backend. Returns `None` if neither of its compilers
/// is usable.
pub fn processor(compilers: &Compilers, worker: &WorkerCommand) -> Option<DeviceInfo> {
    Target::processor().info(compilers, worker)
}

/// Lists every usable device, and every unusable backend with the reason. The list of unusable
/// backends includes the processor's counters. Starts workers to ask the drivers.
pub fn devices(compilers: &Compilers, worker: &WorkerCommand) -> (Vec<DeviceInfo>, Vec<Missing>) {
    let means = Means { compilers, worker, drivers: drivers(worker) };
    let (mut devices, mut missing) = (Vec::new(), Vec::new());
    for backend in KernelBackend::all() {
        let (found, lacking) = backend.kind().list(means);
        devices.extend(found);
        missing.extend(lacking);
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
    opencl::devices(drivers(worker))
}

/// Lists every CUDA device. Asks the driver in a worker and waits for its answer.
///
/// # Errors
/// There is no driver, no device or no compiler ([`DeviceError::NoDevices`]), or the worker cannot
/// be started.
pub fn cuda_devices(setup: &CudaSetup, worker: &WorkerCommand) -> Result<Vec<GpuDevice>, DeviceError> {
    cuda::cuda_devices(setup, drivers(worker))
}

/// Lists every HIP device. Asks the runtime in a worker and waits for its answer.
///
/// # Errors
/// There is no runtime, no device or no compiler ([`DeviceError::NoDevices`]), or the worker cannot
/// be started.
pub fn hip_devices(setup: &HipSetup, worker: &WorkerCommand) -> Result<Vec<GpuDevice>, DeviceError> {
    hip::hip_devices(setup, drivers(worker))
}

/// Returns a device that only compiles: an architecture by NVRTC's name, such as `sm_90`, with the
/// limits that every GPU of it has. Needs NVRTC, but neither a GPU nor a driver. Asks the compiler
/// in a worker.
///
/// # Errors
/// NVRTC is missing or does not know the architecture ([`DeviceError::NoDevices`]), or the worker
/// cannot be started.
pub fn cuda_architecture(setup: &CudaSetup, name: &str, worker: &WorkerCommand) -> Result<GpuDevice, DeviceError> {
    cuda::cuda_architecture(setup, name, drivers(worker))
}

/// Returns a device that only compiles: an architecture by AMD's name, such as `gfx90a`, with the
/// limits that every GPU of it has. Needs hiprtc, but neither a GPU nor a runtime. Asks the compiler
/// in a worker.
///
/// # Errors
/// hiprtc is missing or does not know the architecture ([`DeviceError::NoDevices`]), or the worker
/// cannot be started.
pub fn hip_architecture(setup: &HipSetup, name: &str, worker: &WorkerCommand) -> Result<GpuDevice, DeviceError> {
    hip::hip_architecture(setup, name, drivers(worker))
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
    cuda::counters(task, drivers(worker))
}
