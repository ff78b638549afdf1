//! The differences between recordings, which say whether they may be joined.

use super::Recording;
use std::collections::BTreeSet;
use tunesmith_space::Parameter;

impl Recording {
    /// Returns what keeps `other` from being joined with this recording, each as a name and the two
    /// values: parameters, kernel, device, objective, and whatever else the files state. What only
    /// one file states is a difference, too: nothing says that the other one agrees.
    pub fn differences(&self, other: &Self) -> Vec<String> {
        let mut found = Vec::new();
        let mut compare = |name: &str, one: Option<String>, another: Option<String>| {
            if one != another {
                let text = |value: Option<String>| value.map_or("not stated".to_string(), |value| format!("`{value}`"));
                found.push(format!("{name}: {} and {}", text(one), text(another)));
            }
        };
        let names = |parameters: &[Parameter]| parameters.iter().map(Parameter::name).collect::<Vec<_>>().join(", ");
        compare("parameters", Some(names(self.parameters())), Some(names(other.parameters())));
        compare("kernel", self.kernel.clone(), other.kernel.clone());
        compare("device", self.device.clone(), other.device.clone());
        compare("objective", Some(self.ranking().to_string()), Some(other.ranking().to_string()));
        for name in self.subject.keys().chain(other.subject.keys()).collect::<BTreeSet<_>>() {
            compare(name, self.subject.get(name).cloned(), other.subject.get(name).cloned());
        }
        found
    }
}
