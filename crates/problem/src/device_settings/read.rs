//! Reads `[device_settings]`.

use crate::diagnostic::Messages;
use crate::parameters::{ReadParameter, read_values};
use crate::setting::{DeviceSetting, SettingValues};
use crate::tree::{Node, Section};
use tunesmith_device::Knob;
use tunesmith_space::{Parameter, Value};

/// Returns the settings, and the tuning parameters of those whose values stand in the file.
pub(crate) fn read(
    root: &Section<'_>,
    sizes: &[(String, Value)],
    others: &[ReadParameter],
    messages: &Messages,
) -> (Vec<DeviceSetting>, Vec<ReadParameter>) {
    let Some(section) = root.get("device_settings").and_then(|node| node.section()) else { return Default::default() };
    section.allow(&Knob::ALL.map(Knob::name));
    if root.get("kernel").is_some_and(|node| crate::command::is_command(&node)) {
        let remedy = "the command can set them, with a parameter in its words".to_string();
        let text = "a command runs on no device whose clock Tunesmith sets".to_string();
        messages.error(section.span.clone(), text, Some(remedy));
    }
    let (mut settings, mut parameters) = (Vec::new(), Vec::new());
    for (name, node) in section.entries() {
        let Some(knob) = Knob::named(name.value) else { continue };
        if others.iter().any(|(parameter, _)| parameter.name() == name.value) {
            let remedy = "a setting of the device stands in [device_settings] alone".to_string();
            messages.error(name.span.clone(), format!("`{knob}` stands in `[parameters]`, too"), Some(remedy));
            continue;
        }
        let Some(values) = origin(knob, &node) else { continue };
        if values == SettingValues::Known {
            let Some(parameter) = stated(knob, &node, sizes, messages) else { continue };
            parameters.push((parameter, name.span.clone()));
        }
        settings.push(DeviceSetting { knob, values, place: name.span });
    }
    (settings, parameters)
}

/// Maximum number of values of a setting.
const MOST_VALUES: usize = 1 << 16;

/// Returns the origin of a setting's values.
fn origin(knob: Knob, node: &Node<'_>) -> Option<SettingValues> {
    let from_device = |values| {
        if knob == Knob::Clock {
            return Some(values);
        }
        node.error(format!("`{}` must be stated", node.name), Some("write watts, as in [200, 250, 300]".to_string()));
        None
    };
    if let Some(all) = node.is_table().then(|| node.section()).flatten().and_then(|section| section.get("all")) {
        let count = all.whole(1..=MOST_VALUES);
        return from_device(SettingValues::All(Some(count?)));
    }
    match node.text() {
        None => Some(SettingValues::Known),
        Some("all" | "auto") => from_device(SettingValues::All(None)),
        Some("model") => from_device(SettingValues::Model),
        Some(other) => {
            let remedy = "write \"all\", \"model\", { all = 12 }, or numbers, as in [1005, 1410]".to_string();
            node.error(format!("`{}` is no choice of clocks: `{other}`", node.name), Some(remedy));
            None
        }
    }
}

/// Returns the tuning parameter of a setting whose values stand in the file.
fn stated(knob: Knob, node: &Node<'_>, sizes: &[(String, Value)], messages: &Messages) -> Option<Parameter> {
    let values = read_values(node, sizes, messages)?;
    let is_right =
        |value: &Value| matches!(value, Value::Int(value) if u32::try_from(*value).is_ok_and(|value| value > 0));
    if !values.iter().all(is_right) {
        let unit = if knob == Knob::Clock { "MHz" } else { "watts" };
        node.error(format!("the values of `{}` must be whole numbers of {unit} above 0", node.name), None);
        return None;
    }
    Parameter::new(knob.name(), values).map_err(|error| node.error(error.to_string(), None)).ok()
}
