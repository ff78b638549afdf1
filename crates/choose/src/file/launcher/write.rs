//! Writes Kernel Launcher's format.

use super::super::WisdomError;
use super::{AXES, VERSION};
use crate::wisdom::{Config, Entry, Input, Wisdom};
use serde_json::{Value as Json, json};

/// Returns the text of the entries of `wisdom`, all of one kernel. The problem size holds the named
/// `sizes`, or all sizes if none is named.
pub(in crate::file) fn text(wisdom: &Wisdom, sizes: &[String]) -> Result<String, WisdomError> {
    let refuse = |reason: String| WisdomError::Launcher { reason };
    let first = wisdom.entries.first().ok_or_else(|| refuse("there are no entries".to_string()))?;
    if let Some(other) = wisdom.entries.iter().find(|entry| entry.kernel != first.kernel) {
        let reason =
            format!("it has entries of `{}` and of `{}`, but a file holds one kernel", first.kernel, other.kernel);
        return Err(refuse(reason));
    }
    let names: Vec<&String> = first.config.iter().map(|(name, _)| name).collect();
    let all: Vec<String> = first.input.keys().cloned().collect();
    let sizes = if sizes.is_empty() { &all } else { sizes };
    if sizes.len() > AXES.len() {
        let reason = format!("{} sizes ({}); name at most three of them", sizes.len(), sizes.join(", "));
        return Err(refuse(reason));
    }
    let header = json!({ "version": VERSION, "objective": "time", "tunable_parameters": names, "key": first.kernel });
    let mut text = format!("{header}\n");
    for entry in &wisdom.entries {
        text += &format!("{}\n", record(entry, &names, sizes).map_err(refuse)?);
    }
    Ok(text)
}

fn record(entry: &Entry, names: &[&String], sizes: &[String]) -> Result<Json, String> {
    let Entry { config, input, time_ms, device, .. } = entry;
    let values: Vec<Json> = names.iter().map(|name| of(config, name)).collect::<Result<_, _>>()?;
    let problem_size: Vec<Json> = sizes.iter().map(|name| size(input, name)).collect::<Result<_, _>>()?;
    Ok(json!({
        "config": values, "problem_size": problem_size, "time": time_ms, "environment": { "device_name": device },
    }))
}

fn of(config: &Config, name: &str) -> Result<Json, String> {
    let value = config.iter().find(|(own, _)| own == name).map(|(_, value)| json!(value));
    value.ok_or_else(|| format!("an entry has no parameter `{name}`"))
}

/// Returns a size as an unsigned integer, the only kind that this format has.
fn size(input: &Input, name: &str) -> Result<Json, String> {
    let value = *input.get(name).ok_or_else(|| format!("an entry has no size `{name}`"))?;
    let whole = value as u64;
    if whole as f64 == value {
        Ok(Json::from(whole))
    } else {
        Err(format!("size `{name}` is {value}, not an integer of at least 0"))
    }
}
