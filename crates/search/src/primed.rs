//! A strategy with given first configurations.

use std::collections::{HashSet, VecDeque};
use tunesmith_core::{Request, Rng, Searcher, Told, View};
use tunesmith_space::ConfigId;

/// Asks the candidates of a model first, best first, until enough of them were correct. The next
/// candidate replaces one that fails (Bergstra, Pinto and Cox, Machine learning for predictive
/// auto-tuning with boosted regression trees, 2012, section 6). Then another strategy continues. It
/// is told every evaluation.
pub struct Primed {
    candidates: VecDeque<ConfigId>,
    /// Number of correct candidates still wanted.
    wanted: usize,
    asked: HashSet<ConfigId>,
    inner: Box<dyn Searcher>,
}

impl Primed {
    /// Asks the `candidates` before `inner`, best first, until `wanted` of them were correct.
    pub fn new(candidates: impl IntoIterator<Item = ConfigId>, wanted: usize, inner: Box<dyn Searcher>) -> Self {
        Self { candidates: candidates.into_iter().collect(), wanted, asked: HashSet::new(), inner }
    }
}

impl Searcher for Primed {
    fn ask(&mut self, view: &View<'_>, room: usize, rng: &mut Rng) -> Vec<Request> {
        let mut requests = Vec::new();
        while requests.len() < room.min(self.wanted) {
            let Some(candidate) = self.candidates.pop_front() else { break };
            let request = Request::timed(candidate);
            if !view.is_known(request) {
                self.asked.insert(candidate);
                requests.push(request);
            }
        }
        if requests.is_empty() { self.inner.ask(view, room, rng) } else { requests }
    }

    fn tell(&mut self, view: &View<'_>, told: &Told<'_>) {
        if told.score.is_some() && self.asked.contains(&told.evaluation.request.config) {
            self.wanted = self.wanted.saturating_sub(1);
        }
        self.inner.tell(view, told);
    }
}
