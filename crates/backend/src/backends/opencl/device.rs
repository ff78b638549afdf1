//! OpenCL devices: the tuner's side.

use crate::backends::{Absent, DeviceInfo};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The name of the backend.
pub(super) const NAME: &str = "opencl";

/// A device of an OpenCL driver.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OpenClDevice {
    /// The position among all devices of all platforms, in the order in which the drivers are
    /// found.
    pub index: usize,
    /// The maker's name of the device.
    pub name: String,
    /// The platform and its version.
    pub platform: String,
    /// The driver's version.
    pub driver: String,
    /// The kind.
    pub kind: OpenClKind,
    /// The limits by name. Constraints refer to them as `device.NAME`.
    pub limits: BTreeMap<String, f64>,
}

/// The kind of an OpenCL device. The kinds are ordered by usual speed, fastest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum OpenClKind {
    /// A graphics processor.
    Gpu,
    /// An accelerator of another kind.
    Other,
    /// The processor, which also compiles.
    Cpu,
}

impl OpenClDevice {
    /// Returns the device's entry in lists.
    pub(crate) fn info(&self) -> DeviceInfo {
        DeviceInfo {
            id: format!("{NAME}:{}", self.index),
            name: self.name.clone(),
            backend: NAME.to_owned(),
            driver: format!("{}, driver {}", self.platform, self.driver),
            limits: self.limits.clone(),
        }
    }
}

/// Explains how to get OpenCL if it is missing for this reason.
pub(crate) fn missing(reason: &str) -> Absent {
    let remedy = "install the driver of your GPU, or PoCL for processors \
        (Debian: apt install pocl-opencl-icd ocl-icd-libopencl1)";
    Absent { reason: reason.to_owned(), remedy: remedy.to_owned() }
}
