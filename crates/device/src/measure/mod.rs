//! Measuring and judging, the same for all backends: the size of samples, the launches of the last verification, and
//! the comparison of outputs.

pub(crate) mod compare;
pub(crate) mod fingerprint;
pub(crate) mod grouping;
pub(crate) mod series;
