//! The simulated machine of a recording.

use super::cores::{Answer, Cores, Cost};
use super::workers::Workers;
use std::time::Duration;
use tunesmith_core::Request;

/// The order in which requests are answered, and the time that passes until then.
#[derive(Debug)]
pub(super) enum Schedule {
    /// Equal devices evaluate at the same time.
    Workers(Workers),
    /// The cores of one machine compile, and one device measures.
    Cores(Cores),
}

impl Schedule {
    pub(super) fn submit(&mut self, request: Request) {
        match self {
            Self::Workers(workers) => workers.submit(request),
            Self::Cores(cores) => cores.submit(request),
        }
    }

    /// Limits compilations, if cores are simulated.
    pub(super) fn limit(&mut self, limit: Option<Duration>) {
        match self {
            Self::Workers(_) => {}
            Self::Cores(cores) => cores.limit(limit),
        }
    }

    /// Drops all requests.
    pub(super) fn cancel(&mut self) {
        match self {
            Self::Workers(workers) => workers.cancel(),
            Self::Cores(cores) => cores.cancel(),
        }
    }

    /// Returns the answer that comes next after `now`. `None` if there is no request.
    pub(super) fn next(&mut self, now: Duration, cost: impl Fn(Request) -> Cost) -> Option<Answer> {
        match self {
            Self::Workers(workers) => {
                let (end, request) = workers.next(now, |request| cost(request).total)?;
                Some(Answer { request, end, is_aside: false })
            }
            Self::Cores(cores) => cores.next(now, cost),
        }
    }

    /// Returns the time of all cores together so far. `None` if no cores are simulated.
    pub(super) fn busy(&self) -> Option<Duration> {
        match self {
            Self::Workers(_) => None,
            Self::Cores(cores) => Some(cores.busy()),
        }
    }
}

impl Default for Schedule {
    fn default() -> Self {
        Self::Workers(Workers::default())
    }
}
