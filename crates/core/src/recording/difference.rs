//! The differences between recordings, which say whether they may be joined.

use super::Recording;
use std::collections::{BTreeMap, BTreeSet};
use tunesmith_space::Parameter;

impl Recording {
    /// Returns what keeps `other` from being joined with this recording, each as a name and the two
    /// values: parameters, kernel, device, objective, and whatever else the files state. What only
    /// one file states is a difference, too: nothing says that the other one agrees.
    pub fn differences(&self, other: &Self) -> Vec<String> {
        let names = |parameters: &[Parameter]| parameters.iter().map(Parameter::name).collect::<Vec<_>>().join(", ");
        let objective = |recording: &Self| Some(recording.ranking().to_string());
        let of_file = [
            difference("parameters", Some(names(self.parameters())), Some(names(other.parameters()))),
            difference("kernel", self.kernel.clone(), other.kernel.clone()),
            difference("device", self.device.clone(), other.device.clone()),
            difference("objective", objective(self), objective(other)),
        ];
        of_file.into_iter().flatten().chain(subject_differences(&self.subject, &other.subject)).collect()
    }
}

/// Returns the differences between two subjects of recordings, each as a name and the two values.
pub fn subject_differences(one: &BTreeMap<String, String>, other: &BTreeMap<String, String>) -> Vec<String> {
    let names: BTreeSet<&String> = one.keys().chain(other.keys()).collect();
    names.into_iter().filter_map(|name| difference(name, one.get(name).cloned(), other.get(name).cloned())).collect()
}

fn difference(name: &str, one: Option<String>, other: Option<String>) -> Option<String> {
    let text = |value: Option<String>| value.map_or("not stated".to_string(), |value| format!("`{value}`"));
    (one != other).then(|| format!("{name}: {} and {}", text(one), text(other)))
}
