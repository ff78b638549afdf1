//! Questions to NVIDIA's libraries, which a worker asks.

use crate::backends::cuda::{
    CRASH_REMEDY, ChipCounters, CountersTask, NoCounters, REMEDY, describe_all, describe_architecture, resolve,
};
use crate::backends::gpu::{GpuApi, GpuDevice, described};
use crate::backends::question::{self, Drivers, LIMIT, NoAnswer, OTHER_PROTOCOL};
use crate::backends::{Absent, decoded, encoded};
use crate::host::CudaSetup;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tunesmith_kernel::DeviceError;

/// A question to one of NVIDIA's libraries.
#[derive(Serialize, Deserialize)]
enum CudaQuestion {
    /// The devices of the driver.
    Devices(CudaSetup),
    /// The device that NVRTC compiles for by the name of its architecture, without a driver.
    Architecture(CudaSetup, String),
    /// The counters of chips.
    Counters(CountersTask),
}

/// Lists every device.
///
/// # Errors
/// There is no driver, no device or no compiler, or the worker cannot be started.
pub fn cuda_devices(setup: &CudaSetup, drivers: Drivers<'_>) -> Result<Vec<GpuDevice>, DeviceError> {
    described(GpuApi::Cuda, &CudaQuestion::Devices(setup.clone()), drivers)
}

/// Returns the device of an architecture, with the limits that every GPU of it has.
///
/// # Errors
/// NVRTC is missing or does not know the architecture, or the worker cannot be started.
pub fn cuda_architecture(setup: &CudaSetup, name: &str, drivers: Drivers<'_>) -> Result<GpuDevice, DeviceError> {
    let question = CudaQuestion::Architecture(CudaSetup { script: None, ..setup.clone() }, name.to_owned());
    described(GpuApi::Cuda, &question, drivers)
}

/// Returns the counters of chips.
///
/// # Errors
/// CUPTI is missing or crashes, or it does not know a chip.
pub fn counters(task: CountersTask, drivers: Drivers<'_>) -> Result<Vec<ChipCounters>, DeviceError> {
    let question = CudaQuestion::Counters(task);
    let (reason, remedy) = match question::ask(drivers, GpuApi::Cuda.device(), &question)? {
        Ok(Ok(found)) => return Ok(found),
        Ok(Err(NoCounters::UnknownChip(Absent { reason, remedy }))) => {
            return Err(DeviceError::NoChip { reason, remedy });
        }
        Ok(Err(NoCounters::Absent(Absent { reason, remedy }))) => (reason, remedy),
        Err(NoAnswer::Crashed(how)) => (format!("CUPTI crashes ({how})"), CRASH_REMEDY.to_owned()),
        Err(NoAnswer::TimedOut) => (format!("CUPTI does not answer within {} s", LIMIT.as_secs()), REMEDY.to_owned()),
        Err(NoAnswer::OtherProtocol) => (OTHER_PROTOCOL.to_owned(), String::new()),
    };
    Err(DeviceError::NoCounters { reason, remedy })
}

/// Asks a library, in a worker. Returns `None` if it is no question to one of NVIDIA's.
pub(super) fn answer(question: &Value) -> Option<Value> {
    Some(match decoded(question)? {
        CudaQuestion::Devices(setup) => encoded(&describe_all(&setup)),
        CudaQuestion::Architecture(setup, name) => encoded(&describe_architecture(&setup, &name)),
        CudaQuestion::Counters(task) => encoded(&resolve(&task)),
    })
}
