//! CUDA devices: the tuner's side.

use crate::backends::{Absent, DeviceInfo};
use crate::host::CudaSetup;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;
use tunesmith_core::counters::Hardware;

/// A device of the NVIDIA driver.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CudaDevice {
    /// The position among the driver's devices.
    pub index: usize,
    /// The maker's name of the device.
    pub name: String,
    /// The CUDA version that the driver supports.
    pub driver: String,
    /// The compiler and its version.
    pub compiler: String,
    /// The architecture to compile for: `sm_90`, or `compute_120` if the driver has to finish the
    /// compilation.
    pub architecture: String,
    /// A folder with CUDA's own headers, if there is one.
    pub headers: Option<PathBuf>,
    /// The limits by name. Constraints refer to them as `device.NAME`.
    pub limits: BTreeMap<String, f64>,
    /// The setup that found the device.
    pub setup: CudaSetup,
}

impl CudaDevice {
    /// Returns the device's entry in lists.
    pub(crate) fn info(&self) -> DeviceInfo {
        DeviceInfo {
            id: format!("cuda:{}", self.index),
            name: self.name.clone(),
            backend: "cuda".to_owned(),
            driver: format!("CUDA {}, {} for {}", self.driver, self.compiler, self.architecture),
            limits: self.limits.clone(),
        }
    }

    /// Returns the size of the device, for the analysis of bottlenecks.
    pub(crate) fn hardware(&self) -> Hardware {
        let limit = |name: &str| self.limits.get(name).copied();
        Hardware {
            compute_capability: limit("compute_capability"),
            multiprocessors: limit("compute_units"),
            ..Hardware::default()
        }
    }

    /// Returns the compute capability, or 0 if it is not known.
    pub(crate) fn compute_capability(&self) -> f64 {
        self.limits.get("compute_capability").copied().unwrap_or_default()
    }
}

/// Explains how to get a driver that is missing for this reason.
pub(crate) fn missing_driver(reason: &str) -> Absent {
    let remedy = "install NVIDIA's driver (on a machine with an NVIDIA GPU `nvidia-smi` then lists it)";
    Absent { reason: reason.to_owned(), remedy: remedy.to_owned() }
}
