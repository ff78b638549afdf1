//! The number of requests in flight: a fixed one, or as many as keep a changing fleet busy.
//!
//! Requests depend on when the room changed. The journal therefore keeps the changes with the next
//! answer, and a resumed run makes them before it takes that answer over.

use crate::Request;

/// Number of waits for an answer, for each request in flight, after which a part of the evaluator
/// without work is a lasting state. A strategy may run out of requests for a moment, such as at the end
/// of a generation.
const LASTING: usize = 4;

/// The room.
#[derive(Debug)]
pub(super) struct Room {
    /// The number of requests that may be in flight.
    pub(super) now: usize,
    pub(super) follows: bool,
    /// The changes since the latest answer.
    changes: Vec<usize>,
    /// The answer of the resumed journal whose changes were made.
    pub(super) repeated: Option<Request>,
    pub(super) busy: Busy,
}

/// The most requests that were in flight at the latest waits.
#[derive(Debug, Default)]
pub(super) struct Busy {
    most: usize,
    waits: usize,
}

impl Busy {
    /// Counts a wait. Returns the most requests in flight, if so few were in flight for long.
    pub(super) fn count(&mut self, in_flight: usize) -> Option<usize> {
        self.most = self.most.max(in_flight);
        self.waits += 1;
        let is_lasting = self.waits >= LASTING * self.most;
        is_lasting.then(|| std::mem::take(self).most)
    }
}

impl Room {
    /// Creates a room for `now` requests, which `follows` the evaluator or stays. The first answer of a
    /// run that `begins` is kept with the room, so that a resumed run knows that it may follow.
    pub(super) fn new(now: usize, follows: bool, begins: bool) -> Self {
        let changes = if follows && begins { vec![now] } else { Vec::new() };
        Self { now, follows, changes, repeated: None, busy: Busy::default() }
    }

    /// Returns the present room, if it follows the evaluator.
    pub(super) fn to_follow(&self) -> Option<usize> {
        self.follows.then_some(self.now)
    }

    /// Changes the room. The next answer is kept with the change.
    pub(super) fn change(&mut self, room: usize) {
        self.now = room.max(1);
        self.changes.push(self.now);
    }

    /// Takes the changes since the latest answer.
    pub(super) fn take_changes(&mut self) -> Vec<usize> {
        std::mem::take(&mut self.changes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_requests_in_flight_are_lasting_only_if_no_wait_has_more() {
        let mut busy = Busy::default();
        let mut said = Vec::new();
        for in_flight in [3, 1, 2, 3, 3, 1, 1, 1, 1, 1, 1, 1, 2] {
            said.extend(busy.count(in_flight));
        }
        assert_eq!(said, [3]);
        assert_eq!(busy.count(16), None, "one wait with all of them in flight begins anew");
    }
}
