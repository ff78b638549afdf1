//! The energy meter of a scripted device.

use crate::energy::{Conditions, Meter};
use tunesmith_core::{Clock, SystemClock};

/// A device with constant power. Its energy counter moves a thousand times a second.
pub(super) struct ScriptedMeter {
    pub(super) watts: f64,
    pub(super) clock: SystemClock,
}

impl Meter for ScriptedMeter {
    fn energy_mj(&mut self) -> Result<f64, String> {
        Ok((self.clock.now().as_secs_f64() * 1e3).floor() * self.watts)
    }

    fn conditions(&mut self) -> Conditions {
        Conditions { clock_mhz: None, power_w: Some(self.watts), throttled: Some(false) }
    }
}
