//! A device as the management libraries name it.

use crate::libraries::{AmdSmi, Nvml};
use crate::manager::{Fault, Manager};
use crate::script::ScriptedManager;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// A library that manages devices.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Library {
    /// NVIDIA's, a part of its driver.
    Nvml,
    /// AMD's, a part of ROCm.
    AmdSmi,
    /// A script in place of a library, for tests.
    Script(PathBuf),
}

/// A device whose clock and power limit can be set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ManagedDevice {
    /// The library that manages it.
    pub library: Library,
    /// Its address on the PCI bus, such as `00000000:3B:00.0`. All libraries know it by this name.
    pub address: String,
    /// Its name, for messages.
    pub name: String,
}

impl ManagedDevice {
    /// Opens the device.
    ///
    /// # Errors
    /// The library is missing or does not know the device.
    pub(crate) fn open(&self) -> Result<Box<dyn Manager>, Fault> {
        match &self.library {
            Library::Nvml => Ok(Box::new(Nvml::open(&self.address)?)),
            Library::AmdSmi => Ok(Box::new(AmdSmi::open(&self.address)?)),
            Library::Script(path) => Ok(Box::new(ScriptedManager::open(path)?)),
        }
    }

    /// Returns the name of the device's file among those of all devices.
    pub(crate) fn file_name(&self) -> String {
        let library = match self.library {
            Library::Nvml => "nvml",
            Library::AmdSmi => "amdsmi",
            Library::Script(_) => "script",
        };
        let plain = |c: char| if c.is_ascii_alphanumeric() || c == '.' { c } else { '-' };
        format!("{library}-{}", self.address.chars().map(plain).collect::<String>())
    }
}
