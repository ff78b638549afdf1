//! The OpenCL devices as the tuner learns of them: from a worker, because a driver may crash when it is asked.

use crate::devices::{DeviceInfo, Missing};
use crate::error::DeviceError;
use crate::opencl::OpenClDevice;
use crate::worker::WorkerCommand;
use crate::worker::ask::{OTHER_PROTOCOL, ask_for_devices};
use crate::worker::protocol::{Message, Request};

/// Every OpenCL device. Asks the drivers in a worker, which takes as long as they take.
///
/// # Errors
/// There is no OpenCL library, no driver or no device ([`DeviceError::NoOpenCl`]), or no worker can be started.
pub fn opencl_devices(worker: &WorkerCommand) -> Result<Vec<OpenClDevice>, DeviceError> {
    match ask_for_devices(worker, &Request::DescribeOpenCl)? {
        Ok(Message::OpenClDevices(devices)) => devices.map_err(|reason| DeviceError::NoOpenCl { reason }),
        Ok(_) => Err(DeviceError::NoOpenCl { reason: OTHER_PROTOCOL.to_owned() }),
        Err(reason) => Err(DeviceError::NoOpenCl { reason }),
    }
}

/// The devices for lists, and what is missing.
pub(crate) fn devices(worker: &WorkerCommand) -> (Vec<DeviceInfo>, Vec<Missing>) {
    match opencl_devices(worker) {
        Ok(devices) => (devices.iter().map(info).collect(), Vec::new()),
        Err(error) => {
            let reason = match &error {
                DeviceError::NoOpenCl { reason } => reason.clone(),
                other => other.to_string(),
            };
            (Vec::new(), vec![Missing { backend: "opencl".to_owned(), reason, remedy: REMEDY.to_owned() }])
        }
    }
}

/// How to get OpenCL.
pub(crate) const REMEDY: &str = "install the driver of your GPU, or PoCL for processors \
    (Debian: apt install pocl-opencl-icd ocl-icd-libopencl1)";

fn info(device: &OpenClDevice) -> DeviceInfo {
    DeviceInfo {
        id: format!("opencl:{}", device.index),
        name: device.name.clone(),
        backend: "opencl".to_owned(),
        driver: format!("{}, driver {}", device.platform, device.driver),
        limits: device.limits.clone(),
    }
}
