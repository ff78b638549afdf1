//! The simulated workers of a recording.

use std::collections::VecDeque;
use std::time::Duration;
use tunesmith_core::Request;

/// Equal workers that evaluate requests at the same time, in simulated time. A request waits for a
/// free worker in the order submitted.
#[derive(Debug)]
pub(super) struct Workers {
    count: usize,
    waiting: VecDeque<Request>,
    /// The requests under evaluation, each with its end.
    running: VecDeque<(Duration, Request)>,
}

impl Workers {
    /// Creates `count` workers, at least one.
    pub(super) fn new(count: usize) -> Self {
        Self { count: count.max(1), waiting: VecDeque::new(), running: VecDeque::new() }
    }

    pub(super) fn submit(&mut self, request: Request) {
        self.waiting.push_back(request);
    }

    /// Drops all requests.
    pub(super) fn cancel(&mut self) {
        self.waiting.clear();
        self.running.clear();
    }

    /// Starts what free workers can take at `now`, and returns the request that ends first, with its
    /// end. Of equal ends, the request submitted first comes first. `None` if there is no request.
    pub(super) fn next(
        &mut self,
        now: Duration,
        duration: impl Fn(Request) -> Duration,
    ) -> Option<(Duration, Request)> {
        while self.running.len() < self.count {
            let Some(request) = self.waiting.pop_front() else { break };
            self.running.push_back((now + duration(request), request));
        }
        let first = (0..self.running.len()).min_by_key(|at| self.running[*at].0)?;
        self.running.remove(first)
    }
}

impl Default for Workers {
    fn default() -> Self {
        Self::new(1)
    }
}
