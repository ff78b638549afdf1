//! Several strategies that search together: what the bandit and the round robin share.

use crate::options::{Options, StrategyError, split_outside};
use tunesmith_core::{Request, Rng, Searcher, Told, View};

/// Strategies of which each is told every evaluation, whoever asked it.
pub(crate) struct Techniques {
    searchers: Vec<Box<dyn Searcher>>,
    /// The requests not yet told, each with the technique that asked it.
    asked: Vec<(Request, usize)>,
}

/// So many known configurations in a row end a technique's turn: as in the loop of a run, which
/// ends then.
const MAX_REPEATS: usize = 10_000;

/// The meaning of the option `techniques`.
pub(crate) const MEANING: &str =
    "strategies joined by `+`, each with its options if need be: annealing+torczon(edge=0.25)";

impl Techniques {
    /// Returns those that the option `techniques` names.
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

    /// Returns who waits for an answer, once for each request.
    pub(crate) fn waiting(&self) -> impl Iterator<Item = usize> + '_ {
        self.asked.iter().map(|(_, technique)| *technique)
    }

    /// Returns the first of the techniques in `order` that has something new to ask, and what.
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

    /// Returns what `technique` asks. It is told at once what is known, and goes on.
    fn new_request(&mut self, technique: usize, view: &View<'_>, rng: &mut Rng) -> Option<Request> {
        let searcher = &mut self.searchers[technique];
        for _ in 0..MAX_REPEATS {
            let request = searcher.ask(view, 1, rng).first().copied()?;
            if !view.is_known(request) {
                return Some(request);
            }
            // What is in flight will be told to all.
            let known = view.history().get(request)?;
            searcher.tell(view, &Told { evaluation: &known.evaluation, score: known.score });
        }
        None
    }

    /// Tells all; returns who asked, if one of them did.
    pub(crate) fn tell(&mut self, view: &View<'_>, told: &Told<'_>) -> Option<usize> {
        self.searchers.iter_mut().for_each(|searcher| searcher.tell(view, told));
        let position = self.asked.iter().position(|(request, _)| *request == told.evaluation.request)?;
        Some(self.asked.remove(position).1)
    }
}
