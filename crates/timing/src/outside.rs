//! Finds the features of an input or a device that lie outside of the training set.

use serde::Serialize;
use std::fmt;
use tunesmith_choose::timing::{Feature, Origin, TimingModel};
use tunesmith_choose::wisdom::{doublings, widened};
use tunesmith_space::{Value, lookup};

/// A feature of an input or a device that lies outside of the training set.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Outside {
    /// The feature.
    pub feature: String,
    /// Its number.
    pub value: f64,
    /// The smallest and the largest number in the training set.
    pub trained: (f64, f64),
    /// Distance from the nearer end of that range, in lengths of the range. Infinite if the range
    /// has no length.
    pub distance: f64,
}

impl fmt::Display for Outside {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { feature, value, trained: (low, high), distance } = self;
        if distance.is_finite() {
            let text = format!("{feature} = {value} is outside of the training set's {low} to {high}");
            return write!(f, "{text}, by {distance:.2} times that range");
        }
        write!(f, "{feature} = {value}, but the training set has only {low}")
    }
}

/// Returns the features of an input, with the row of [`Frame::row`](tunesmith_choose::timing::Frame::row), and the
/// sizes that are the same throughout the training set, if they lie outside; the farthest first.
pub(crate) fn outside(model: &TimingModel, row: &[f64], sizes: &[(String, Value)]) -> Vec<Outside> {
    let parts = model.parts();
    let features = parts.frame.features.iter().zip(row).filter(|(feature, _)| feature.origin != Origin::Parameter);
    let distance = |(feature, value): (&Feature, &f64)| {
        let (low, high) = *parts.ranges.get(&feature.column.name)?;
        let beyond = (low - value).max(value - high);
        let distance = if high > low { beyond / (high - low) } else { f64::INFINITY };
        let feature = feature.column.name.clone();
        (beyond > 0.0).then_some(Outside { feature, value: *value, trained: (low, high), distance })
    };
    let constant = |(feature, value, trained): (String, f64, f64)| {
        let distance = f64::INFINITY;
        (value != trained).then_some(Outside { feature, value, trained: (trained, trained), distance })
    };
    let constants = constants(model, sizes).into_iter().filter_map(constant);
    let mut outside: Vec<Outside> = features.filter_map(distance).chain(constants).collect();
    outside.sort_by(|a, b| b.distance.total_cmp(&a.distance));
    outside
}

/// Returns the sizes that are the same throughout the training set, with the value for this input
/// and the trained one.
fn constants(model: &TimingModel, sizes: &[(String, Value)]) -> Vec<(String, f64, f64)> {
    let frame = &model.parts().frame;
    let varies = |name: &str| frame.features.iter().any(|known| known.origin == Origin::Size && known.name == name);
    let numbers = |(name, own): &(String, Value)| {
        Some((name.clone(), lookup(sizes, name)?.as_float()?, own.as_float()?)).filter(|_| !varies(name))
    };
    frame.sizes.iter().filter_map(numbers).collect()
}

/// Returns true if the input lies so far outside of the training set that the model's choice is a
/// guess: a feature of the input, or a size that was the same for all inputs, by more than a factor
/// of two.
pub(crate) fn is_far(model: &TimingModel, row: &[f64], sizes: &[(String, Value)]) -> bool {
    let parts = model.parts();
    let of_inputs = parts
        .frame
        .features
        .iter()
        .zip(row)
        .filter(|(feature, _)| matches!(feature.origin, Origin::Size | Origin::Derived));
    let is_beyond = |(feature, value): (&Feature, &f64)| {
        let (low, high) = parts.ranges.get(&feature.column.name).copied().map_or((*value, *value), widened);
        *value < low || *value > high
    };
    let is_apart = |(_, value, trained): (String, f64, f64)| doublings(Some(value), Some(trained)) > 1.0;
    of_inputs.into_iter().any(is_beyond) || constants(model, sizes).into_iter().any(is_apart)
}
