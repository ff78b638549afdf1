//! The number of launches in the last verification.

use std::time::Duration;

/// The rule for the number of launches in the last verification.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Repetition {
    /// The number of launches, if they take no longer than [`time_cap`](Self::time_cap).
    pub launches: usize,
    /// The time after which no more launches are made than the fewest, two on each set of data. The time of
    /// changing data and of comparing counts.
    pub time_cap: Duration,
}

impl Default for Repetition {
    /// Returns the default rule:
    ///
    /// - `launches`: 200 find a kernel that is wrong in every n-th launch for all n up to 200, and one that is
    ///   wrong in one of 100 at random with a probability of 87 %. A configuration of the search has 8 to 51.
    /// - `time_cap`: one second for the winner, and an eighth of it for a tie. Most kernels that are worth
    ///   tuning make their 200 launches within a second.
    fn default() -> Self {
        Self { launches: 200, time_cap: Duration::from_secs(1) }
    }
}
