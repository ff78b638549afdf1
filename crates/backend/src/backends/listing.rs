//! The entries of device lists: usable devices, and unusable backends.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use tunesmith_kernel::DeviceError;

/// A device that kernels can be tuned on.
#[derive(Clone, Debug, PartialEq)]
pub struct DeviceInfo {
    /// The device's name for `--device`.
    pub id: String,
    /// The maker's name of the device.
    pub name: String,
    /// The backend that runs kernels on the device.
    pub backend: String,
    /// The compiler or driver, with its version.
    pub driver: String,
    /// The limits by name. Constraints refer to them as `device.NAME`.
    pub limits: BTreeMap<String, f64>,
}

/// A backend, or a part of one, that is not usable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// The backend, or the part of it.
    pub backend: String,
    /// The missing part.
    pub reason: String,
    /// The remedy.
    pub remedy: String,
}

impl Missing {
    /// Creates an entry that explains why `backend` is not usable.
    pub(crate) fn of(backend: &str, error: DeviceError) -> Self {
        let (reason, remedy) = match error {
            DeviceError::Compiler { language, program, problem, remedy } => {
                (format!("the {language} compiler `{program}` {problem}"), remedy)
            }
            DeviceError::NoDevices { reason, remedy, .. } => (reason, remedy),
            other => (other.to_string(), "see whether processes can be started".to_owned()),
        };
        Self { backend: backend.to_owned(), reason, remedy }
    }
}

/// A missing part, and the way to get it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Absent {
    pub(crate) reason: String,
    pub(crate) remedy: String,
}

impl Absent {
    /// Returns the entry of a backend that was left out of this build.
    #[cfg(not(all(feature = "opencl", feature = "cuda", feature = "hip")))]
    pub(crate) fn feature(api: &str, feature: &str) -> Self {
        Self {
            reason: format!("this build lacks the {api} backend"),
            remedy: format!("build it with the Cargo feature `{feature}`"),
        }
    }

    /// Returns the error of a run that needs a device of `api`.
    pub(crate) fn into_error(self, api: &'static str) -> DeviceError {
        DeviceError::NoDevices { api, reason: self.reason, remedy: self.remedy }
    }
}
