//! What a row of a timing model's table holds.

use super::device::KnownDevice;
use serde::{Deserialize, Serialize};
use tunesmith_model::{Column, Kind};
use tunesmith_space::{Expr, Parameter, Value, lookup};

/// Tells where the numbers of a column come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
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

/// A column with its origin.
#[derive(Clone, Debug, PartialEq)]
pub struct Feature {
    /// Where the numbers come from.
    pub origin: Origin,
    /// The name as the origin has it.
    pub name: String,
    /// The column of the trees.
    pub column: Column,
}

impl Feature {
    /// Describes what `origin` calls `name`: texts of `levels`, numbers without levels.
    pub fn new(origin: Origin, name: &str, levels: Option<Vec<String>>) -> Self {
        // Devices may have what problems have as well.
        let title = if origin == Origin::Device { format!("device.{name}") } else { name.to_string() };
        let column = match levels {
            None => Column::ordinal(title),
            Some(levels) => Column::categorical(title, levels),
        };
        Self { origin, name: name.to_string(), column }
    }

    /// Returns the number of a value: itself, or the place of a text among the levels. NaN where it
    /// is neither.
    pub fn number(&self, value: &Value) -> f64 {
        match (&self.column.kind, value) {
            (Kind::Ordinal, value) => value.as_float().unwrap_or(f64::NAN),
            (Kind::Categorical(levels), value) => level(levels, &value.to_string()),
        }
    }

    /// Returns the number of a device's name.
    fn level_of(&self, name: &str) -> f64 {
        match &self.column.kind {
            Kind::Ordinal => f64::NAN,
            Kind::Categorical(levels) => level(levels, name),
        }
    }
}

fn level(levels: &[String], text: &str) -> f64 {
    levels.iter().position(|level| level == text).map_or(f64::NAN, |at| at as f64)
}

/// Turns an input, a configuration and a device into a row of numbers.
#[derive(Clone, Debug)]
pub struct Frame {
    /// The tuning parameters with all values of the training set.
    pub parameters: Vec<Parameter>,
    /// Every size with the value that it has unless another is given.
    pub sizes: Vec<(String, Value)>,
    /// Numbers that follow from the sizes.
    pub derived: Vec<(String, Expr)>,
    /// The columns.
    pub features: Vec<Feature>,
}

impl Frame {
    /// Returns all sizes of an input, of which `given` names some.
    pub fn completed(&self, given: &[(String, Value)]) -> Vec<(String, Value)> {
        let value = |(name, own): &(String, Value)| (name.clone(), lookup(given, name).unwrap_or_else(|| own.clone()));
        self.sizes.iter().map(value).collect()
    }

    /// Returns the row of an input on a device; the parameters' numbers are NaN. Without a device,
    /// the numbers of devices are NaN as well.
    pub fn row(&self, sizes: &[(String, Value)], device: Option<&KnownDevice>) -> Vec<f64> {
        let number = |feature: &Feature| {
            let known = match feature.origin {
                Origin::Parameter => None,
                Origin::Size => lookup(sizes, &feature.name).map(|value| feature.number(&value)),
                Origin::Derived => {
                    let expr = self.derived.iter().find(|(name, _)| *name == feature.name);
                    expr.and_then(|(_, expr)| derived_number(expr, &|name| lookup(sizes, name)))
                }
                Origin::Device => device.and_then(|device| device.features.get(&feature.name).copied()),
                Origin::DeviceName => device.map(|device| feature.level_of(&device.name)),
            };
            known.unwrap_or(f64::NAN)
        };
        self.features.iter().map(number).collect()
    }
}

/// Returns the number that a derived feature has for these sizes, given by name; `None` where it
/// cannot be computed or is not finite.
pub fn derived_number(expr: &Expr, sizes: &dyn Fn(&str) -> Option<Value>) -> Option<f64> {
    let value = expr.evaluate(sizes).ok()?;
    value.as_float().filter(|number| number.is_finite())
}
