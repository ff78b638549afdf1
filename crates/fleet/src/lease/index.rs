//! The workers by load and the leases by deadline, so that no event looks at every worker.

use super::worker::{Indexed, Worker};
use super::{JobId, WorkerId};
use std::collections::BTreeSet;
use std::time::Duration;

/// The indices.
#[derive(Clone, Debug, Default)]
pub(super) struct Index {
    /// The workers that have room, by the number of leases that they hold.
    free: BTreeSet<(usize, WorkerId)>,
    /// The leases that last.
    deadlines: BTreeSet<(Duration, WorkerId, JobId)>,
    /// Number of workers that get leases or work on one.
    pub(super) usable: usize,
    /// Number of leases that they may hold at once.
    pub(super) room: usize,
}

impl Index {
    /// Brings the index up to date with a worker that has changed.
    pub(super) fn update(&mut self, id: WorkerId, worker: &mut Worker) {
        let now = worker.to_index();
        self.replace(id, worker, now);
        worker.indexed = now;
    }

    /// Forgets a worker.
    pub(super) fn remove(&mut self, id: WorkerId, worker: &Worker) {
        self.replace(id, worker, Indexed::default());
    }

    fn replace(&mut self, id: WorkerId, worker: &Worker, now: Indexed) {
        let before = worker.indexed;
        if before.load != now.load {
            before.load.map(|load| self.free.remove(&(load, id)));
            now.load.map(|load| self.free.insert((load, id)));
        }
        if before.is_usable {
            (self.usable, self.room) = (self.usable - 1, self.room - worker.room);
        }
        if now.is_usable {
            (self.usable, self.room) = (self.usable + 1, self.room + worker.room);
        }
    }

    /// Returns the worker with room that holds the fewest leases, and their number.
    pub(super) fn freest(&self) -> Option<(usize, WorkerId)> {
        self.free.first().copied()
    }

    pub(super) fn add_lease(&mut self, deadline: Duration, worker: WorkerId, job: JobId) {
        self.deadlines.insert((deadline, worker, job));
    }

    pub(super) fn end_lease(&mut self, deadline: Duration, worker: WorkerId, job: JobId) {
        self.deadlines.remove(&(deadline, worker, job));
    }

    /// Returns the number of leases that last.
    pub(super) fn leases(&self) -> usize {
        self.deadlines.len()
    }

    /// Returns the next deadline of a lease.
    pub(super) fn next_deadline(&self) -> Option<Duration> {
        self.deadlines.first().map(|(deadline, ..)| *deadline)
    }

    /// Takes out the leases whose deadline has passed, by worker and job.
    pub(super) fn take_due(&mut self, now: Duration) -> BTreeSet<(WorkerId, JobId)> {
        let mut due = BTreeSet::new();
        while let Some((_, worker, job)) = self.deadlines.first().copied().filter(|(deadline, ..)| *deadline <= now) {
            self.deadlines.pop_first();
            due.insert((worker, job));
        }
        due
    }
}
