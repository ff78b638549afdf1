//! Requests in flight.

use crate::Request;
use std::collections::{HashSet, VecDeque};

/// The requests that were asked and not yet answered. They are answered in the order asked, whether
/// by the evaluator or from the resumed journal. A resumed run must tell answers in the same order
/// as an uninterrupted one.
#[derive(Default)]
pub(super) struct Queue {
    waiting: VecDeque<(Request, AnswerFrom)>,
    in_flight: HashSet<Request>,
}

/// The source of the answer to a request.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum AnswerFrom {
    /// The evaluator measures it.
    Evaluator,
    /// The resumed journal has it.
    Journal,
    /// It was already asked in this run.
    Told,
}

impl Queue {
    pub(super) fn push(&mut self, request: Request, from: AnswerFrom) {
        self.in_flight.insert(request);
        self.waiting.push_back((request, from));
    }

    /// Takes the oldest request.
    pub(super) fn pop(&mut self) -> Option<(Request, AnswerFrom)> {
        self.waiting.pop_front()
    }

    /// Marks `request` as answered.
    pub(super) fn answered(&mut self, request: Request) {
        self.in_flight.remove(&request);
    }

    pub(super) fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Returns the number of requests that will tell something new.
    pub(super) fn fresh(&self) -> usize {
        self.waiting.iter().filter(|(_, from)| *from != AnswerFrom::Told).count()
    }

    pub(super) fn in_flight(&self) -> &HashSet<Request> {
        &self.in_flight
    }
}
