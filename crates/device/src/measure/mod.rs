//! How configurations are measured and judged, once for all backends.

pub(crate) mod compare;
pub mod limits;
pub mod sampling;

pub use limits::Limits;
pub use sampling::Sampling;

use serde::{Deserialize, Serialize};

/// How configurations are measured.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Policy {
    /// How many samples are taken.
    pub sampling: Sampling,
    /// How long things may take.
    pub limits: Limits,
    /// What the caches hold before a sample.
    pub cache: Cache,
}

/// What the device's caches hold before each timed sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Cache {
    /// What the previous sample and restoring the buffers left there: as in an application that calls the kernel again
    /// and again on the same data.
    #[default]
    Warm,
    /// Other data: as in an application whose other work comes between two calls.
    Cold,
}
