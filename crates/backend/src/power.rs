//! The places of what concerns the power of devices.

use std::path::PathBuf;
use tunesmith_power::{POWERCAP, default_folder};

/// The places of what concerns power.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PowerSetup {
    /// The folder of notes about devices whose clock or power limit is set. All users of a machine
    /// need the same one.
    pub notes: PathBuf,
    /// The folder of the processors' energy counters.
    pub counters: PathBuf,
}

impl Default for PowerSetup {
    fn default() -> Self {
        Self { notes: default_folder(), counters: PathBuf::from(POWERCAP) }
    }
}
