//! Random search.

use crate::options::{OptionSpec, Options, StrategyError};
use crate::unseen::Unseen;
use tunesmith_core::{Request, Rng, Searcher, View};

/// Uniform random configurations.
///
/// Without replacement, every configuration is asked once, and the search ends when none is left.
/// This is the random-search of CLTune (section III-B). With replacement, a configuration may be
/// drawn again, as in the baselines of some papers. Repeats are answered from the history and cost
/// nothing.
///
/// Cost: about one uniform sample of the space per configuration.
#[derive(Debug, Default)]
pub struct Random {
    replacement: bool,
    unseen: Unseen,
}

impl Random {
    pub(crate) const OPTIONS: &'static [OptionSpec] = &[OptionSpec {
        name: "replacement",
        default: "false",
        meaning: "true or false: true draws configurations with replacement",
    }];

    /// Returns a random search, with `replacement` or without.
    pub fn new(replacement: bool) -> Self {
        Self { replacement, unseen: Unseen::default() }
    }

    pub(crate) fn from_options(options: &Options<'_>) -> Result<Self, StrategyError> {
        Ok(Self::new(options.truth("replacement")?))
    }

    /// Returns true if each configuration is drawn once.
    pub(crate) fn draws_each_once(options: &Options<'_>) -> Result<bool, StrategyError> {
        Ok(!options.truth("replacement")?)
    }
}

impl Searcher for Random {
    fn ask(&mut self, view: &View<'_>, _room: usize, rng: &mut Rng) -> Vec<Request> {
        // Propose one at a time: only earlier requests count as known.
        let drawn = if self.replacement { Some(view.space().sample(rng)) } else { self.unseen.draw(view, rng) };
        drawn.map(Request::timed).into_iter().collect()
    }
}
