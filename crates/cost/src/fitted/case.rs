//! Measured kernels to which models are fitted.

use super::property::PropertyCounts;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A kernel that was counted and timed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// The kernel and its variant. Cases of one kernel differ only in their sizes.
    pub kernel: String,
    /// The class of kernels to which it belongs. Residuals are reported by class.
    pub class: String,
    /// Its sizes, by name.
    pub sizes: BTreeMap<String, i64>,
    /// Its count of each property, without the [constant](super::CostProperty::Constant).
    pub counts: PropertyCounts,
    /// Its time.
    pub seconds: f64,
}

/// The error of fitting a cost model.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CaseError {
    /// There are no cases.
    #[error("there are no measured kernels to fit a cost model to")]
    Empty,
    /// A time is not finite or not positive.
    #[error("kernel `{kernel}` took {seconds} s; a time is a number above 0: measure it again")]
    Seconds {
        /// The kernel.
        kernel: String,
        /// Its time.
        seconds: f64,
    },
    /// A count is not finite or is negative.
    #[error("kernel `{kernel}` has {count} of property `{property}`; a count is a number from 0")]
    Count {
        /// The kernel.
        kernel: String,
        /// The property.
        property: String,
        /// Its count.
        count: f64,
    },
}

impl Case {
    /// Returns the name of its nest: that of its kernel without the shape of the work-groups.
    pub fn nest(&self) -> &str {
        self.kernel.split_once(' ').map_or(self.kernel.as_str(), |(nest, _)| nest)
    }

    /// Refuses an invalid time or count.
    pub(super) fn check(&self) -> Result<(), CaseError> {
        if !(self.seconds.is_finite() && self.seconds > 0.0) {
            return Err(CaseError::Seconds { kernel: self.kernel.clone(), seconds: self.seconds });
        }
        match self.counts.texts().into_iter().find(|(_, count)| !(count.is_finite() && *count >= 0.0)) {
            None => Ok(()),
            Some((property, count)) => {
                let kernel = self.kernel.clone();
                Err(CaseError::Count { kernel, property, count })
            }
        }
    }
}
