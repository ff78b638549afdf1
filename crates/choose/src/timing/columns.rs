//! Columns of the table that a timing model is trained on.

use super::device::KnownDevice;
use serde::{Deserialize, Serialize};
use tunesmith_model::{Column, Kind};
use tunesmith_space::{Expr, Parameter, Value, lookup};

/// The origin of the numbers of a column.
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
    /// The origin of the numbers.
    pub origin: Origin,
    /// The name as the origin has it.
    pub name: String,
    /// The column of the trees.
    pub column: Column,
}

impl Feature {
    /// Describes the feature that `origin` calls `name`: texts if there are `levels`, else numbers.
    pub fn new(origin: Origin, name: &str, levels: Option<Vec<String>>) -> Self {
        // A device may have a number of the same name as a size or parameter.
        let title = if origin == Origin::Device { format!("device.{name}") } else { name.to_string() };
        let column = match levels {
            None => Column::ordinal(title),
            Some(levels) => Column::categorical(title, levels),
        };
        Self { origin, name: name.to_string(), column }
    }

    /// Returns the number of a value: the value itself, or the place of a text among the levels.
    /// NaN if it is neither.
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

/// The rule that turns an input, a configuration and a device into a row of numbers.
#[derive(Clone, Debug)]
pub struct Frame {
    /// The tuning parameters with all values of the training set.
    pub parameters: Vec<Parameter>,
    /// Every size with its default value.
    pub sizes: Vec<(String, Value)>,
    /// Expressions over the sizes, by name.
    pub derived: Vec<(String, Expr)>,
    /// The columns.
    pub features: Vec<Feature>,
}

impl Frame {
    /// Returns all sizes of an input, with the values in `given` in place of the defaults.
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

/// Returns the number of a derived feature for these sizes, given by name. Returns `None` if it
/// cannot be computed or is not finite.
pub fn derived_number(expr: &Expr, sizes: &dyn Fn(&str) -> Option<Value>) -> Option<f64> {
    let value = expr.evaluate(sizes).ok()?;
    value.as_float().filter(|number| number.is_finite())
}
