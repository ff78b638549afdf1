//! The interface to the libraries that manage the power of devices.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A property of a device that a run sets before a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Knob {
    /// The clock of the multiprocessors.
    Clock,
    /// The limit of power.
    PowerLimit,
}

impl Knob {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Clock, Self::PowerLimit];

    /// Returns the name of the tuning parameter, which contains the unit.
    pub fn name(self) -> &'static str {
        match self {
            Self::Clock => "clock_mhz",
            Self::PowerLimit => "power_limit_w",
        }
    }

    /// Returns the knob with a name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|knob| knob.name() == name)
    }
}

impl fmt::Display for Knob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Values of the knobs. A knob without a value is as the device has it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Setting {
    /// The clock of the multiprocessors in MHz.
    pub clock_mhz: Option<u32>,
    /// The limit of power in watts.
    pub power_limit_w: Option<u32>,
}

impl Setting {
    /// Returns the setting with another value of a knob.
    #[must_use]
    pub fn with(self, knob: Knob, value: u32) -> Self {
        match knob {
            Knob::Clock => Self { clock_mhz: Some(value), ..self },
            Knob::PowerLimit => Self { power_limit_w: Some(value), ..self },
        }
    }
}

/// The values that a device's knobs take. A missing knob cannot be set on this device.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Abilities {
    /// The clocks of the multiprocessors.
    pub clocks: Option<Clocks>,
    /// The limits of power.
    pub power_limit: Option<PowerRange>,
}

/// The clocks that a device supports.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Clocks {
    /// The clocks in MHz, ascending. The first and the last are the bounds.
    pub mhz: Vec<u32>,
    /// True if the device takes every clock between the bounds.
    pub is_continuous: bool,
}

/// The power limits that a device takes, in watts.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PowerRange {
    /// The lowest limit.
    pub lowest_w: f64,
    /// The highest limit.
    pub highest_w: f64,
    /// The limit at present.
    pub present_w: f64,
}

impl Clocks {
    /// Returns true if the device takes this clock.
    pub fn has(&self, mhz: u32) -> bool {
        let (Some(first), Some(last)) = (self.mhz.first(), self.mhz.last()) else { return false };
        if self.is_continuous { (*first..=*last).contains(&mhz) } else { self.mhz.contains(&mhz) }
    }

    /// Returns up to `most` clocks, spread evenly over all of them, ascending and with both bounds.
    pub fn spread(&self, most: usize) -> Vec<u32> {
        let last = self.mhz.len().saturating_sub(1);
        if most > last || most < 2 {
            return if most == 1 { self.mhz.last().copied().into_iter().collect() } else { self.mhz.clone() };
        }
        let at = |number: usize| self.mhz[(number * last + (most - 1) / 2) / (most - 1)];
        (0..most).map(at).collect()
    }

    /// Returns the supported clock nearest to `mhz`.
    pub fn nearest(&self, mhz: f64) -> Option<u32> {
        self.mhz.iter().copied().min_by(|a, b| (f64::from(*a) - mhz).abs().total_cmp(&(f64::from(*b) - mhz).abs()))
    }
}

impl Abilities {
    /// Returns the reason with a remedy if the device does not take `value` for `knob`.
    pub fn refuses(&self, knob: Knob, value: u32) -> Option<String> {
        match knob {
            Knob::Clock => {
                let Some(clocks) = &self.clocks else { return Some("this device's clock cannot be set".to_owned()) };
                let (first, last) = (clocks.mhz.first()?, clocks.mhz.last()?);
                let near = clocks.nearest(f64::from(value)).unwrap_or(*last);
                let supported = if clocks.is_continuous { "any" } else { "certain" };
                (!clocks.has(value)).then(|| {
                    format!(
                        "this device has no clock of {value} MHz; it takes {supported} clocks from {first} to {last} \
                         MHz, and {near} MHz is the nearest"
                    )
                })
            }
            Knob::PowerLimit => {
                let Some(range) = &self.power_limit else {
                    return Some("this device's power limit cannot be set".to_owned());
                };
                let PowerRange { lowest_w, highest_w, .. } = range;
                (!(*lowest_w..=*highest_w).contains(&f64::from(value))).then(|| {
                    format!("this device takes no power limit of {value} W; it takes {lowest_w} to {highest_w} W")
                })
            }
        }
    }
}

/// The failure of a call of a library.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The user may not do this.
    NotPermitted,
    /// The device lacks this.
    NotSupported,
    /// The device does not answer any more.
    Lost,
    /// Any other failure. The text gives the reason.
    Failed(String),
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotPermitted => f.write_str("not permitted"),
            Self::NotSupported => f.write_str("not supported"),
            Self::Lost => f.write_str("GPU is lost"),
            Self::Failed(reason) => f.write_str(reason),
        }
    }
}

/// Manages one device.
pub trait Manager {
    /// Returns the values that the device takes.
    ///
    /// # Errors
    /// The library fails.
    fn abilities(&mut self) -> Result<Abilities, Fault>;

    /// Locks the clock of the multiprocessors.
    ///
    /// # Errors
    /// The user may not, the device cannot, or the library fails.
    fn lock_clock(&mut self, mhz: u32) -> Result<(), Fault>;

    /// Undoes [`lock_clock`](Self::lock_clock). Does no harm to a device whose clock is not locked.
    ///
    /// # Errors
    /// See [`lock_clock`](Self::lock_clock).
    fn reset_clock(&mut self) -> Result<(), Fault>;

    /// Sets the limit of power.
    ///
    /// # Errors
    /// See [`lock_clock`](Self::lock_clock).
    fn limit_power(&mut self, watts: f64) -> Result<(), Fault>;

    /// Returns the clock of the multiprocessors at present, in MHz.
    ///
    /// # Errors
    /// The device does not report it, or the library fails.
    fn clock_mhz(&mut self) -> Result<f64, Fault>;

    /// Returns the command that permits a user to turn a knob.
    fn permission(&self, knob: Knob) -> String;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps() -> Clocks {
        Clocks { mhz: (0..=120).map(|step| 210 + 15 * step).collect(), is_continuous: false }
    }

    #[test]
    fn spread_clocks_have_both_bounds_and_the_number_asked_for() {
        for most in [2, 5, 7, 12, 121] {
            let spread = steps().spread(most);
            assert_eq!((spread.len(), spread.first(), spread.last()), (most, Some(&210), Some(&2010)));
            assert!(spread.is_sorted() && spread.iter().all(|mhz| steps().has(*mhz)));
        }
        assert_eq!(steps().spread(500).len(), 121);
        assert_eq!(steps().spread(1), [2010]);
    }

    #[test]
    fn a_value_that_the_device_lacks_is_refused_with_the_nearest() {
        let power_limit = Some(PowerRange { lowest_w: 100.0, highest_w: 300.0, present_w: 250.0 });
        let abilities = Abilities { clocks: Some(steps()), power_limit };
        assert!(abilities.refuses(Knob::Clock, 1000).unwrap().contains("1005 MHz is the nearest"));
        assert_eq!(abilities.refuses(Knob::Clock, 1005), None);
        assert!(abilities.refuses(Knob::PowerLimit, 400).unwrap().contains("it takes 100 to 300 W"));
        assert!(Abilities::default().refuses(Knob::Clock, 1000).is_some());
        let between = Abilities { clocks: Some(Clocks { is_continuous: true, ..steps() }), power_limit };
        assert_eq!(between.refuses(Knob::Clock, 1000), None);
        assert!(between.refuses(Knob::Clock, 200).is_some());
    }
}
