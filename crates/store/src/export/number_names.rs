//! The names of the measured numbers that a format keeps.

use std::collections::BTreeSet;

/// The names of the measured numbers that a format keeps. No two are equal, and none is a key of the
/// format or a parameter beside it.
#[derive(Debug, PartialEq)]
pub(super) struct NumberNames<'a> {
    /// Those of the further values of a run.
    pub(super) values: BTreeSet<&'a str>,
    /// Those of the counters.
    pub(super) counters: BTreeSet<&'a str>,
}
