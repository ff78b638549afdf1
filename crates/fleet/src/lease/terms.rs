//! The names of jobs and workers, and the rules of leases.

use std::time::Duration;

/// The id of a job. Ids ascend in the order in which jobs were added.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JobId(pub u64);

/// The id of a worker. A worker that leaves and comes back is another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WorkerId(pub u64);

/// The workers that a job may go to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whom {
    /// Any worker.
    Any,
    /// The worker that does the other steady jobs, as long as it is there: their times are compared.
    Steady,
    /// This worker alone, before its other jobs. The job ends with its first lease, and when the
    /// worker leaves, is silent or is set aside.
    Only(WorkerId),
}

/// The rules of leases.
#[derive(Clone, Copy, Debug)]
pub struct Terms {
    /// The time that a lease lasts until three jobs were answered.
    pub first: Duration,
    /// The least time that a lease lasts.
    pub least: Duration,
    /// The time that a lease lasts as a multiple of the longest time to an answer.
    pub factor: u32,
    /// The time after which the leases of a worker that left are issued anew. Workers that leave together,
    /// because an engine ends them all, must not take a job from one to the next until it has failed.
    pub grace: Duration,
    /// Number of leases of one job that may end without an answer. The job then has failed.
    pub most_attempts: u32,
    /// Number of leases in a row that a worker may not answer. It is then set aside.
    pub most_failures: u32,
}

impl Default for Terms {
    /// Returns the default rules. The first evaluation compiles the reference and may wait for a
    /// license, so that it has ten minutes. Ten times the longest answer is beyond any noise.
    fn default() -> Self {
        let (first, least) = (Duration::from_secs(600), Duration::from_secs(60));
        Self { first, least, factor: 10, grace: Duration::from_secs(2), most_attempts: 3, most_failures: 3 }
    }
}
