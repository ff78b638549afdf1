//! The time of the reference configuration for an input, which turns speed-ups into times.

use serde::{Deserialize, Serialize};

/// The logarithm of a time as a sum over the logarithms of features: a product of their powers, as
/// operations and bytes are of sizes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReferenceTime {
    /// The features, by their column, and the powers.
    pub powers: Vec<(usize, f64)>,
    /// The logarithm of the factor, the time being in milliseconds.
    pub factor: f64,
}

impl ReferenceTime {
    /// Returns the time in milliseconds for the row of an input; `None` where a feature is missing
    /// or not positive.
    pub fn predict(&self, row: &[f64]) -> Option<f64> {
        let power =
            |(column, power): &(usize, f64)| Some(row.get(*column).filter(|number| **number > 0.0)?.ln() * power);
        let sum: f64 = self.powers.iter().map(power).sum::<Option<f64>>()?;
        Some((self.factor + sum).exp()).filter(|ms| ms.is_finite())
    }

    /// Tells whether all columns are below `count`.
    pub(super) fn fits(&self, count: usize) -> bool {
        self.powers.iter().all(|(column, _)| *column < count)
    }
}
