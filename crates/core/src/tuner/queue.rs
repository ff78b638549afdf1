//! Requests in flight.

use super::pending::Pending;
use crate::Request;
use std::collections::{HashSet, VecDeque};

/// The requests that were asked and not yet answered, in the order asked.
///
/// Answers come in any order. A resumed run must tell them in the same order as an uninterrupted
/// one, and the journal keeps that order.
#[derive(Default)]
pub(super) struct Queue {
    waiting: VecDeque<(Request, AnswerFrom)>,
    in_flight: HashSet<Request>,
}

/// The source of the answer to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

    /// Returns the request whose turn is next, and the source of its answer.
    ///
    /// A repeated request is answered once it is the oldest: the answer to its first occurrence was
    /// told before. Otherwise the answers of the journal come first, in the order of the journal.
    /// Otherwise an answer of the evaluator is due. The oldest of its requests then stands for
    /// whichever the evaluator answers first.
    pub(super) fn next(&self, recorded: &Pending) -> Option<(Request, AnswerFrom)> {
        let oldest = *self.waiting.front()?;
        if oldest.1 == AnswerFrom::Told {
            return Some(oldest);
        }
        let of_journal = self.waiting.iter().filter(|(_, from)| *from == AnswerFrom::Journal);
        let earliest = of_journal.min_by_key(|(request, _)| recorded.position(*request));
        // The oldest is not a repeated one, so that there is a request of the journal or of the
        // evaluator.
        earliest.copied().or_else(|| self.waiting.iter().find(|(_, from)| *from == AnswerFrom::Evaluator).copied())
    }

    /// Removes the oldest occurrence of `request`, which was answered.
    pub(super) fn answered(&mut self, request: Request) {
        if let Some(place) = self.waiting.iter().position(|(waiting, _)| *waiting == request) {
            self.waiting.remove(place);
        }
        self.in_flight.remove(&request);
    }

    /// Returns true if the evaluator is to answer `request`.
    pub(super) fn is_submitted(&self, request: Request) -> bool {
        self.waiting.contains(&(request, AnswerFrom::Evaluator))
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
