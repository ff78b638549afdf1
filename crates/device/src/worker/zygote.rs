//! A worker that forks a process for every job.
//!
//! The worker fills the buffers once and never runs user code. A job's process inherits the memory:
//! inputs keep their physical pages as long as nobody writes to them, and outputs are fresh. What a
//! configuration does to its process, its threads, descriptors, limits or memory, ends with the
//! process. What it leaves behind becomes a child of the worker, and is ended before the next job.
//!
//! A job may also change the worker from outside, by its process id. The worker therefore compares
//! itself with what it was. It restores what it can, and ends if something stays changed.

use nix::sys::prctl::{set_child_subreaper, set_pdeathsig};
use std::io;
use tunesmith_backend::host::{MemoryQuota, Standing, end_descendants};
use tunesmith_backend::sandbox::Scope;

/// The exit code of a job's process that cannot send its report.
pub(super) const MUTE: i32 = 117;

/// A worker's hold on its jobs and on itself. The default has neither.
#[derive(Debug, Default)]
pub(crate) struct Zygote {
    /// The scope of signals in which all jobs run.
    scope: Option<Scope>,
    standing: Standing,
    quota: MemoryQuota,
}

impl Zygote {
    /// Makes this process a parent of everything that jobs leave behind. If jobs are `confined`,
    /// they run in a scope of signals.
    ///
    /// # Errors
    /// The system refuses.
    pub(super) fn become_one(confined: bool) -> io::Result<Self> {
        set_child_subreaper(true)?;
        // A worker that is killed with its tuner could end nothing. It runs no user code and notices
        // the end of its connection, so it can be trusted to end by itself.
        set_pdeathsig(None)?;
        let (standing, quota) = (Standing::current(), MemoryQuota::of_now());
        Ok(Self { scope: confined.then(Scope::enter).flatten(), standing, quota })
    }

    /// Ends everything that a job left behind.
    pub(super) fn end_descendants(&self) -> io::Result<()> {
        end_descendants(self.scope.as_ref())
    }

    /// Limits the memory of this process, which runs a job.
    pub(super) fn limit_memory(&self) {
        self.quota.apply();
    }

    /// Restores the limits, the priority and the affinity of this process.
    pub(super) fn restore(&self) {
        self.standing.restore();
    }
}
