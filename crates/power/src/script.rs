//! A device without hardware: a script says which clocks it has, who may set them, and what they
//! cost. Its state is a file, so that a guard in another process finds what an earlier one left.

use crate::manager::{Abilities, Clocks, Fault, Knob, Manager, PowerRange};
use crate::model::PowerLaw;
use serde::{Deserialize, Serialize};
use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tunesmith_files::TEXT;

/// The properties and the behaviour of a scripted device, a JSON file.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PowerScript {
    /// The supported clocks in MHz.
    clocks_mhz: Vec<u32>,
    /// The limits of power, if they can be set.
    #[serde(default)]
    power_w: Option<ScriptedRange>,
    /// The file of the device's state.
    state: PathBuf,
    /// A file to which every call that changes the device is appended.
    #[serde(default)]
    log: Option<PathBuf>,
    /// True if the user may not set anything.
    #[serde(default)]
    forbidden: bool,
    /// The duration of a call that sets something, in milliseconds.
    #[serde(default)]
    latency_ms: u64,
    /// The highest clock in MHz that the device reaches, whatever is set.
    #[serde(default)]
    reaches_mhz: Option<u32>,
    /// Calls that fail.
    #[serde(default)]
    faults: Vec<ScriptedFault>,
    /// The power over the clock.
    #[serde(default)]
    power: Option<PowerLaw>,
    /// The share of the time at the highest clock that does not depend on the clock.
    #[serde(default)]
    memory_bound: f64,
}

/// The power limits of a script, in watts.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct ScriptedRange {
    lowest: f64,
    highest: f64,
    default: f64,
}

/// A call that fails.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct ScriptedFault {
    /// The call: `lock_clock`, `reset_clock` or `limit_power`.
    call: String,
    /// The value with which it is called. Without it, any.
    #[serde(default)]
    with: Option<f64>,
    /// The text of the failure.
    error: String,
}

/// The state of a scripted device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ScriptedState {
    /// The clock that is locked.
    pub clock_mhz: Option<u32>,
    /// The limit of power, if it is not the default.
    pub power_limit_w: Option<f64>,
}

impl PowerScript {
    /// Reads a script.
    ///
    /// # Errors
    /// The file cannot be read, or is no script.
    pub fn read(path: &Path) -> Result<Self, String> {
        let cannot = |error: String| format!("the script `{}` of a device's power: {error}", path.display());
        let text = tunesmith_files::read_text(path, TEXT).map_err(|error| cannot(error.to_string()))?;
        serde_json::from_str(&text).map_err(|error| cannot(error.to_string()))
    }

    /// Returns the present state. A device without a file is as it was delivered.
    pub fn state(&self) -> ScriptedState {
        let text = tunesmith_files::read_text(&self.state, TEXT).unwrap_or_default();
        serde_json::from_str(&text).unwrap_or_default()
    }

    /// Returns the clock in MHz at which kernels run at present.
    pub fn running_mhz(&self) -> f64 {
        let highest = self.clocks_mhz.iter().copied().max().unwrap_or(1000);
        let wanted = self.state().clock_mhz.unwrap_or(highest);
        f64::from(self.reaches_mhz.map_or(wanted, |most| most.min(wanted)))
    }

    /// Returns the time of a kernel at present, divided by its time at the highest clock.
    pub fn slowdown(&self) -> f64 {
        let highest = self.clocks_mhz.iter().copied().max().unwrap_or(1000);
        self.memory_bound + (1.0 - self.memory_bound) * f64::from(highest) / self.running_mhz()
    }

    /// Returns the power in watts of a kernel at present, if the script says it.
    pub fn watts(&self) -> Option<f64> {
        self.power.as_ref().map(|power| power.watts(self.running_mhz()))
    }

    /// Replaces the state. Readers see the old state or the new one.
    fn write(&self, state: ScriptedState) -> Result<(), Fault> {
        let failed = |error: std::io::Error| Fault::Failed(error.to_string());
        tunesmith_files::replace(&self.state, serde_json::to_vec(&state).unwrap_or_default()).map_err(failed)
    }

    fn log(&self, line: &str) {
        let Some(path) = &self.log else { return };
        // An error is ignored: a reader of the log will notice that a line is missing.
        if let Ok(mut file) = tunesmith_files::open_with(OpenOptions::new().create(true).append(true), path) {
            let _ = writeln!(file, "{line}");
        }
    }
}

/// A device that follows its script.
pub(crate) struct ScriptedManager(PowerScript);

impl ScriptedManager {
    pub(crate) fn open(path: &Path) -> Result<Self, Fault> {
        PowerScript::read(path).map(Self).map_err(Fault::Failed)
    }

    /// Makes a call that sets something.
    fn set(&self, call: &str, value: f64, state: ScriptedState) -> Result<(), Fault> {
        let Self(script) = self;
        std::thread::sleep(Duration::from_millis(script.latency_ms));
        if script.forbidden {
            return Err(Fault::NotPermitted);
        }
        let fails = |fault: &&ScriptedFault| fault.call == call && fault.with.is_none_or(|with| with == value);
        if let Some(fault) = script.faults.iter().find(fails) {
            return Err(Fault::Failed(fault.error.clone()));
        }
        script.log(&format!("{call} {value}"));
        script.write(state)
    }
}

impl Manager for ScriptedManager {
    fn abilities(&mut self) -> Result<Abilities, Fault> {
        let Self(script) = self;
        let mut mhz = script.clocks_mhz.clone();
        mhz.sort_unstable();
        let limit = script.state().power_limit_w;
        Ok(Abilities {
            clocks: (!mhz.is_empty()).then_some(Clocks { mhz, is_continuous: false }),
            power_limit: script.power_w.map(|range| PowerRange {
                lowest_w: range.lowest,
                highest_w: range.highest,
                present_w: limit.unwrap_or(range.default),
            }),
        })
    }

    fn lock_clock(&mut self, mhz: u32) -> Result<(), Fault> {
        let state = ScriptedState { clock_mhz: Some(mhz), ..self.0.state() };
        self.set("lock_clock", f64::from(mhz), state)
    }

    fn reset_clock(&mut self) -> Result<(), Fault> {
        let state = ScriptedState { clock_mhz: None, ..self.0.state() };
        self.set("reset_clock", 0.0, state)
    }

    fn limit_power(&mut self, watts: f64) -> Result<(), Fault> {
        let is_default = self.0.power_w.is_some_and(|range| range.default == watts);
        let state = ScriptedState { power_limit_w: (!is_default).then_some(watts), ..self.0.state() };
        self.set("limit_power", watts, state)
    }

    fn clock_mhz(&mut self) -> Result<f64, Fault> {
        Ok(self.0.running_mhz())
    }

    fn permission(&self, _: Knob) -> String {
        "write `\"forbidden\": false` in the script".to_owned()
    }
}
