//! How large a diagram may grow.

/// Bounds on construction. A space that needs more is refused with the constraints to blame,
/// instead of exhausting the memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Nodes before reduction, in each group of parameters.
    pub nodes: usize,
    /// Bytes that the construction of a group may use.
    pub bytes: usize,
}

impl Default for Limits {
    /// Allows eight million nodes in one GiB: the largest space of the literature (CCSD(T) under
    /// device limits) needs about one million.
    fn default() -> Self {
        Limits { nodes: 8_000_000, bytes: 1 << 30 }
    }
}
