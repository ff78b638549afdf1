//! Questions to AMD's libraries, which a worker asks.

use crate::backends::gpu::{GpuApi, GpuDevice, described};
use crate::backends::hip::{describe_all, describe_architecture};
use crate::backends::question::Drivers;
use crate::backends::{decoded, encoded};
use crate::host::HipSetup;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tunesmith_kernel::DeviceError;

/// A question to one of AMD's libraries.
#[derive(Serialize, Deserialize)]
enum HipQuestion {
    /// The devices of the runtime.
    Devices(HipSetup),
    /// The device that hiprtc compiles for by the name of its architecture, without a runtime.
    Architecture(HipSetup, String),
}

/// Lists every device.
///
/// # Errors
/// There is no runtime, no device or no compiler, or the worker cannot be started.
pub fn hip_devices(setup: &HipSetup, drivers: Drivers<'_>) -> Result<Vec<GpuDevice>, DeviceError> {
    described(GpuApi::Hip, &HipQuestion::Devices(setup.clone()), drivers)
}

/// Returns the device of an architecture, with the limits that every GPU of it has.
///
/// # Errors
/// hiprtc is missing or does not know the architecture, or the worker cannot be started.
pub fn hip_architecture(setup: &HipSetup, name: &str, drivers: Drivers<'_>) -> Result<GpuDevice, DeviceError> {
    let question = HipQuestion::Architecture(HipSetup { script: None, ..setup.clone() }, name.to_owned());
    described(GpuApi::Hip, &question, drivers)
}

/// Asks a library, in a worker. Returns `None` if it is no question to one of AMD's.
pub(super) fn answer(question: &Value) -> Option<Value> {
    Some(match decoded(question)? {
        HipQuestion::Devices(setup) => encoded(&describe_all(&setup)),
        HipQuestion::Architecture(setup, name) => encoded(&describe_architecture(&setup, &name)),
    })
}
