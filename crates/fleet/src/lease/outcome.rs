//! The ends of leases, and the counts of a worker.

use super::{JobId, WorkerId};
use std::time::Duration;

/// A job that a worker is to do now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Issue<T> {
    /// The worker.
    pub worker: WorkerId,
    /// The job.
    pub job: JobId,
    /// The number of the attempt, from 1.
    pub attempt: u32,
    /// The work.
    pub work: T,
}

/// The meaning of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answered<T> {
    /// The first answer to the job: it counts.
    First {
        /// The work.
        work: T,
        /// The time since the worker got the job.
        took: Duration,
    },
    /// A further answer: the job was answered or has failed before.
    Second,
    /// The worker was never asked for this job.
    Unasked,
}

/// The end of a lease without an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lost<T> {
    /// The worker.
    pub worker: WorkerId,
    /// The job.
    pub job: JobId,
    /// The work, if this was its last attempt: the job has failed.
    pub failed: Option<T>,
}

/// The counts of a worker.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Number of its answers that count, to jobs that others could have done.
    pub answered: u64,
    /// Number of its answers to jobs for it alone.
    pub own: u64,
    /// Number of its further answers.
    pub second: u64,
    /// Number of its leases that ended without an answer.
    pub lost: u64,
    /// The time in which it held a lease.
    pub busy: Duration,
}
