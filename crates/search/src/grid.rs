//! Search over the user's grid.

use crate::exhaustive::Exhaustive;
use crate::options::{OptionSpec, Options, StrategyError};
use std::sync::Arc;
use tunesmith_core::{Request, Rng, Searcher, View};
use tunesmith_space::ConfigId;

/// The configurations of the problem's grid, in its order. A grid lists the configurations that the
/// kernel's author considers worth trying (Bergstra, Pinto and Cox, Machine learning for predictive
/// auto-tuning with boosted regression trees, 2012, section 4.1). The run ends with the grid.
/// Without a grid, every value counts, and the run covers the whole space in its order.
#[derive(Debug)]
pub struct Grid {
    /// The grid and the number of its configurations already asked.
    listed: Option<(Arc<[ConfigId]>, usize)>,
    all: Exhaustive,
}

impl Grid {
    pub(crate) const OPTIONS: &'static [OptionSpec] = &[];

    pub(crate) fn from_options(options: &Options<'_>) -> Result<Self, StrategyError> {
        let listed = options.knowledge().grid.clone().map(|grid| (grid, 0));
        Ok(Self { listed, all: Exhaustive::default() })
    }
}

impl Searcher for Grid {
    fn ask(&mut self, view: &View<'_>, room: usize, rng: &mut Rng) -> Vec<Request> {
        let Some((grid, next)) = &mut self.listed else { return self.all.ask(view, room, rng) };
        let ids = std::iter::from_fn(|| {
            let id = grid.get(*next)?;
            *next += 1;
            Some(Request::timed(*id))
        });
        ids.filter(|request| !view.is_known(*request)).take(room).collect()
    }
}
