//! Wisdom in Kernel Launcher's format 1.0; see the import of the same name.

use crate::WisdomError;
use crate::import::kernel_launcher::AXES;
use crate::line::value_json;
use serde_json::{Value as Json, json};
use tunesmith_core::wisdom::{Config, Entry, Input, Wisdom};

/// Returns the entries of `wisdom`, which are of one kernel; the sizes named make the problem size,
/// all sizes where none is named.
pub(crate) fn text(wisdom: &Wisdom, sizes: &[String]) -> Result<String, WisdomError> {
    let refuse = |reason: String| WisdomError::Launcher { reason };
    let first = wisdom.entries.first().ok_or_else(|| refuse("there are no entries".to_string()))?;
    if let Some(other) = wisdom.entries.iter().find(|entry| entry.kernel != first.kernel) {
        let reason = format!("entries of `{}` and of `{}`; a file is of one kernel", first.kernel, other.kernel);
        return Err(refuse(reason));
    }
    let names: Vec<&String> = first.config.iter().map(|(name, _)| name).collect();
    let all: Vec<String> = first.input.keys().cloned().collect();
    let sizes = if sizes.is_empty() { &all } else { sizes };
    if sizes.len() > AXES.len() {
        let reason = format!("{} sizes ({}); name at most three of them", sizes.len(), sizes.join(", "));
        return Err(refuse(reason));
    }
    let header = json!({ "version": "1.0", "objective": "time", "tunable_parameters": names, "key": first.kernel });
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
    let value = config.iter().find(|(own, _)| own == name).map(|(_, value)| value_json(value));
    value.ok_or_else(|| format!("an entry has no parameter `{name}`"))
}

/// Returns a size as the unsigned integer that the format wants.
fn size(input: &Input, name: &str) -> Result<Json, String> {
    let value = *input.get(name).ok_or_else(|| format!("an entry has no size `{name}`"))?;
    let whole = value as u64;
    if whole as f64 == value {
        Ok(Json::from(whole))
    } else {
        Err(format!("size `{name}` is {value}, no integer from 0 on"))
    }
}
