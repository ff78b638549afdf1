//! The OpenCL devices as the tuner learns of them: from a worker, because a driver may crash when it is asked.

use crate::devices::{DeviceInfo, Missing};
use crate::error::DeviceError;
use crate::opencl::OpenClDevice;
use crate::worker::WorkerCommand;
use crate::worker::process::{Waited, Worker};
use crate::worker::protocol::{Message, Request};
use std::sync::Arc;
use std::time::Duration;
use tunesmith_core::{Interrupt, SystemClock};

/// How long drivers may take to tell of their devices: those of GPUs that sleep take seconds.
const LIMIT: Duration = Duration::from_secs(60);

/// Every OpenCL device. Asks the drivers in a worker, which takes as long as they take.
///
/// # Errors
/// There is no OpenCL library, no driver or no device ([`DeviceError::NoOpenCl`]), or no worker can be started.
pub fn opencl_devices(worker: &WorkerCommand) -> Result<Vec<OpenClDevice>, DeviceError> {
    let mut process = Worker::spawn(worker, Arc::new(SystemClock::new()))?;
    // A worker that cannot be written to has ended, which waiting will tell.
    let _ = process.send(&Request::Describe);
    let reason = match process.wait(LIMIT, &Interrupt::default()) {
        Waited::Message(Message::Devices(Ok(devices))) => return Ok(devices),
        Waited::Message(Message::Devices(Err(reason))) => reason,
        Waited::Ended(how) => format!("a driver crashes when it is asked for its devices ({how})"),
        Waited::TimedOut => format!("no driver tells of its devices within {} s", LIMIT.as_secs()),
        Waited::Message(_) | Waited::Interrupted => "a worker speaks another protocol".to_owned(),
    };
    Err(DeviceError::NoOpenCl { reason })
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
