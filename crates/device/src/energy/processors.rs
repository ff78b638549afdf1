//! The energy of the processors of this machine.

use std::path::Path;
use tunesmith_backend::energy::{Conditions, Meter};
use tunesmith_power::{Powercap, PowercapError};

/// Counts the energy of all processors of this machine, and of everything that runs on them. Their
/// counters are opened before user code runs, because a sandbox hides them.
pub(crate) struct ProcessorMeter(Powercap);

impl ProcessorMeter {
    /// Opens the counters in `folder`.
    ///
    /// # Errors
    /// There are none, or the user may not read them. The text gives the remedy.
    pub(crate) fn open(folder: &Path) -> Result<Box<dyn Meter>, String> {
        Ok(Box::new(Self(Powercap::open(folder).map_err(explained)?)))
    }
}

fn explained(error: PowercapError) -> String {
    format!("{error}; {}", error.remedy())
}

impl Meter for ProcessorMeter {
    fn energy_mj(&mut self) -> Result<f64, String> {
        self.0.energy_mj().map_err(explained)
    }

    fn conditions(&mut self) -> Conditions {
        Conditions::default()
    }
}
