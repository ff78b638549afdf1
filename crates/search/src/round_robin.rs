//! Several strategies by turns.

use crate::options::{OptionSpec, Options, StrategyError};
use crate::techniques::{MEANING, Techniques};
use tunesmith_core::{Request, Rng, Searcher, Told, View};

/// Several strategies that ask by turns, one request each: ATF's round robin, and the baseline for
/// [`Bandit`](crate::Bandit).
///
/// Every technique is told every evaluation. One that has nothing to ask loses its turn; the search
/// ends when none has. Cost per evaluation: that of the techniques.
pub struct RoundRobin {
    techniques: Techniques,
    /// The next in turn.
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
        // One at a time, since only what was asked before counts as known.
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
