//! Questions to the drivers and compilers of GPUs, as the tuner's side asks them.

use crate::backends::Absent;
use crate::backends::gpu::GpuApi;
use crate::backends::question::{self, Drivers};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tunesmith_kernel::DeviceError;

/// Asks a driver or a compiler for devices: for a list, or for one.
///
/// # Errors
/// There is no driver, no device or no compiler, or the worker cannot be started.
pub(in crate::backends) fn described<D: DeserializeOwned>(
    api: GpuApi,
    question: &impl Serialize,
    drivers: Drivers<'_>,
) -> Result<D, DeviceError> {
    let answer = question::ask::<Result<D, Absent>>(drivers, api.device(), question)?;
    let found = answer.unwrap_or_else(|none| Err(api.missing_driver(&none.why_no_devices())));
    found.map_err(|absent| absent.into_error(api.title()))
}
