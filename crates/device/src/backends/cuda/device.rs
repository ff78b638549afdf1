//! CUDA devices as the tuner knows them.

use crate::backends::{Absent, DeviceInfo};
use crate::host::CudaSetup;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;
use tunesmith_core::counters::Hardware;

/// A device of the NVIDIA driver.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CudaDevice {
    /// Its position among the driver's devices.
    pub index: usize,
    /// The maker's name for it.
    pub name: String,
    /// The CUDA version that the driver supports.
    pub driver: String,
    /// The compiler and its version.
    pub compiler: String,
    /// What is compiled for: `sm_90`, or `compute_120` where the driver has to finish what the
    /// compiler began.
    pub architecture: String,
    /// A folder with CUDA's own headers, where there is one.
    pub headers: Option<PathBuf>,
    /// Its limits, by the names that constraints know after `device.`.
    pub limits: BTreeMap<String, f64>,
    /// Through what it was found.
    pub setup: CudaSetup,
}

impl CudaDevice {
    /// Returns the device as lists have it.
    pub(crate) fn info(&self) -> DeviceInfo {
        DeviceInfo {
            id: format!("cuda:{}", self.index),
            name: self.name.clone(),
            backend: "cuda".to_owned(),
            driver: format!("CUDA {}, {} for {}", self.driver, self.compiler, self.architecture),
            limits: self.limits.clone(),
        }
    }

    /// Returns the size of the device as bottlenecks need it.
    pub(crate) fn hardware(&self) -> Hardware {
        let limit = |name: &str| self.limits.get(name).copied();
        Hardware {
            compute_capability: limit("compute_capability"),
            multiprocessors: limit("compute_units"),
            ..Hardware::default()
        }
    }

    /// Returns the compute capability; 0 where it is not known.
    pub(crate) fn compute_capability(&self) -> f64 {
        self.limits.get("compute_capability").copied().unwrap_or_default()
    }
}

/// Says how to get the driver where it is missing for this reason.
pub(crate) fn missing_driver(reason: &str) -> Absent {
    let remedy = "install NVIDIA's driver (on a machine with an NVIDIA GPU `nvidia-smi` then lists it)";
    Absent { reason: reason.to_owned(), remedy: remedy.to_owned() }
}
