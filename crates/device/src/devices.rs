//! The devices that can be used, and why others cannot.

use crate::c::Compilers;
use crate::error::DeviceError;
use crate::worker::WorkerCommand;
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

/// A backend, or a part of one, that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// The backend, or what part of it.
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

/// The processor, as the device of the C backend; none where neither of its compilers can be used.
pub fn processor(compilers: &Compilers) -> Option<DeviceInfo> {
    crate::c::devices(compilers).0.into_iter().next()
}

/// Every device that can be used, and every backend that cannot with the reason, counters of the processor among them.
/// Starts workers, in which drivers are asked for their devices.
pub fn devices(compilers: &Compilers, worker: &WorkerCommand) -> (Vec<DeviceInfo>, Vec<Missing>) {
    let (mut devices, mut missing) = crate::c::devices(compilers);
    if !devices.is_empty() {
        missing.extend(crate::c::missing_counters());
    }
    let (more_devices, more_missing) = crate::opencl::devices(worker);
    devices.extend(more_devices);
    missing.extend(more_missing);
    let (more_devices, more_missing) = crate::cuda::devices(&compilers.cuda, worker);
    devices.extend(more_devices);
    devices.push(crate::command::device());
    missing.extend(more_missing);
    (devices, missing)
}
