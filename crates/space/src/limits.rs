//! Limits on the construction of a diagram.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Limits on the construction of a space. A space that needs more is refused before it exhausts the
/// memory. The error names the constraints to blame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Maximum number of nodes before reduction, in each group of parameters.
    pub nodes: usize,
    /// Maximum number of bytes that the construction of a group may use.
    pub bytes: usize,
    /// Maximum number of steps of the construction of a group: values looked at, times the
    /// conditions on them, and elements of lists in expressions. A step takes some nanoseconds.
    pub steps: u64,
}

/// The limits, and a flag that ends the construction early.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bounds {
    pub(crate) limits: Limits,
    pub(crate) cancel: Option<Arc<AtomicBool>>,
}

impl Bounds {
    /// Returns true if somebody raised the flag.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancel.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed))
    }
}

impl From<Limits> for Bounds {
    fn from(limits: Limits) -> Self {
        Self { limits, cancel: None }
    }
}

impl Default for Limits {
    /// Allows eight million nodes in one GiB. The largest space of the literature (CCSD(T) under
    /// device limits) needs about one million. The steps take some ten minutes.
    fn default() -> Self {
        Limits { nodes: 8_000_000, bytes: 1 << 30, steps: 200_000_000_000 }
    }
}
