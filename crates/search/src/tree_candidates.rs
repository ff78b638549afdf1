//! The candidates of tree-based strategies, as rows of a table.

use crate::candidates::{is_listed, neighbours};
use crate::gaussian_process::features::Features;
use std::borrow::Cow;
use tunesmith_core::{Request, Rng, View};
use tunesmith_model::{Column, Table};
use tunesmith_space::{ConfigId, Space};

/// Number of random configurations to predict in a larger space.
const DRAWS: usize = 2048;
/// Number of best configurations whose neighbours are predicted in a larger space.
const LEADERS: usize = 5;
/// Maximum number of neighbours of one of them. If there are more, a random part is taken.
const NEIGHBOURS: usize = 256;

/// Configurations and their rows for the trees.
#[derive(Clone, Debug)]
pub(crate) struct Listing {
    pub(crate) configs: Vec<ConfigId>,
    pub(crate) table: Table,
}

/// The source of candidates, made once for a space. The features are those of the Gaussian process.
/// Powers of two of a parameter and products of parameters spare a tree many splits.
#[derive(Debug)]
pub(crate) struct TreeCandidates {
    features: Features,
    columns: Vec<Column>,
    whole: Option<Listing>,
}

impl TreeCandidates {
    /// Returns the source. Lists the space if it is small enough.
    pub(crate) fn new(space: &Space) -> Self {
        let features = Features::new(space);
        let columns = (0..features.features().len()).map(|index| Column::ordinal(index.to_string())).collect();
        let mut candidates = Self { features, columns, whole: None };
        if is_listed(space) {
            let configs: Vec<ConfigId> = space.iter().collect();
            let table = candidates.table(space, &configs);
            candidates.whole = Some(Listing { configs, table });
        }
        candidates
    }

    /// Returns the rows of these configurations, in the given order.
    pub(crate) fn table(&self, space: &Space, configs: &[ConfigId]) -> Table {
        let rows = self.features.rows(space, configs);
        let mut table = Table::new(self.columns.clone());
        for row in 0..rows.len() {
            let levels = rows.row(row).into_iter().zip(self.features.features());
            let numbers: Vec<f64> = levels.map(|(level, feature)| feature.levels()[usize::from(level)]).collect();
            table.push(&numbers);
        }
        table
    }

    /// Returns the candidates; some of them may be known. They are the whole space, or random
    /// configurations and the neighbours of `leaders`, which holds the best configurations, best
    /// first.
    pub(crate) fn offered(&self, view: &View<'_>, leaders: &[ConfigId], rng: &mut Rng) -> Cow<'_, Listing> {
        if let Some(whole) = &self.whole {
            return Cow::Borrowed(whole);
        }
        let space = view.space();
        let leaders = leaders.iter().take(LEADERS);
        let mut configs: Vec<ConfigId> =
            leaders.flat_map(|&leader| neighbours(space, leader, NEIGHBOURS, rng)).collect();
        configs.extend((0..DRAWS).map(|_| space.sample(rng)));
        configs.sort_unstable();
        configs.dedup();
        let table = self.table(space, &configs);
        Cow::Owned(Listing { configs, table })
    }

    /// Returns the features of the space's configurations.
    pub(crate) fn features(&self) -> &Features {
        &self.features
    }
}

/// Returns true if the configuration is neither told nor in flight.
pub(crate) fn is_new(view: &View<'_>, config: ConfigId) -> bool {
    !view.is_known(Request::timed(config))
}

/// The evaluations told to a searcher, each configuration once.
#[derive(Debug, Default)]
pub(crate) struct Evaluations {
    pub(crate) configs: Vec<ConfigId>,
    /// The scores. `None` is a failure.
    pub(crate) scores: Vec<Option<f64>>,
    seen: std::collections::HashSet<ConfigId>,
}

impl Evaluations {
    /// Adds an evaluation, unless its configuration was added before.
    pub(crate) fn add(&mut self, config: ConfigId, score: Option<f64>) {
        if self.seen.insert(config) {
            self.configs.push(config);
            self.scores.push(score);
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.configs.len()
    }

    /// Returns the number of correct evaluations.
    pub(crate) fn successes(&self) -> usize {
        self.scores.iter().flatten().count()
    }
}
