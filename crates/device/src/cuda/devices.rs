//! The CUDA devices as the tuner learns of them: from a worker, because a driver may crash when it is asked.

use crate::cuda::{Absent, CudaDevice, CudaSetup};
use crate::devices::{DeviceInfo, Missing};
use crate::error::DeviceError;
use crate::worker::WorkerCommand;
use crate::worker::ask::{OTHER_PROTOCOL, ask_for_devices};
use crate::worker::protocol::{Message, Request};

/// Every CUDA device. Asks the driver in a worker, which takes as long as it takes.
///
/// # Errors
/// There is no driver, no device or no compiler ([`DeviceError::NoCuda`]), or no worker can be started.
pub fn cuda_devices(setup: &CudaSetup, worker: &WorkerCommand) -> Result<Vec<CudaDevice>, DeviceError> {
    let devices = match ask_for_devices(worker, &Request::DescribeCuda(setup.clone()))? {
        Ok(Message::CudaDevices(devices)) => devices,
        Ok(_) => Err(Absent::driver(OTHER_PROTOCOL)),
        Err(reason) => Err(Absent::driver(&reason)),
    };
    devices.map_err(|Absent { reason, remedy }| DeviceError::NoCuda { reason, remedy })
}

/// The devices for lists, and what is missing.
pub(crate) fn devices(setup: &CudaSetup, worker: &WorkerCommand) -> (Vec<DeviceInfo>, Vec<Missing>) {
    let missing = |reason, remedy| (Vec::new(), vec![Missing { backend: "cuda".to_owned(), reason, remedy }]);
    match cuda_devices(setup, worker) {
        Ok(devices) => (devices.iter().map(info).collect(), Vec::new()),
        Err(DeviceError::NoCuda { reason, remedy }) => missing(reason, remedy),
        Err(other) => missing(other.to_string(), "see whether processes can be started".to_owned()),
    }
}

fn info(device: &CudaDevice) -> DeviceInfo {
    DeviceInfo {
        id: format!("cuda:{}", device.index),
        name: device.name.clone(),
        backend: "cuda".to_owned(),
        driver: format!("CUDA {}, {} for {}", device.driver, device.compiler, device.architecture),
        limits: device.limits.clone(),
    }
}
