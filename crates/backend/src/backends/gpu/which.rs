//! Lists of GPUs, and the choice among them.

use crate::backends::gpu::{GpuApi, GpuDevice};
use crate::backends::{DeviceInfo, Missing, WhichDevice};
use tunesmith_kernel::DeviceError;

/// Returns the entries of lists for the devices that a driver described, or for its absence.
pub(in crate::backends) fn listed(
    api: GpuApi,
    found: Result<Vec<GpuDevice>, DeviceError>,
) -> (Vec<DeviceInfo>, Vec<Missing>) {
    match found {
        Ok(found) => (found.iter().map(GpuDevice::info).collect(), Vec::new()),
        Err(error) => (Vec::new(), vec![Missing::of(api.device(), error)]),
    }
}

/// Finds a GPU among those of its API. The best device is the first one.
///
/// # Errors
/// There is no such device.
pub(in crate::backends) fn find(
    api: GpuApi,
    which: &WhichDevice,
    devices: &[GpuDevice],
) -> Result<GpuDevice, DeviceError> {
    let number = match which {
        WhichDevice::Best => Some(0),
        WhichDevice::Number(number) => Some(*number),
        WhichDevice::Named(_) | WhichDevice::OfPlatform { .. } => None,
    };
    let found = number.and_then(|number| devices.iter().find(|device| device.index == number));
    let known = || devices.iter().map(|device| format!("{} ({})", device.id(), device.name)).collect::<Vec<_>>();
    found.cloned().ok_or_else(|| which.absent(api.title(), &known()))
}
