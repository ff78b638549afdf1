//! Rules of measuring and judging, the same for all backends.

pub(crate) mod compare;
pub mod limits;
pub mod sampling;

pub use limits::Limits;
pub use sampling::Sampling;

use serde::{Deserialize, Serialize};

/// The rules of measuring.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Policy {
    /// The number of samples.
    pub sampling: Sampling,
    /// The limits on time.
    pub limits: Limits,
    /// The contents of the caches before a sample.
    pub cache: Cache,
}

/// The contents of the device's caches before each timed sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Cache {
    /// What the previous sample and restoring the buffers left there: as in an application that
    /// calls the kernel again and again on the same data.
    #[default]
    Warm,
    /// Other data: as in an application whose other work comes between two calls.
    Cold,
}
