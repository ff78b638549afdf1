//! Who won a run.

use crate::Failure;
use tunesmith_space::ConfigId;

/// The winner of a run, and what it cannot be told from.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Verdict {
    /// The winner of the final. Without a final, the best of the search that did not fail later.
    /// `None` if nothing was correct.
    pub winner: Option<ConfigId>,
    /// The configurations that are indistinguishable from the winner, the best first: by the final,
    /// or by the intervals of the search's samples.
    pub ties: Vec<ConfigId>,
    /// True if a final decided.
    pub by_final: bool,
    /// Configurations that were correct and failed when they were measured again.
    pub failed: Vec<(ConfigId, Failure)>,
}
