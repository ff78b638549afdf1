//! Reads `[device_settings]`.

use super::parameters::read_values;
use super::tree::{Node, Section};
use tunesmith_power::Knob;
use tunesmith_spec::{Located, Messages, SettingDraft, SettingValues};

/// Returns the settings.
pub(super) fn read(root: &Section<'_>, messages: &Messages) -> Vec<SettingDraft> {
    let Some(section) = root.get("device_settings").and_then(|node| node.section()) else { return Vec::new() };
    section.allow(&Knob::ALL.map(Knob::name));
    let setting = |(name, node): (Located<&str>, Node<'_>)| {
        let knob = Knob::named(name.value)?;
        let origin = origin(knob, &node)?;
        let values = match origin {
            SettingValues::Known => Some(read_values(&node, messages)?),
            _ => None,
        };
        Some(SettingDraft { knob, origin, values })
    };
    section.entries().filter_map(setting).collect()
}

/// Maximum number of values of a setting.
const MOST_VALUES: usize = 1 << 16;

/// Returns the origin of a setting's values.
fn origin(knob: Knob, node: &Node<'_>) -> Option<SettingValues> {
    let from_device = |values| {
        if knob == Knob::Clock {
            return Some(values);
        }
        node.error(format!("`{}` must be stated", node.name()), Some("write watts, as in [200, 250, 300]".to_string()));
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
            node.error(format!("`{}` is no choice of clocks: `{other}`", node.name()), Some(remedy));
            None
        }
    }
}
