//! A search that its user drives: ask for configurations, tell their costs.

use crate::searcher::MAX_REPEATS;
use crate::{Evaluation, Failure, FailureKind, History, Measurement, Request, Rng, Searcher, Told, View};
use rand::SeedableRng;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;
use tunesmith_space::{ConfigId, Space};

/// A search whose user evaluates the configurations.
///
/// [`ask`](Self::ask) returns configurations, and [`tell`](Self::tell) takes the cost of each, in any
/// order. The same seed, the same sizes of questions and the same order of answers give the same
/// configurations. [`Tuner`](crate::Tuner) is the loop that also measures, keeps and judges.
///
/// ```
/// # use std::sync::Arc;
/// # use tunesmith_core::*;
/// # use tunesmith_space::{Parameter, Space, Values};
/// # #[derive(Default)]
/// # struct Exhaustive(u128);
/// # impl Searcher for Exhaustive {
/// #     fn ask(&mut self, view: &View<'_>, room: usize, _: &mut Rng) -> Vec<Request> {
/// #         let first = self.0;
/// #         self.0 += room as u128;
/// #         (first..self.0).map_while(|rank| view.space().id(rank)).map(Request::timed).collect()
/// #     }
/// # }
/// let tile = Parameter::new("TILE", Values::pow2(1, 64)?)?;
/// let space = Arc::new(Space::builder().parameter(tile).build()?);
/// let mut search = AskTell::new(Arc::clone(&space), Box::new(Exhaustive::default()), 1);
/// loop {
///     let asked = search.ask(4);
///     if asked.is_empty() {
///         break;
///     }
///     for config in asked {
///         let cost = 1.0 + config.rank().abs_diff(3) as f64; // run it here
///         search.tell(config, Ok(cost))?;
///     }
/// }
/// assert_eq!(search.best(), Some((space.id(3).unwrap(), 1.0)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct AskTell {
    space: Arc<Space>,
    searcher: Box<dyn Searcher>,
    history: History,
    in_flight: HashSet<Request>,
    /// The number of times that a request in flight was asked again. The searcher is told once for each.
    again: HashMap<Request, usize>,
    rng: Rng,
    budget: Option<u64>,
}

/// The reason why an answer was refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum TellError {
    /// The configuration was told before.
    #[error("this configuration was told before; a search takes one answer for each")]
    ToldTwice,
    /// The cost cannot be compared with others. The configuration counts as one that failed.
    #[error("a cost must be a finite number, and {0} is not; the configuration counts as failed")]
    NotACost(f64),
    /// The configuration belongs to another space.
    #[error("the space of this search has no configuration {0}")]
    NotInSpace(u128),
}

impl AskTell {
    /// Creates a search of `space` by `searcher`.
    pub fn new(space: Arc<Space>, searcher: Box<dyn Searcher>, seed: u64) -> Self {
        Self {
            space,
            searcher,
            history: History::default(),
            in_flight: HashSet::new(),
            again: HashMap::new(),
            rng: Rng::seed_from_u64(seed),
            budget: None,
        }
    }

    /// Sets the number of evaluations that the user intends. Cooling schedules use it.
    #[must_use]
    pub fn with_budget(mut self, budget: u64) -> Self {
        self.budget = Some(budget);
        self
    }

    /// Returns at most `room` configurations to evaluate. None of them was told or is in flight.
    ///
    /// An empty answer while configurations are in flight means that the strategy waits for one of
    /// them. An empty answer with nothing in flight ends the search.
    pub fn ask(&mut self, room: usize) -> Vec<ConfigId> {
        let mut fresh = Vec::new();
        let mut repeats = 0_u64;
        while fresh.len() < room && repeats <= MAX_REPEATS {
            let view = View::new(&self.space, &self.history, &self.in_flight, self.budget);
            let requests = self.searcher.ask(&view, room - fresh.len(), &mut self.rng);
            if requests.is_empty() {
                break;
            }
            for request in requests {
                if self.history.get(request).is_some() {
                    repeats += 1;
                    self.teach(request);
                } else if self.in_flight.insert(request) {
                    fresh.push(request.config);
                } else {
                    repeats += 1;
                    *self.again.entry(request).or_default() += 1;
                }
            }
        }
        fresh
    }

    /// Takes the cost of `config`, or the reason why it has none. The configuration need not have
    /// been asked for.
    ///
    /// # Errors
    /// Refuses a second answer for a configuration, and a configuration that the space does not hold; neither changes
    /// anything. Refuses a cost that is not finite, too. The configuration then counts as one that failed at run
    /// time, because a strategy that waits for an answer would wait for ever.
    pub fn tell(&mut self, config: ConfigId, cost: Result<f64, Failure>) -> Result<(), TellError> {
        if self.space.id(config.rank()) != Some(config) {
            return Err(TellError::NotInSpace(config.rank()));
        }
        let profiled = Request::profiled(config);
        let request = if self.in_flight.contains(&profiled) { profiled } else { Request::timed(config) };
        if self.history.get(request).is_some() {
            return Err(TellError::ToldTwice);
        }
        let wrong = cost.as_ref().ok().copied().filter(|cost| !cost.is_finite());
        let cost = match wrong {
            Some(wrong) => Err(Failure::new(FailureKind::Runtime, format!("its cost {wrong} is no finite number"))),
            None => cost,
        };
        self.record(request, cost);
        wrong.map_or(Ok(()), |wrong| Err(TellError::NotACost(wrong)))
    }

    /// Notes the answer to `request` and tells it to the searcher, as often as it asked.
    fn record(&mut self, request: Request, cost: Result<f64, Failure>) {
        let score = cost.as_ref().ok().copied();
        let measurement = Measurement { times_ms: score.into_iter().collect(), ..Measurement::default() };
        let failure = cost.err();
        let evaluation = Evaluation { request, failure, measurement, clock: Duration::ZERO, proposed: None };
        self.history.insert(evaluation, score);
        self.in_flight.remove(&request);
        for _ in 0..=self.again.remove(&request).unwrap_or_default() {
            self.teach(request);
        }
    }

    /// Tells the searcher what is known about `request`.
    fn teach(&mut self, request: Request) {
        let Some(scored) = self.history.get(request) else { return };
        let view = View::new(&self.space, &self.history, &self.in_flight, self.budget);
        self.searcher.tell(&view, &Told { evaluation: &scored.evaluation, score: scored.score });
    }

    /// Returns the configuration of the least cost told so far, with this cost.
    pub fn best(&self) -> Option<(ConfigId, f64)> {
        let best = self.history.best()?;
        Some((best.evaluation.request.config, best.score?))
    }

    /// Returns the number of configurations that were told, failures included.
    pub fn told(&self) -> usize {
        self.history.len()
    }

    /// Returns the number of configurations that failed with `kind`.
    pub fn failed(&self, kind: FailureKind) -> usize {
        self.history.failed(kind)
    }

    /// Returns the number of configurations that were asked for and not told yet.
    pub fn in_flight(&self) -> usize {
        self.in_flight.len()
    }

    /// Returns all that was told, in this order.
    pub fn history(&self) -> &History {
        &self.history
    }

    /// Returns the space.
    pub fn space(&self) -> &Arc<Space> {
        &self.space
    }
}
