//! Several strategies by turns.

use crate::options::{OptionSpec, Options, StrategyError};
use crate::techniques::{MEANING, Techniques};
use tunesmith_core::{Request, Rng, Searcher, Told, View};

/// Several strategies that ask by turns, one request each: the baseline for
/// [`Bandit`](crate::Bandit). ATF's round robin is
/// `techniques=annealing+differential_evolution+pattern+torczon`, which is what the directive
/// `#atf::search_technique round_robin` chooses. The default has three of these.
///
/// Every technique is told every evaluation. A technique that has nothing to ask loses its turn.
/// The search ends when no technique has anything to ask. Cost per evaluation: the cost of the
/// techniques.
pub struct RoundRobin {
    techniques: Techniques,
    /// The technique whose turn is next.
    next: usize,
}

impl RoundRobin {
    pub(crate) const OPTIONS: &'static [OptionSpec] =
        &[OptionSpec { name: "techniques", default: "pattern+torczon+annealing", meaning: MEANING }];

    pub(crate) fn from_options(options: &Options<'_>) -> Result<Self, StrategyError> {
        Ok(Self { techniques: Techniques::from_options("round_robin", options)?, next: 0 })
    }
}

impl Searcher for RoundRobin {
    fn ask(&mut self, view: &View<'_>, _room: usize, rng: &mut Rng) -> Vec<Request> {
        // Propose one at a time: only earlier requests count as known.
        let (next, count) = (self.next, self.techniques.len());
        let Some((technique, request)) = self.techniques.ask((0..count).map(|turn| (next + turn) % count), view, rng)
        else {
            return Vec::new();
        };
        self.next = (technique + 1) % count;
        vec![request]
    }

    fn tell(&mut self, view: &View<'_>, told: &Told<'_>) {
        self.techniques.tell(view, told);
    }
}
