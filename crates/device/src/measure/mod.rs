//! How configurations are measured and judged, once for all backends.

pub(crate) mod compare;
pub mod limits;
pub mod sampling;

pub use limits::Limits;
pub use sampling::Sampling;

/// How configurations are measured.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Policy {
    /// How many samples are taken.
    pub sampling: Sampling,
    /// How long things may take.
    pub limits: Limits,
}
