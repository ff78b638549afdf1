//! The rules of measuring and judging. All backends share them.

pub(crate) mod compare;
pub(crate) mod fingerprint;
pub mod limits;
pub mod sampling;

pub use limits::Limits;
pub use sampling::Sampling;

use serde::{Deserialize, Serialize};

/// The rules of measuring.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Policy {
    /// The rule for the number of samples.
    pub sampling: Sampling,
    /// The limits on time.
    pub limits: Limits,
    /// The contents of the caches before each sample.
    pub cache: Cache,
}

/// The contents of the device's caches before each timed sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Cache {
    /// The caches hold the data of the previous sample and of restoring the buffers. This models an
    /// application that calls the kernel again and again on the same data.
    #[default]
    Warm,
    /// The caches hold other data. This models an application that does other work between two
    /// calls.
    Cold,
}
