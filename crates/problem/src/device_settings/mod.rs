//! `[device_settings]`: clocks and power limits of the device as tuning parameters.
//!
//! They are parameters of the space, and no macros of the kernel. Their values stand in the file, or
//! come from the device: all of its clocks, or those that a model of its power finds worth trying.

mod settle;

pub use settle::{Settled, settle};

use crate::{Diagnostic, Level, Problem, ProblemError};
use serde_json::{Map, Value as Json};
use tunesmith_backend::Target;
use tunesmith_backend::command::CommandOptions;
use tunesmith_device::{LiveOptions, Machine};
use tunesmith_kernel::measure::ENERGY_MJ;
use tunesmith_power::{Abilities, Knob};
use tunesmith_space::{Constraint, Parameter, Value};
use tunesmith_spec::{DeviceSetting, SettingValues};

impl Problem {
    /// Returns the settings of the device among the tuning parameters.
    pub fn knobs(&self) -> Vec<Knob> {
        self.spec.settings().iter().map(|setting| setting.knob).collect()
    }

    /// Returns the setting whose values only the device knows, if there is one.
    pub(crate) fn awaited(&self) -> Option<&DeviceSetting> {
        self.spec.settings().iter().find(|setting| setting.values != SettingValues::Known)
    }

    /// Returns true if the values of a setting come from the device, and are not known yet.
    pub fn awaits_device(&self) -> bool {
        self.awaited().is_some()
    }

    /// Returns the problem with values for the setting that awaits the device, at all its sizes.
    #[must_use]
    pub fn with_values(&self, values: &[u32]) -> Self {
        Self { spec: self.spec.with_setting_values(values), ..self.clone() }
    }

    /// Returns the problem with the values that a recorded run had for the setting that awaits the
    /// device. `recorded` are the parameters of that run with their values.
    #[must_use]
    pub fn as_recorded(self, recorded: &Map<String, Json>) -> Self {
        let whole = |value: &Json| value.as_u64().and_then(|value| u32::try_from(value).ok());
        let values = self.awaited().and_then(|setting| recorded.get(setting.knob.name())?.as_array());
        let values: Vec<u32> = values.into_iter().flatten().filter_map(whole).collect();
        if values.is_empty() { self } else { self.with_values(&values) }
    }

    /// Checks that the device takes the values that the file has.
    ///
    /// # Errors
    /// It does not take one of them.
    pub(crate) fn check_settings(&self, abilities: &Abilities) -> Result<(), ProblemError> {
        for setting in self.spec.settings() {
            let parameter = self.spec.parameters().iter().find(|parameter| parameter.name() == setting.knob.name());
            let values = parameter.into_iter().flat_map(Parameter::values).filter_map(Value::as_int);
            let refused = values
                .filter_map(|value| u32::try_from(value).ok())
                .find_map(|value| abilities.refuses(setting.knob, value));
            if let Some(reason) = refused {
                let remedy = "`clock_mhz = \"all\"` takes the clocks that the device has".to_string();
                let remedy = (setting.knob == Knob::Clock).then_some(remedy);
                return Err(self.error(&setting.key(), reason, remedy));
            }
        }
        Ok(())
    }

    /// Returns a warning if the space is built without the setting that awaits the device.
    pub(crate) fn warn_of_awaited(&self) -> Option<Diagnostic> {
        let setting = self.awaited()?;
        let text = format!("the values of `{}` come from the device: the space is built without them", setting.knob);
        Some(self.message(Level::Warning, &setting.key(), text, None))
    }

    /// Returns true if a constraint needs the setting that awaits the device.
    pub(crate) fn is_awaited_by(&self, constraint: &Constraint) -> bool {
        let uses =
            |setting: &DeviceSetting| constraint.expr().names().iter().any(|name| name.text == setting.knob.name());
        self.awaited().is_some_and(uses)
    }

    /// Returns the options of the evaluator of the problem's command. With `energy`, the energy of every
    /// run is measured, unless the command prints it. `None` if the problem has no command.
    pub fn command_options(&self, machine: &Machine, energy: bool) -> Option<CommandOptions> {
        let spec = self.spec.command()?.clone();
        let is_metered = energy && !self.prints_energy();
        Some(CommandOptions {
            sizes: self.spec.sizes().to_vec(),
            policy: self.spec.policy(),
            jobs: machine.jobs(),
            worker: machine.worker.clone(),
            sandbox: machine.sandbox.clone(),
            energy: is_metered.then(|| machine.power.counters.clone()),
            ..CommandOptions::new(spec)
        })
    }

    /// Returns true if the problem's command prints its energy.
    pub fn prints_energy(&self) -> bool {
        self.spec.command().into_iter().flat_map(|command| &command.values).any(|(name, _)| name == ENERGY_MJ)
    }

    /// Returns the options of a device that runs the problem's kernels.
    ///
    /// # Errors
    /// The problem has no kernels for the device.
    pub fn live_options(&self, target: &Target, machine: &Machine) -> Result<LiveOptions, crate::Error> {
        Ok(LiveOptions {
            target: target.clone(),
            compilers: machine.compilers.clone(),
            policy: self.spec.policy(),
            jobs: machine.jobs(),
            knobs: self.knobs(),
            power: machine.power.clone(),
            worker: machine.worker.clone(),
            sandbox: machine.sandbox.clone(),
            parcels: machine.parcels.clone(),
            ..LiveOptions::new(self.kernel_spec(target.language())?)
        })
    }
}
