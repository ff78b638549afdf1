//! Limits on the size of a diagram.

/// Limits on the construction of a space. A space that needs more is refused before it exhausts the
/// memory. The error names the constraints to blame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Maximum number of nodes before reduction, in each group of parameters.
    pub nodes: usize,
    /// Maximum number of bytes that the construction of a group may use.
    pub bytes: usize,
}

impl Default for Limits {
    /// Allows eight million nodes in one GiB. The largest space of the literature (CCSD(T) under
    /// device limits) needs about one million.
    fn default() -> Self {
        Limits { nodes: 8_000_000, bytes: 1 << 30 }
    }
}
