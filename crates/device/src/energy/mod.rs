//! What a device says of its state while kernels run: energy, power, clocks, and whether something
//! slows it down.

mod conditions;
mod reading;

pub(crate) use conditions::{Conditions, Watch};
pub(crate) use reading::{EnergyReading, Next};

use std::time::Duration;

/// The name in [`Measurement::values`](tunesmith_core::Measurement::values) of the energy of a
/// sample in millijoules.
pub const ENERGY_MJ: &str = "energy_mj";

/// How long a reading of the energy may take: several times as long as it takes where counters are
/// updated ten times a second.
pub(crate) const READING_LIMIT: Duration = Duration::from_secs(3);

/// Watches one device.
pub(crate) trait Meter {
    /// Returns the energy that the device has used so far, in millijoules from any origin.
    ///
    /// # Errors
    /// It does not count its energy, or the driver fails.
    fn energy_mj(&mut self) -> Result<f64, String>;

    /// Returns the state of the device now; what it does not tell is missing.
    fn conditions(&mut self) -> Conditions;
}
