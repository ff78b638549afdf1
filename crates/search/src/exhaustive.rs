//! Exhaustive search.

use tunesmith_core::{Request, Rng, Searcher, View};

/// Exhaustive search: every configuration once, in the order of the space (CLTune's full-search).
///
/// It does not ask known configurations (the default, a resumed part). Cost: one unranking per
/// configuration.
#[derive(Debug, Default)]
pub struct Exhaustive {
    next: u128,
}

impl Searcher for Exhaustive {
    fn ask(&mut self, view: &View<'_>, room: usize, _rng: &mut Rng) -> Vec<Request> {
        let next = &mut self.next;
        let ids = std::iter::from_fn(|| {
            let id = view.space().id(*next)?;
            *next += 1;
            Some(Request::timed(id))
        });
        ids.filter(|request| !view.is_known(*request)).take(room).collect()
    }
}
