//! The device's clock and power limit, which some tuning parameters set before a measurement.

use crate::live::LiveOptions;
use tunesmith_core::{Measurement, statistics};
use tunesmith_kernel::DeviceError;
use tunesmith_power::{Applied, Knob, ManagedDevice, Setting, Steering, SteeringError};
use tunesmith_space::{ConfigId, Space};

/// The knobs of a device that a run turns, if there are any.
#[derive(Debug)]
pub(super) struct Steered {
    knobs: Vec<Knob>,
    steering: Option<Steering>,
}

impl Steered {
    /// Opens the device if the run turns knobs. They are reset when this value is dropped, and when
    /// this process ends in any other way.
    ///
    /// # Errors
    /// The device has no such knob, or the user may not turn it.
    pub(super) fn open(options: &LiveOptions) -> Result<Self, DeviceError> {
        let knobs = options.knobs.clone();
        if knobs.is_empty() {
            return Ok(Self { knobs, steering: None });
        }
        let device = options.target.managed()?;
        let steering = steer(device, options, knobs.clone())?;
        Ok(Self { knobs, steering: Some(steering) })
    }

    /// Returns the setting of a configuration.
    pub(super) fn setting(&self, space: &Space, config: ConfigId) -> Setting {
        let configuration = space.unrank(config);
        let mut setting = Setting::default();
        for (name, value) in space.values(&configuration) {
            let knob = self.knobs.iter().find(|knob| knob.name() == name);
            let value = value.as_int().and_then(|value| u32::try_from(value).ok());
            if let (Some(knob), Some(value)) = (knob, value) {
                setting = setting.with(*knob, value);
            }
        }
        setting
    }

    /// Sets the device.
    ///
    /// # Errors
    /// The device refuses the setting.
    pub(super) fn apply(&mut self, setting: Setting) -> Result<Applied, DeviceError> {
        match &mut self.steering {
            Some(steering) => Ok(steering.apply(setting)?),
            None => Ok(Applied::default()),
        }
    }
}

/// The relative difference of clocks that are the same. Neighbouring clocks of GPUs are 1 % apart, and
/// a clock that is read at the end of a sample may be the neighbour's.
const SAME: f64 = 0.02;

/// Returns a note on a configuration that did not run at the clock that was set. The clock under load
/// says more than that of an idle device.
pub(super) fn missed(setting: Setting, applied: Applied, measurement: &Measurement) -> Option<String> {
    let wanted = f64::from(setting.clock_mhz?);
    let under_load = measurement.values.get(CLOCK_MHZ).and_then(|clocks| statistics::median(clocks));
    let ran = under_load.or(applied.missed_mhz)?;
    let is_missed = (ran / wanted - 1.0).abs() > SAME;
    is_missed.then(|| format!("{RAN} {ran:.0} MHz, not at the {wanted:.0} MHz that were set"))
}

/// The beginning of the notes on clocks that were not reached.
const RAN: &str = "the device ran at";

/// Returns a sentence about the measurements of a run that have such a note.
pub fn missed_clocks<'a>(measurements: impl Iterator<Item = &'a Measurement>) -> Option<String> {
    let notes = measurements.filter_map(|measurement| measurement.note.as_deref());
    let missed: Vec<&str> = notes.filter(|note| note.starts_with(RAN)).collect();
    let (first, count) = (missed.first()?, missed.len());
    Some(format!(
        "{count} evaluations ran at another clock than `clock_mhz`, which the power limit or heat held down: for one, \
         {first}"
    ))
}

/// The name of the clocks at the ends of samples.
const CLOCK_MHZ: &str = "clock_mhz";

fn steer(device: &ManagedDevice, options: &LiveOptions, knobs: Vec<Knob>) -> Result<Steering, SteeringError> {
    Steering::open(options.worker.guard(), device.clone(), options.power.notes.clone(), knobs)
}
