//! Decides the columns of a timing model.

use crate::groups::Group;
use std::collections::BTreeSet;
use tunesmith_choose::timing::{Feature, Frame, Origin, derived_number};
use tunesmith_space::{Expr, Parameter, Value};

/// Returns the frame of `groups`. The sizes of the first group are the default sizes of an input.
pub(crate) fn frame(parameters: &[Parameter], derived: &[(String, Expr)], groups: &[Group]) -> Frame {
    Frame {
        parameters: parameters.to_vec(),
        sizes: groups.first().map(|group| group.sizes.clone()).unwrap_or_default(),
        derived: derived.to_vec(),
        features: features(parameters, derived, groups),
    }
}

/// Returns the columns that tell the rows of `groups` apart: parameters of more than one value, and
/// sizes, derived features and device numbers that differ. If devices differ in no known number,
/// their name is a column.
fn features(parameters: &[Parameter], derived: &[(String, Expr)], groups: &[Group]) -> Vec<Feature> {
    let of_parameters = parameters.iter().filter(|all| all.values().len() > 1).map(parameter);
    let of_inputs = sizes(groups).into_iter().chain(of_sizes(derived, groups));
    of_parameters.chain(of_inputs).chain(devices(groups)).collect()
}

fn parameter(parameter: &Parameter) -> Feature {
    let is_text = parameter.values().iter().any(|value| matches!(value, Value::Str(_)));
    let levels = is_text.then(|| parameter.values().iter().map(Value::to_string).collect());
    Feature::new(Origin::Parameter, parameter.name(), levels)
}

/// Returns the sizes that differ.
fn sizes(groups: &[Group]) -> Vec<Feature> {
    let Some(first) = groups.first() else { return Vec::new() };
    let feature = |(name, _): &(String, Value)| {
        let values: Vec<&Value> = groups.iter().filter_map(|group| group.size(name)).collect();
        let is_text = values.iter().any(|value| matches!(value, Value::Str(_)));
        let levels = is_text.then(|| distinct(values.iter().map(|value| value.to_string())));
        let differ = values.windows(2).any(|pair| pair[0] != pair[1]);
        differ.then(|| Feature::new(Origin::Size, name, levels))
    };
    first.sizes.iter().filter_map(feature).collect()
}

/// Returns the derived features that differ.
fn of_sizes(derived: &[(String, Expr)], groups: &[Group]) -> Vec<Feature> {
    let differs = |(_, expr): &&(String, Expr)| {
        differ(groups.iter().map(|group| derived_number(expr, &|name| group.size(name).cloned())))
    };
    derived.iter().filter(differs).map(|(name, _)| Feature::new(Origin::Derived, name, None)).collect()
}

/// Returns the numbers of devices that differ, or the name if there are several devices and no
/// number differs.
fn devices(groups: &[Group]) -> Vec<Feature> {
    let names: BTreeSet<&String> = groups.iter().flat_map(|group| group.device_features.keys()).collect();
    let differs = |name: &&String| differ(groups.iter().map(|group| group.device_features.get(*name).copied()));
    let numbers: Vec<Feature> =
        names.into_iter().filter(differs).map(|name| Feature::new(Origin::Device, name, None)).collect();
    let devices = distinct(groups.iter().map(|group| group.device.clone()));
    if numbers.is_empty() && devices.len() > 1 {
        return vec![Feature::new(Origin::DeviceName, "device", Some(devices))];
    }
    numbers
}

/// Returns true if two of the known numbers differ.
fn differ(numbers: impl Iterator<Item = Option<f64>>) -> bool {
    let numbers: Vec<f64> = numbers.flatten().collect();
    numbers.windows(2).any(|pair| pair[0] != pair[1])
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
