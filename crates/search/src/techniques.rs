//! Several strategies that search together, for the bandit and the round robin.

use crate::options::{Options, StrategyError, split_outside};
use tunesmith_core::{Request, Rng, Searcher, Told, View};

/// A set of strategies. Each is told every evaluation, whichever of them asked for it.
pub(crate) struct Techniques {
    searchers: Vec<Box<dyn Searcher>>,
    /// The requests in flight, each with the technique that asked it.
    asked: Vec<(Request, usize)>,
}

/// Maximum number of known configurations that a technique may ask in a row. A run ends at the same
/// number.
const MAX_REPEATS: usize = 10_000;

/// The meaning of the option `techniques`.
pub(crate) const MEANING: &str =
    "strategies joined by `+`, each with its options if need be: annealing+torczon(edge=0.25)";

impl Techniques {
    /// Returns the techniques of the option `techniques`.
    pub(crate) fn from_options(strategy: &'static str, options: &Options<'_>) -> Result<Self, StrategyError> {
        let text = options.text("techniques")?;
        let parts = split_outside(&text, '+').filter(|parts| parts.iter().all(|part| !part.trim().is_empty()));
        let parts = parts.ok_or_else(|| StrategyError::BadValue {
            strategy,
            option: "techniques",
            value: text.clone(),
            expected: MEANING.to_string(),
        })?;
        let searchers = parts.into_iter().map(|part| options.searcher(part.trim())).collect::<Result<_, _>>()?;
        Ok(Self { searchers, asked: Vec::new() })
    }

    pub(crate) fn len(&self) -> usize {
        self.searchers.len()
    }

    /// Returns the technique of each request in flight.
    pub(crate) fn waiting(&self) -> impl Iterator<Item = usize> + '_ {
        self.asked.iter().map(|(_, technique)| *technique)
    }

    /// Returns the first technique in `order` that has a new request, and the request.
    pub(crate) fn ask(
        &mut self,
        order: impl IntoIterator<Item = usize>,
        view: &View<'_>,
        rng: &mut Rng,
    ) -> Option<(usize, Request)> {
        let (technique, request) =
            order.into_iter().find_map(|technique| Some((technique, self.new_request(technique, view, rng)?)))?;
        self.asked.push((request, technique));
        Some((technique, request))
    }

    /// Returns the next new request of `technique`. Tells it known evaluations at once.
    fn new_request(&mut self, technique: usize, view: &View<'_>, rng: &mut Rng) -> Option<Request> {
        let searcher = &mut self.searchers[technique];
        for _ in 0..MAX_REPEATS {
            let request = searcher.ask(view, 1, rng).first().copied()?;
            if !view.is_known(request) {
                return Some(request);
            }
            // Evaluations in flight are told to all techniques later.
            let known = view.history().get(request)?;
            searcher.tell(view, &Told { evaluation: &known.evaluation, score: known.score });
        }
        None
    }

    /// Tells all techniques. Returns the one that asked for this evaluation, if any.
    pub(crate) fn tell(&mut self, view: &View<'_>, told: &Told<'_>) -> Option<usize> {
        self.searchers.iter_mut().for_each(|searcher| searcher.tell(view, told));
        let position = self.asked.iter().position(|(request, _)| *request == told.evaluation.request)?;
        Some(self.asked.remove(position).1)
    }
}
