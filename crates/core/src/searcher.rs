//! The interface of a strategy: a value that is asked and told.

use crate::{Evaluation, History, Request};
use std::collections::HashSet;
use std::time::Duration;
use tunesmith_space::{ConfigId, Space};

/// The random generator of a run. A run has one, seeded and passed down.
pub type Rng = rand_xoshiro::Xoshiro256PlusPlus;

/// Maximum number of repeated requests in a row. A strategy that asks only for known evaluations
/// this often will not ask for anything new.
pub(crate) const MAX_REPEATS: u64 = 10_000;

/// Decides which configurations to evaluate next.
///
/// A searcher never calls the device, reads no clock and keeps no generator of its own. The same
/// seed and the same answers give the same requests, on a live device as on a recording.
///
/// The tuner tells it every evaluation as it is delivered. A single device delivers in the order
/// asked, several devices in any order: the same seed and the same order of deliveries give the same
/// requests. Evaluations that it did not ask for, the default and the start configurations, come
/// first.
///
/// ```
/// # use tunesmith_core::*;
/// /// Walks the space from its first configuration to its last.
/// #[derive(Default)]
/// struct Exhaustive(u128);
/// impl Searcher for Exhaustive {
///     fn ask(&mut self, view: &View<'_>, room: usize, _: &mut Rng) -> Vec<Request> {
///         let first = self.0;
///         let ids = (first..first + room as u128).map_while(|rank| view.space().id(rank));
///         let requests: Vec<Request> = ids.map(Request::timed).collect();
///         self.0 += requests.len() as u128;
///         requests
///     }
/// }
/// ```
pub trait Searcher: Send {
    /// Returns at most `room` configurations to evaluate next. `room` is at least 1. A strategy
    /// that needs an answer before it can continue returns fewer, or none, while requests are in
    /// flight. An empty answer with nothing in flight ends the run.
    fn ask(&mut self, view: &View<'_>, room: usize, rng: &mut Rng) -> Vec<Request>;

    /// Receives one evaluation.
    fn tell(&mut self, view: &View<'_>, told: &Told<'_>) {
        let _ = (view, told);
    }

    /// Returns and forgets the notes to the user, a sentence each. The default has none.
    fn take_notes(&mut self) -> Vec<String> {
        Vec::new()
    }
}

/// An evaluation that a searcher is told.
#[derive(Clone, Copy, Debug)]
pub struct Told<'a> {
    /// The measurement.
    pub evaluation: &'a Evaluation,
    /// Its score: smaller is better. `None` if the configuration failed.
    pub score: Option<f64>,
}

/// The standing of a configuration in the search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Standing {
    /// Not asked yet.
    New,
    /// In flight.
    InFlight,
    /// Told, with its score unless it failed.
    Told(Option<f64>),
}

/// A searcher's view of the run.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    space: &'a Space,
    history: &'a History,
    in_flight: &'a HashSet<Request>,
    budget: Option<u64>,
    time: Option<Duration>,
}

impl<'a> View<'a> {
    pub(crate) fn new(
        space: &'a Space,
        history: &'a History,
        in_flight: &'a HashSet<Request>,
        budget: Option<u64>,
    ) -> Self {
        Self { space, history, in_flight, budget, time: None }
    }

    /// Returns the view of a run whose search ends after `time`.
    pub(crate) fn within(self, time: Option<Duration>) -> Self {
        Self { time, ..self }
    }

    /// Returns the share of the search's time that was used up at the latest answer, from 0 to 1. `None` unless time alone
    /// limits the run.
    pub fn time_used(&self) -> Option<f64> {
        let limit = self.time?.as_secs_f64();
        let latest = self.history.iter().next_back().map_or(0.0, |scored| scored.evaluation.clock.as_secs_f64());
        Some(if limit > 0.0 { (latest / limit).min(1.0) } else { 1.0 })
    }

    /// Returns the number of evaluations after which the run certainly ends, if its stop condition
    /// implies one. Cooling schedules use it.
    pub fn budget(&self) -> Option<u64> {
        self.budget
    }

    /// Returns the space to search.
    pub fn space(&self) -> &'a Space {
        self.space
    }

    /// Returns the evaluations told so far.
    pub fn history(&self) -> &'a History {
        self.history
    }

    /// Returns true if `request` was told already or is in flight. To ask it again yields nothing
    /// new.
    pub fn is_known(&self, request: Request) -> bool {
        self.in_flight.contains(&request) || self.history.get(request).is_some()
    }

    /// Returns true if `config` was told already or is in flight, at any depth.
    pub fn is_measured(&self, config: ConfigId) -> bool {
        self.is_known(Request::timed(config)) || self.is_known(Request::profiled(config))
    }

    /// Returns the number of requests that were told or are in flight.
    pub fn known(&self) -> usize {
        self.history.len() + self.in_flight.len()
    }

    /// Returns true if any request is in flight.
    pub fn is_waiting(&self) -> bool {
        !self.in_flight.is_empty()
    }

    /// Returns the standing of a configuration. Costs a hash.
    pub fn standing(&self, config: ConfigId) -> Standing {
        match self.history.of(config) {
            Some(scored) => Standing::Told(scored.score),
            None if self.is_known(Request::timed(config)) => Standing::InFlight,
            None => Standing::New,
        }
    }
}
