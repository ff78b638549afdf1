//! What a row of a timing model's table holds.

use super::groups::Group;
use super::model::KnownDevice;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use tunesmith_model::{Column, Kind};
use tunesmith_space::lookup;
use tunesmith_space::{Expr, Parameter, Value};

/// Where the numbers of a column come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Source {
    /// A tuning parameter.
    Parameter,
    /// A size of the input.
    Size,
    /// An expression over sizes.
    Derived,
    /// A number of the device.
    Device,
    /// The device's name.
    DeviceName,
}

/// A column with its source.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Feature {
    pub(super) source: Source,
    /// The name as the source has it.
    pub(super) name: String,
    pub(super) column: Column,
}

/// The name of the column of devices.
const DEVICE: &str = "device";

impl Feature {
    pub(super) fn new(source: Source, name: &str, levels: Option<Vec<String>>) -> Self {
        // Devices may have what problems have as well.
        let title = if source == Source::Device { format!("{DEVICE}.{name}") } else { name.to_string() };
        let column = match levels {
            None => Column::ordinal(title),
            Some(levels) => Column::categorical(title, levels),
        };
        Self { source, name: name.to_string(), column }
    }

    /// The number of a value: itself, or the place of a text among the levels; missing where it is neither.
    pub(super) fn number(&self, value: &Value) -> f64 {
        match (&self.column.kind, value) {
            (Kind::Ordinal, value) => value.as_float().unwrap_or(f64::NAN),
            (Kind::Categorical(levels), value) => level(levels, &value.to_string()),
        }
    }

    /// The number of a device's name.
    pub(super) fn level_of(&self, name: &str) -> f64 {
        match &self.column.kind {
            Kind::Ordinal => f64::NAN,
            Kind::Categorical(levels) => level(levels, name),
        }
    }
}

fn level(levels: &[String], text: &str) -> f64 {
    levels.iter().position(|level| level == text).map_or(f64::NAN, |at| at as f64)
}

/// What turns an input, a configuration and a device into a row.
#[derive(Clone, Debug)]
pub(super) struct Frame {
    pub(super) parameters: Vec<Parameter>,
    /// Every size with the value that it has unless another is given.
    pub(super) sizes: Vec<(String, Value)>,
    pub(super) derived: Vec<(String, Expr)>,
    pub(super) features: Vec<Feature>,
}

impl Frame {
    /// That of `groups`, whose first one's sizes are those that an input has unless it names others.
    pub(super) fn new(parameters: &[Parameter], derived: &[(String, Expr)], groups: &[Group]) -> Self {
        Self {
            parameters: parameters.to_vec(),
            sizes: groups.first().map(|group| group.sizes.clone()).unwrap_or_default(),
            derived: derived.to_vec(),
            features: features(parameters, derived, groups),
        }
    }

    /// All sizes of an input, of which `given` names some.
    pub(super) fn completed(&self, given: &[(String, Value)]) -> Vec<(String, Value)> {
        let value = |(name, own): &(String, Value)| (name.clone(), lookup(given, name).unwrap_or_else(|| own.clone()));
        self.sizes.iter().map(value).collect()
    }

    /// The row of an input on a device; the parameters' numbers are missing. Without a device what is the same on all known
    /// ones is known.
    pub(super) fn row(&self, sizes: &[(String, Value)], device: Option<&KnownDevice>) -> Vec<f64> {
        let number = |feature: &Feature| {
            let known = match feature.source {
                Source::Parameter => None,
                Source::Size => lookup(sizes, &feature.name).map(|value| feature.number(&value)),
                Source::Derived => {
                    let expr = self.derived.iter().find(|(name, _)| *name == feature.name);
                    expr.and_then(|(_, expr)| derive(expr, &|name| lookup(sizes, name)))
                }
                Source::Device => device.and_then(|device| device.features.get(&feature.name).copied()),
                Source::DeviceName => device.map(|device| feature.level_of(&device.name)),
            };
            known.unwrap_or(f64::NAN)
        };
        self.features.iter().map(number).collect()
    }
}

/// The columns that tell the rows of `groups` apart: parameters of more than one value, sizes, derived features and device
/// numbers that differ; where devices differ in no known number, their name.
fn features(parameters: &[Parameter], derived: &[(String, Expr)], groups: &[Group]) -> Vec<Feature> {
    let mut features: Vec<Feature> = parameters.iter().filter(|all| all.values().len() > 1).map(parameter).collect();
    let names: Vec<&str> =
        groups.first().map(|group| group.sizes.iter().map(|(name, _)| name.as_str()).collect()).unwrap_or_default();
    for name in names {
        let values: Vec<&Value> = groups.iter().filter_map(|group| group.size(name)).collect();
        if values.windows(2).any(|pair| pair[0] != pair[1]) {
            let is_text = values.iter().any(|value| matches!(value, Value::Str(_)));
            let levels = is_text.then(|| distinct(values.iter().map(|value| value.to_string())));
            features.push(Feature::new(Source::Size, name, levels));
        }
    }
    let varies = |numbers: &mut dyn Iterator<Item = Option<f64>>| {
        let numbers: Vec<f64> = numbers.flatten().collect();
        numbers.windows(2).any(|pair| pair[0] != pair[1])
    };
    for (name, expr) in derived {
        if varies(&mut groups.iter().map(|group| derive(expr, &|name| lookup(&group.sizes, name)))) {
            features.push(Feature::new(Source::Derived, name, None));
        }
    }
    let of_devices: BTreeMap<&String, ()> =
        groups.iter().flat_map(|group| group.device_features.keys()).map(|name| (name, ())).collect();
    let before = features.len();
    for name in of_devices.into_keys() {
        if varies(&mut groups.iter().map(|group| group.device_features.get(name).copied())) {
            features.push(Feature::new(Source::Device, name, None));
        }
    }
    let devices = distinct(groups.iter().map(|group| group.device.clone()));
    if features.len() == before && devices.len() > 1 {
        features.push(Feature::new(Source::DeviceName, DEVICE, Some(devices)));
    }
    features
}

fn parameter(parameter: &Parameter) -> Feature {
    let is_text = parameter.values().iter().any(|value| matches!(value, Value::Str(_)));
    let levels = is_text.then(|| parameter.values().iter().map(Value::to_string).collect());
    Feature::new(Source::Parameter, parameter.name(), levels)
}

/// The number that a derived feature has for these sizes, given by name.
pub(super) fn derive(expr: &Expr, sizes: &dyn Fn(&str) -> Option<Value>) -> Option<f64> {
    let value = expr.evaluate(sizes).ok()?;
    value.as_float().filter(|number| number.is_finite())
}

fn distinct(texts: impl Iterator<Item = String>) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    texts.for_each(|text| {
        if !all.contains(&text) {
            all.push(text);
        }
    });
    all
}
