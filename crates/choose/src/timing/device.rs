//! Devices of a training set.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use tunesmith_space::Value;

/// A device with its known properties as numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KnownDevice {
    /// The name.
    pub name: String,
    /// The numbers by name.
    pub features: BTreeMap<String, f64>,
}

impl KnownDevice {
    /// Returns the numbers as values of expressions.
    pub fn limits(&self) -> Vec<(String, Value)> {
        self.features.iter().map(|(name, number)| (name.clone(), Value::of_number(*number))).collect()
    }

    /// Returns the numbers under the names that constraints give them: `device.NAME`.
    pub fn constants(&self) -> Vec<(String, Value)> {
        self.limits().into_iter().map(|(name, value)| (format!("device.{name}"), value)).collect()
    }
}
