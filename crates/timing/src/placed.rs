//! Finds the configurations of a model, which are known by their values, in a space.

use tunesmith_choose::timing::{KnownDevice, TimingModel, Unseen};
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

/// Returns the single configuration that precedes the model's own choice for `device`: the model
/// does not know the device, and the single configuration did better for devices left out. Returns
/// `None` if it is not in `space`.
pub(crate) fn fallback<'a>(
    model: &'a TimingModel,
    space: &Space,
    device: Option<&KnownDevice>,
) -> Option<(ConfigId, &'a Unseen)> {
    let (single, unseen) = (model.parts().best_single.as_deref()?, model.unseen_device()?);
    let is_known = device.is_some_and(|device| model.devices().iter().any(|known| known.name == device.name));
    let config = (!is_known).then(|| configuration(model, space, single))??;
    Some((space.rank(&config)?, unseen))
}
