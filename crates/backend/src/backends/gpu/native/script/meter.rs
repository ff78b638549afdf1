//! The energy meters of a scripted device.

use crate::energy::{Conditions, Meter, OtherProcess, Slowdown};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;
use tunesmith_core::{Clock, SystemClock};
use tunesmith_power::PowerScript;

/// The health of a scripted device, which launches change.
#[derive(Debug, Default)]
pub(super) struct Health {
    pub(super) slowdown: Option<Slowdown>,
    pub(super) memory_errors: u64,
    pub(super) is_lost: bool,
}

/// A device with constant power. Its energy counter moves a thousand times a second.
pub(super) struct ScriptedMeter {
    pub(super) watts: f64,
    pub(super) clock: SystemClock,
    pub(super) others: Vec<OtherProcess>,
    pub(super) health: Rc<RefCell<Health>>,
}

impl Meter for ScriptedMeter {
    fn energy_mj(&mut self) -> Result<f64, String> {
        Ok((self.clock.now().as_secs_f64() * 1e3).floor() * self.watts)
    }

    fn conditions(&mut self) -> Conditions {
        let slowdown = self.health.borrow().slowdown;
        let throttled = Some(slowdown.is_some_and(Slowdown::disturbs));
        Conditions { clock_mhz: None, power_w: Some(self.watts), throttled, slowdown }
    }

    fn others(&mut self) -> Vec<OtherProcess> {
        self.others.clone()
    }

    fn memory_errors(&mut self) -> Option<u64> {
        Some(self.health.borrow().memory_errors)
    }

    fn is_lost(&mut self) -> bool {
        self.health.borrow().is_lost
    }
}

/// A device whose power depends on its clock, which a script holds. It counts the energy of its
/// kernels' own time.
pub(super) struct SteeredMeter {
    pub(super) script: PowerScript,
    /// The current time on the device.
    pub(super) time: Rc<Cell<Duration>>,
}

impl Meter for SteeredMeter {
    fn energy_mj(&mut self) -> Result<f64, String> {
        let watts = self.script.watts().ok_or("the script has no law of power; write `power`")?;
        Ok(self.time.get().as_secs_f64() * 1e3 * watts)
    }

    fn conditions(&mut self) -> Conditions {
        let clock_mhz = Some(self.script.running_mhz());
        Conditions { clock_mhz, power_w: self.script.watts(), throttled: Some(false), slowdown: None }
    }
}
