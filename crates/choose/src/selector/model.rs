//! A timing model of one kernel, ready to be asked.

use super::choice::{Choice, Source};
use crate::Judgement;
use crate::timing::{Chosen, KnownDevice, ModelChooser, TimingModel};
use crate::wisdom::Config;
use std::collections::HashMap;

/// A timing model with the configurations that it chooses among.
#[derive(Debug, Default)]
pub(super) struct Model {
    devices: HashMap<String, ModelChooser>,
    /// The chooser for devices that the model does not know.
    others: Option<ModelChooser>,
    /// The names of the devices that it knows.
    names: String,
    /// The configuration that speeds are relative to.
    reference: Config,
    /// The judgement of its choices, if they were judged on a device.
    judgement: Option<Judgement>,
}

impl Model {
    /// Prepares `model` to choose among the configurations that `configs` names for a device, or
    /// for `None`: one that the model does not know. Adds a warning if the model cannot choose
    /// among them.
    pub(super) fn new<'a>(
        model: &TimingModel,
        configs: impl Fn(Option<&str>) -> Option<&'a [Config]>,
        warnings: &mut Vec<String>,
    ) -> Self {
        let mut of = |device: Option<&KnownDevice>| {
            let name = device.map(|device| device.name.as_str());
            let unnamed =
                "it has no configurations to choose among; train it again, or open wisdom with a portfolio as well";
            // The configuration that does best on devices left out in training serves unknown
            // devices too.
            let single = if device.is_none() { model.best_single() } else { None };
            let made = match single.as_ref().map(std::slice::from_ref).or_else(|| configs(name)) {
                Some(configs) => ModelChooser::new(model, configs, device),
                None => Err(unnamed.to_string()),
            };
            let on = name.map_or_else(|| "devices it does not know".to_string(), |name| format!("`{name}`"));
            let warning =
                |reason| format!("the timing model of `{}` does not choose for {on}: {reason}", model.problem());
            made.map_err(|reason| warnings.push(warning(reason))).ok()
        };
        let names: Vec<&str> = model.devices().iter().map(|device| device.name.as_str()).collect();
        Self {
            devices: model
                .devices()
                .iter()
                .filter_map(|device| Some((device.name.clone(), of(Some(device))?)))
                .collect(),
            others: of(None),
            names: names.join(", "),
            reference: model.reference(),
            judgement: model.judgement().cloned(),
        }
    }

    /// Returns true if it was trained on the device of this name.
    pub(super) fn knows(&self, device: &str) -> bool {
        self.devices.contains_key(device)
    }

    /// Returns the judgement of its choices, if they were judged on this device.
    pub(super) fn judgement(&self, device: &str) -> Option<&Judgement> {
        self.judgement.as_ref().filter(|judged| judged.device == device)
    }

    /// Returns the reference for a device on which the choices are no faster than it.
    pub(super) fn refused(&self, device: &str, acceptable: &dyn Fn(&Config) -> bool) -> Option<Choice<'_>> {
        let judgement = Some(self.judgement(device).filter(|judged| !judged.is_faster())?);
        let source = Source::Predicted { outside: 0.0 };
        let config = Some(&self.reference).filter(|config| acceptable(config))?;
        Some(Choice { config, source, time_ms: None, judgement })
    }

    /// Returns the choice for a device of the training set, unless the choices are no faster there than the
    /// reference.
    pub(super) fn known(
        &self,
        device: &str,
        input: &[(&str, f64)],
        acceptable: &dyn Fn(&Config) -> bool,
    ) -> Option<Choice<'_>> {
        let judgement = self.judgement(device);
        let chooser = self.devices.get(device).filter(|_| judgement.is_none_or(Judgement::is_faster))?;
        let Chosen { config, outside, is_robust } = chooser.choose(input, acceptable)?;
        let source = if is_robust { Source::Robust { outside } } else { Source::Predicted { outside } };
        Some(Choice { config, source, time_ms: None, judgement })
    }

    /// Returns the choice for a device that the model does not know.
    pub(super) fn unknown(&self, input: &[(&str, f64)], acceptable: &dyn Fn(&Config) -> bool) -> Option<Choice<'_>> {
        let Chosen { config, outside, .. } = self.others.as_ref()?.choose(input, acceptable)?;
        let source = Source::PredictedElsewhere { devices: &self.names, outside };
        Some(Choice { config, source, time_ms: None, judgement: None })
    }
}
