//! The time of the reference configuration for an input, which turns speed-ups into times.

use serde::{Deserialize, Serialize};

/// A time as a product of powers of features, as operations and bytes are products of powers of
/// sizes. It is fitted as a sum of logarithms.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReferenceTime {
    /// The features, each by its column, with their powers.
    pub powers: Vec<(usize, f64)>,
    /// The logarithm of the factor, for a time in milliseconds.
    pub factor: f64,
}

impl ReferenceTime {
    /// Returns the time in milliseconds for the row of an input. Returns `None` if a feature is
    /// missing or not positive.
    pub fn predict(&self, row: &[f64]) -> Option<f64> {
        let power =
            |(column, power): &(usize, f64)| Some(row.get(*column).filter(|number| **number > 0.0)?.ln() * power);
        let sum: f64 = self.powers.iter().map(power).sum::<Option<f64>>()?;
        Some((self.factor + sum).exp()).filter(|ms| ms.is_finite())
    }

    /// Returns true if all columns are below `count`.
    pub(super) fn fits(&self, count: usize) -> bool {
        self.powers.iter().all(|(column, _)| *column < count)
    }
}
