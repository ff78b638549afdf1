//! Tells which inputs and devices a timing model was trained on.

use crate::groups::Group;
use serde::{Serialize, Serializer};
use std::collections::BTreeSet;
use tunesmith_space::Value;

/// The inputs and devices of a training set.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Covers {
    /// Number of inputs.
    pub inputs: usize,
    /// Each size with its values, in the user's order.
    #[serde(serialize_with = "as_map")]
    pub sizes: Vec<(String, CoveredSize)>,
    /// The devices.
    pub devices: Vec<String>,
}

/// The values of a size.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum CoveredSize {
    /// The smallest and the largest number.
    Range(f64, f64),
    /// All texts.
    Texts(Vec<String>),
}

fn as_map<S: Serializer>(sizes: &[(String, CoveredSize)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(sizes.iter().map(|(name, size)| (name, size)))
}

/// Returns the inputs and devices of `groups`.
pub(crate) fn covers(groups: &[Group]) -> Covers {
    let names = groups.first().map(|group| group.sizes.iter().map(|(name, _)| name)).into_iter().flatten();
    let size = |name: &String| {
        let values: Vec<&Value> = groups.iter().filter_map(|group| group.size(name)).collect();
        (name.clone(), covered(&values))
    };
    let inputs: BTreeSet<String> = groups.iter().map(Group::input).collect();
    let devices: BTreeSet<&String> = groups.iter().map(|group| &group.device).collect();
    Covers { inputs: inputs.len(), sizes: names.map(size).collect(), devices: devices.into_iter().cloned().collect() }
}

fn covered(values: &[&Value]) -> CoveredSize {
    let numbers: Option<Vec<f64>> = values.iter().map(|value| value.as_float()).collect();
    match numbers {
        Some(numbers) => CoveredSize::Range(
            numbers.iter().copied().fold(f64::INFINITY, f64::min),
            numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        ),
        None => {
            let texts: BTreeSet<String> = values.iter().map(|value| value.to_string()).collect();
            CoveredSize::Texts(texts.into_iter().collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn every_size_has_its_range_even_if_it_is_always_the_same() {
        let group = |device: &str, n: i64, layout: &str| Group {
            device: device.to_string(),
            device_features: BTreeMap::new(),
            sizes: vec![
                ("N".to_string(), Value::Int(n)),
                ("K".to_string(), Value::Int(5)),
                ("LAYOUT".to_string(), Value::Str(layout.into())),
            ],
            reference_ms: 1.0,
            rows: Vec::new(),
        };
        let covers = covers(&[group("b", 64, "row"), group("a", 8, "row"), group("b", 8, "column")]);
        assert_eq!((covers.inputs, covers.devices.as_slice()), (3, &["a".to_string(), "b".to_string()][..]));
        let json = serde_json::to_value(&covers).unwrap();
        assert_eq!(json["sizes"], serde_json::json!({"N": [8.0, 64.0], "K": [5.0, 5.0], "LAYOUT": ["column", "row"]}));
    }
}
