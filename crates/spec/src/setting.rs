//! A tuning parameter that sets the device in place of becoming a macro.

use crate::fault::Key;
use tunesmith_power::Knob;

/// A tuning parameter that sets the device.
#[derive(Clone, Debug)]
pub struct DeviceSetting {
    /// The clock or limit of the device that it sets.
    pub knob: Knob,
    /// The origin of its values.
    pub values: SettingValues,
}

impl DeviceSetting {
    /// Returns the part of the problem that states the setting.
    pub fn key(&self) -> Key {
        Key::of("device_settings").field(self.knob.name()).label()
    }
}

/// The origin of the values of a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingValues {
    /// The file, or the device after it was asked.
    Known,
    /// All of the device's clocks, or this many of them.
    All(Option<usize>),
    /// The clocks that a model finds worth trying.
    Model,
}
