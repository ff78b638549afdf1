//! The devices that can be used, and why others cannot.

use crate::c::Compilers;
use crate::error::DeviceError;
use std::collections::BTreeMap;

/// A device that kernels can be tuned on.
#[derive(Clone, Debug, PartialEq)]
pub struct DeviceInfo {
    /// What `--device` calls it.
    pub id: String,
    /// What its maker calls it.
    pub name: String,
    /// The backend that uses it.
    pub backend: String,
    /// The compiler or driver, with its version.
    pub driver: String,
    /// Its limits by name, as constraints use them after `device.`.
    pub limits: BTreeMap<String, f64>,
}

/// A backend that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// The backend.
    pub backend: String,
    /// What is missing.
    pub reason: String,
    /// How to get it.
    pub remedy: String,
}

impl Missing {
    pub(crate) fn compiler(error: &DeviceError) -> Self {
        let (reason, remedy) = match error {
            DeviceError::Compiler { language, program, problem, remedy } => {
                (format!("the {language} compiler `{program}` {problem}"), remedy.clone())
            }
            other => (other.to_string(), String::new()),
        };
        Self { backend: "c".to_owned(), reason, remedy }
    }
}

/// Every device that can be used, and every backend that cannot with the reason.
pub fn devices(compilers: &Compilers) -> (Vec<DeviceInfo>, Vec<Missing>) {
    crate::c::devices(compilers)
}
