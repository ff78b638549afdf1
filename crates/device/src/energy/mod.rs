//! The state of a device while kernels run: energy, power, clocks, and reasons for slowing down.

mod conditions;
mod processors;
mod reading;
mod trouble;

pub(crate) use conditions::{Conditions, MOST_RETAKES, Watch};
pub(crate) use processors::ProcessorMeter;
pub(crate) use reading::{EnergyReading, Look, Next};
pub(crate) use trouble::{OtherProcess, Slowdown, Trouble};

use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::time::Duration;

/// The name of a sample's energy in [`Measurement::values`](tunesmith_core::Measurement::values).
/// The unit is millijoules.
pub const ENERGY_MJ: &str = "energy_mj";

/// Time limit for a reading of the energy. It is several times the duration of a reading on a
/// device whose counter is updated ten times a second.
pub(crate) const READING_LIMIT: Duration = Duration::from_secs(3);

/// A meter of the energy of samples.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum EnergySource {
    /// The device that runs the kernels.
    Device,
    /// The processors of this machine, whose counters are in this folder.
    Processors(PathBuf),
}

/// Watches one device.
pub(crate) trait Meter {
    /// Returns the energy that the device has used, in millijoules since an arbitrary time.
    ///
    /// # Errors
    /// The device does not count its energy, or the driver fails.
    fn energy_mj(&mut self) -> Result<f64, String>;

    /// Returns the current state of the device. Values that the device does not report are missing.
    fn conditions(&mut self) -> Conditions;

    /// Returns the other processes that compute on the device.
    fn others(&mut self) -> Vec<OtherProcess> {
        Vec::new()
    }

    /// Returns the number of memory errors that the device could not correct since it was started.
    /// `None` if it does not count them.
    fn memory_errors(&mut self) -> Option<u64> {
        None
    }

    /// Returns true if the device does not answer any more.
    fn is_lost(&mut self) -> bool {
        false
    }
}
