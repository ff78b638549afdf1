//! The winner of a run.

use crate::Failure;
use tunesmith_space::ConfigId;

/// The winner of a run, and the configurations indistinguishable from it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Verdict {
    /// The winner of the final re-measurement. Without one, the best of the search that did not
    /// fail later. `None` if nothing was correct.
    pub winner: Option<ConfigId>,
    /// The configurations that are indistinguishable from the winner, best first. The final
    /// re-measurement decides this, or else the intervals of the search's samples.
    pub ties: Vec<ConfigId>,
    /// True if a final re-measurement decided.
    pub by_final: bool,
    /// Configurations that were correct in the search and failed in a later measurement.
    pub failed: Vec<(ConfigId, Failure)>,
}
