//! Devices of CUDA and HIP: the tuner's side.

use crate::backends::DeviceInfo;
use crate::backends::gpu::GpuApi;
use crate::host::GpuSetup;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;
use tunesmith_core::counters::Hardware;
use tunesmith_power::ManagedDevice;

/// A GPU, as the driver of its API lists it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GpuDevice {
    /// The position among the driver's devices.
    pub index: usize,
    /// The maker's name of the device.
    pub name: String,
    /// The version of the API that the driver supports.
    pub driver: String,
    /// The compiler and its version.
    pub compiler: String,
    /// The architecture to compile for: `sm_90`, `compute_120` if the driver has to finish the
    /// compilation, or `gfx90a:sramecc+:xnack-`.
    pub architecture: String,
    /// The folders with the headers of the API and of the maker's libraries, as far as they were
    /// found.
    pub headers: Vec<PathBuf>,
    /// The limits by name. Constraints refer to them as `device.NAME`.
    pub limits: BTreeMap<String, f64>,
    /// The setup that found the device.
    pub setup: GpuSetup,
    /// The device as the library knows it that sets its clock. `None` without such a library.
    pub managed: Option<ManagedDevice>,
}

impl GpuDevice {
    /// Returns the API of the device.
    pub fn api(&self) -> GpuApi {
        GpuApi::of(&self.setup)
    }

    /// Returns what `--device` calls the device.
    pub fn id(&self) -> String {
        format!("{}:{}", self.api().device(), self.index)
    }

    /// Returns the device's entry in lists.
    pub(crate) fn info(&self) -> DeviceInfo {
        let Self { name, driver, compiler, architecture, .. } = self;
        DeviceInfo {
            id: self.id(),
            name: name.clone(),
            backend: self.api().device().to_owned(),
            driver: format!("{} {driver}, {compiler} for {architecture}", self.api().title()),
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
