//! Finds the configurations of a model, which are known by their values, in a space.

use tunesmith_choose::timing::{KnownDevice, TimingModel};
use tunesmith_space::{ConfigId, Configuration, Space, Value};

/// Returns the reference configuration in `space`. Parameters that the model does not know take
/// their first value.
pub(crate) fn reference(model: &TimingModel, space: &Space) -> Option<Configuration> {
    configuration(model, space, &model.parts().reference)
}

/// Returns the configuration of `values` in `space`, completed as by [`reference`]. `values` has
/// one for each parameter of the model.
fn configuration(model: &TimingModel, space: &Space, values: &[Value]) -> Option<Configuration> {
    let pairs = model.parts().frame.parameters.iter().zip(values);
    let pairs = pairs.filter(|(parameter, _)| space.parameter_index(parameter.name()).is_some());
    let pairs: Vec<(&str, Value)> = pairs.map(|(parameter, value)| (parameter.name(), value.clone())).collect();
    space.configuration(&pairs, None).ok()
}

/// Returns the configurations to try where nothing was measured, as far as they are in `space`.
pub(crate) fn robust(model: &TimingModel, space: &Space) -> Vec<ConfigId> {
    let parts = model.parts();
    // Files of earlier versions have at most one.
    let values = if parts.robust.is_empty() { parts.best_single.as_slice() } else { &parts.robust };
    let found = values.iter().filter_map(|values| space.rank(&configuration(model, space, values)?));
    found.collect()
}

/// Returns true if the robust configurations precede the model's own choice on an unknown device:
/// they did better for devices or inputs left out of training, or nothing could be left out.
pub(crate) fn prefers_robust(model: &TimingModel) -> bool {
    model.parts().best_single.is_some()
}

/// Returns true if the model was not trained on `device`, or if none is known.
pub(crate) fn is_unknown(model: &TimingModel, device: Option<&KnownDevice>) -> bool {
    !device.is_some_and(|device| model.devices().iter().any(|known| known.name == device.name))
}
