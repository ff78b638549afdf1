//! Finds the features of an input or a device that lie outside of the training set.

use serde::Serialize;
use std::fmt;
use tunesmith_choose::timing::{Feature, Origin, TimingModel};

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

/// Returns the features of a row of [`Frame::row`](tunesmith_choose::timing::Frame::row) that lie
/// outside, the farthest first.
pub(crate) fn outside(model: &TimingModel, row: &[f64]) -> Vec<Outside> {
    let parts = model.parts();
    let features = parts.frame.features.iter().zip(row).filter(|(feature, _)| feature.origin != Origin::Parameter);
    let distance = |(feature, value): (&Feature, &f64)| {
        let (low, high) = *parts.ranges.get(&feature.column.name)?;
        let beyond = (low - value).max(value - high);
        let distance = if high > low { beyond / (high - low) } else { f64::INFINITY };
        let feature = feature.column.name.clone();
        (beyond > 0.0).then_some(Outside { feature, value: *value, trained: (low, high), distance })
    };
    let mut outside: Vec<Outside> = features.filter_map(distance).collect();
    outside.sort_by(|a, b| b.distance.total_cmp(&a.distance));
    outside
}
