//! One worker and the leases that it holds.

use super::{Counts, JobId};
use std::collections::BTreeMap;
use std::time::Duration;

#[derive(Clone, Copy, Debug)]
pub(super) struct Held {
    pub(super) issued: Duration,
    pub(super) deadline: Duration,
}

#[derive(Clone, Debug)]
pub(super) struct Worker {
    /// Number of leases that it may hold at once.
    pub(super) room: usize,
    pub(super) held: BTreeMap<JobId, Held>,
    /// Jobs of leases past their deadlines that it has not answered, with the times of their issue.
    pub(super) overdue: BTreeMap<JobId, Duration>,
    /// Number of leases in a row that ended without an answer.
    pub(super) failures: u32,
    pub(super) is_set_aside: bool,
    pub(super) busy_since: Option<Duration>,
    pub(super) counts: Counts,
    /// The state by which the indices hold it.
    pub(super) indexed: Indexed,
}

/// The part of a worker's state that the indices hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Indexed {
    /// True if it gets leases or works on one.
    pub(super) is_usable: bool,
    /// The number of leases that it holds, if it has room for one more.
    pub(super) load: Option<usize>,
}

impl Worker {
    /// Creates a worker that may hold `room` leases at once, at least 1.
    pub(super) fn new(room: usize) -> Self {
        Self {
            room: room.max(1),
            held: BTreeMap::new(),
            overdue: BTreeMap::new(),
            failures: 0,
            is_set_aside: false,
            busy_since: None,
            counts: Counts::default(),
            indexed: Indexed::default(),
        }
    }

    /// Returns true if the worker gets leases or works on one.
    pub(super) fn is_usable(&self) -> bool {
        !self.is_set_aside && self.overdue.is_empty()
    }

    pub(super) fn has_room(&self) -> bool {
        self.is_usable() && self.held.len() < self.room
    }

    /// Returns the part of its present state that the indices hold.
    pub(super) fn to_index(&self) -> Indexed {
        Indexed { is_usable: self.is_usable(), load: self.has_room().then_some(self.held.len()) }
    }

    /// Counts a lease that the worker did not answer.
    pub(super) fn blame(&mut self, most: u32) {
        self.failures += 1;
        self.is_set_aside |= self.failures >= most;
    }

    /// Counts the time in which the worker held a lease, once it holds none.
    pub(super) fn settle(&mut self, now: Duration) {
        if let Some(since) = self.busy_since.filter(|_| self.held.is_empty()) {
            self.counts.busy += now.saturating_sub(since);
            self.busy_since = None;
        }
    }
}
