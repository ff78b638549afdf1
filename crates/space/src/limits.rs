//! Limits on the construction of a diagram.

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

impl Default for Limits {
    /// Allows eight million nodes in one GiB. The largest space of the literature (CCSD(T) under
    /// device limits) needs about one million. The steps take some ten minutes.
    fn default() -> Self {
        Limits { nodes: 8_000_000, bytes: 1 << 30, steps: 200_000_000_000 }
    }
}
