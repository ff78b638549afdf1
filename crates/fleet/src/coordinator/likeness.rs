//! Compares workers: only those that are alike measure comparable times.

use serde_json::{Map, Value as Json};
use tunesmith_backend::Target;

/// The name of the version among the properties that workers must share.
pub(super) const VERSION: &str = "tunesmith";

/// The name of the highest clocks among the properties that workers must share.
pub(super) const CLOCKS: &str = "clock";

/// Returns the highest clocks of a device among its limits, if it has clocks of its own. They belong to the device,
/// as its name does; its momentary clocks do not. A processor may know no other than those.
pub(super) fn clocks(target: Option<&Target>, limits: &Map<String, Json>) -> Option<String> {
    if target.is_none_or(Target::is_processor) {
        return None;
    }
    let text = |name: &str, of: &str| {
        limits.get(name).and_then(Json::as_f64).filter(|mhz| *mhz > 0.0).map(|mhz| format!("{of}{mhz} MHz"))
    };
    let parts: Vec<String> =
        [text("clock_mhz", ""), text("memory_clock_mhz", "memory ")].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| format!("{} at most", parts.join(", ")))
}

/// Returns the first property in which a worker differs from the others.
pub(super) fn difference(known: &Map<String, Json>, own: &Map<String, Json>) -> Option<String> {
    let text = |value: Option<&Json>| match value {
        None => "nothing".to_string(),
        Some(Json::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    };
    let mut names: Vec<&String> = known.keys().chain(own.keys()).collect();
    // The device says more than the digests that follow from it.
    names.sort_by_key(|name| (*name != "device", ["kernel", "space", "problem"].contains(&name.as_str())));
    let differing = names.into_iter().find(|name| known.get(*name) != own.get(*name))?;
    Some(format!("{differing} is {}, not {}", text(own.get(differing)), text(known.get(differing))))
}

/// Returns the digests that workers must share with the coordinator.
pub(super) fn subject(problem: &str, space: &str) -> Map<String, Json> {
    [("problem", problem), ("space", space)]
        .map(|(name, digest)| (name.to_string(), Json::from(digest)))
        .into_iter()
        .collect()
}
