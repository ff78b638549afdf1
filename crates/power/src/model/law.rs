//! The laws of power and time over the clock.

use serde::{Deserialize, Serialize};

/// The power of a device at work over its clock.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PowerLaw {
    /// The power in watts that does not depend on the clock.
    pub idle_w: f64,
    /// Watts per MHz at the lowest voltage.
    pub alpha: f64,
    /// The clock in MHz from which on the voltage grows.
    pub ridge_mhz: f64,
    /// The growth of the voltage above the ridge, relative to the lowest one, per MHz.
    pub beta: f64,
    /// The limit of power in watts, if the device reaches it.
    #[serde(default)]
    pub most_w: Option<f64>,
}

/// The time of a kernel over the clock: `still_ms + cycles / mhz`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimeLaw {
    /// The part in milliseconds that does not depend on the clock: waiting for memory.
    pub still_ms: f64,
    /// The rest, in milliseconds at 1 MHz.
    pub cycles: f64,
}

impl PowerLaw {
    /// Returns the voltage relative to the lowest one.
    pub fn voltage(&self, mhz: f64) -> f64 {
        1.0 + self.beta * (mhz - self.ridge_mhz).max(0.0)
    }

    /// Returns the power in watts.
    pub fn watts(&self, mhz: f64) -> f64 {
        let free = self.idle_w + self.alpha * mhz * self.voltage(mhz).powi(2);
        self.most_w.map_or(free, |most| free.min(most))
    }
}

impl TimeLaw {
    /// Returns the time in milliseconds.
    pub fn time_ms(&self, mhz: f64) -> f64 {
        self.still_ms + self.cycles / mhz
    }
}
