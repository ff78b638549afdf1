//! The state of a device while kernels run: energy, power, clocks, and reasons for slowing down.

mod trouble;

pub use trouble::Trouble;

pub(crate) use trouble::{OtherProcess, Slowdown};

/// The state of a device at the end of a sample.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Conditions {
    /// The clock of its multiprocessors in MHz.
    pub clock_mhz: Option<f64>,
    /// The power in watts.
    pub power_w: Option<f64>,
    /// True if heat or a failing supply holds the clock down. A clock held down by the limit of
    /// power does not count, because that is how the device usually works.
    pub throttled: Option<bool>,
    /// The reason for a lower clock, if there is an unusual one.
    pub slowdown: Option<Slowdown>,
}

/// Watches one device.
pub trait Meter {
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
