//! Questions about jobs and workers, which change nothing.

use super::worker::Worker;
use super::{Counts, JobId, KNOWN, Leases, WorkerId};
use std::time::Duration;

impl<T: Clone> Leases<T> {
    /// Returns the worker that steady jobs stay with.
    pub fn anchor(&self) -> Option<WorkerId> {
        self.anchor
    }

    /// Returns true if a worker is set aside.
    pub fn is_set_aside(&self, id: WorkerId) -> bool {
        self.workers.get(&id).is_some_and(|worker| worker.is_set_aside)
    }

    /// Returns the number of workers that get leases or work on one.
    pub fn usable(&self) -> usize {
        self.index.usable
    }

    /// Returns the number of leases that workers which get leases may hold at once.
    pub fn room(&self) -> usize {
        self.index.room
    }

    /// Returns true if a worker that gets leases holds none.
    pub fn has_idle(&self) -> bool {
        self.index.freest().is_some_and(|(held, _)| held == 0)
    }

    /// Returns the work of an open job.
    pub fn work(&self, job: JobId) -> Option<&T> {
        self.jobs.get(&job).map(|job| &job.work)
    }

    /// Returns the number of open jobs.
    pub fn open(&self) -> usize {
        self.jobs.len()
    }

    /// Returns the number of leases that last.
    pub fn held(&self) -> usize {
        self.index.leases()
    }

    /// Returns the number of open jobs that no worker holds.
    pub fn waiting(&self) -> usize {
        self.waiting.len() + self.bound.len() + self.resting.len()
    }

    /// Returns the number of leases of a worker that last.
    pub fn held_by(&self, id: WorkerId) -> usize {
        self.workers.get(&id).map_or(0, |worker| worker.held.len())
    }

    /// Returns true if the worker gets leases, or works on one.
    pub fn is_usable(&self, id: WorkerId) -> bool {
        self.workers.get(&id).is_some_and(Worker::is_usable)
    }

    /// Returns the counts of a worker.
    pub fn counts(&self, id: WorkerId) -> Counts {
        self.workers.get(&id).map(|worker| worker.counts).unwrap_or_default()
    }

    /// Returns the time in which a worker held a lease, until `now`.
    pub fn busy(&self, id: WorkerId, now: Duration) -> Duration {
        let Some(worker) = self.workers.get(&id) else { return Duration::ZERO };
        let since = worker.busy_since.map(|since| now.saturating_sub(since));
        worker.counts.busy + since.unwrap_or_default()
    }

    /// Returns the time that a new lease lasts.
    pub fn limit(&self) -> Duration {
        if self.answers < KNOWN {
            return self.terms.first;
        }
        self.terms.least.max(self.longest * self.terms.factor)
    }
}
