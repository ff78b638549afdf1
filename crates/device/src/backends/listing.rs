//! The entries of device lists: devices, and backends that cannot be used.

use crate::error::DeviceError;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A device that kernels can be tuned on.
#[derive(Clone, Debug, PartialEq)]
pub struct DeviceInfo {
    /// The name that `--device` takes.
    pub id: String,
    /// The maker's name for it.
    pub name: String,
    /// The backend that uses it.
    pub backend: String,
    /// The compiler or driver, with its version.
    pub driver: String,
    /// Its limits by name, as constraints use them after `device.`.
    pub limits: BTreeMap<String, f64>,
}

/// A backend, or a part of one, that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// The backend, or what part of it.
    pub backend: String,
    /// The missing part.
    pub reason: String,
    /// The remedy.
    pub remedy: String,
}

impl Missing {
    /// Says of `backend` why it cannot be used.
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

/// What is missing, and how to get it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Absent {
    pub(crate) reason: String,
    pub(crate) remedy: String,
}

impl Absent {
    /// Returns what a build says of a backend that it was made without.
    #[cfg(not(all(feature = "opencl", feature = "cuda")))]
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
