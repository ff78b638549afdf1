//! The question to the drivers, which a worker asks.

use crate::backends::opencl::device::NAME;
use crate::backends::opencl::{OpenClDevice, describe_all, missing};
use crate::backends::question::{self, Drivers};
use crate::backends::{Absent, decoded, encoded};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tunesmith_kernel::DeviceError;

/// A question to OpenCL's drivers.
#[derive(Serialize, Deserialize)]
enum OpenClQuestion {
    /// Their devices.
    Devices,
}

/// Lists every device.
///
/// # Errors
/// There is no OpenCL library, no driver or no device, or the worker cannot be started.
pub fn devices(drivers: Drivers<'_>) -> Result<Vec<OpenClDevice>, DeviceError> {
    let answer = question::ask::<Result<_, Absent>>(drivers, NAME, &OpenClQuestion::Devices)?;
    let found = answer.unwrap_or_else(|none| Err(missing(&none.why_no_devices())));
    found.map_err(|absent| absent.into_error("OpenCL"))
}

/// Asks the drivers, in a worker. Returns `None` if it is no question to them.
pub(super) fn answer(question: &Value) -> Option<Value> {
    decoded(question).map(|OpenClQuestion::Devices| encoded(&describe_all()))
}
