//! The only list of strategy names.

use crate::options::{OptionSpec, Options, StrategyError, suggestion};
use crate::profile_guided::ProfileGuided;
use crate::{
    Annealing, Bandit, BasinHopping, BoostedTrees, DifferentialEvolution, Exhaustive, GaussianProcess, Genetic, Grid,
    HillClimbing, IteratedLocalSearch, NelderMead, Pattern, Random, RegressionTree, RoundRobin, Swarm, Tabu, Torczon,
};
use tunesmith_core::Searcher;

/// A named strategy and its properties.
pub struct Strategy {
    /// The name that users write.
    pub name: &'static str,
    /// A description of one line for lists and help.
    pub summary: &'static str,
    /// The options and their defaults.
    pub options: &'static [OptionSpec],
    ends_by_itself: bool,
    begins_with_history: bool,
    takes_guide: bool,
    without_guide: Option<&'static str>,
    beats_random: bool,
    in_flight: usize,
    draws_each_once: fn(&Options<'_>) -> Result<bool, StrategyError>,
    pub(crate) build: fn(&Options<'_>) -> Result<Box<dyn Searcher>, StrategyError>,
}

impl Strategy {
    /// Returns true if the strategy works through a list and then ends. Without a stop condition,
    /// such a run continues to the end of the list.
    pub fn ends_by_itself(&self) -> bool {
        self.ends_by_itself
    }

    /// Returns true if the strategy begins with the best configurations of a history. Any other
    /// strategy can be [primed](crate::Primed) with them.
    pub fn begins_with_history(&self) -> bool {
        self.begins_with_history
    }

    /// Returns true if the strategy uses a counter model.
    pub fn takes_guide(&self) -> bool {
        self.takes_guide
    }

    /// Returns the strategy that replaces this one if there is no counter model. Only strategies
    /// made for a counter model have one.
    pub fn without_guide(&self) -> Option<&'static str> {
        self.without_guide
    }

    /// Returns true if the strategy is better than random search on recorded spaces of real
    /// kernels: after 100 evaluations it is nearer to the optimum on at least 7 of 9. The facade's
    /// test `strategies` checks this.
    pub fn beats_random(&self) -> bool {
        self.beats_random
    }

    /// Returns the most requests in flight that the strategy is known to use well: it has so many if
    /// it may, and searches about as well as with one. On recorded spaces of real kernels, the optimum
    /// over the best of 100 evaluations differs by at most .01, and at most 1.3
    /// times as many evaluations come within 1.05 of the optimum (`bench/results/search.md`). A
    /// strategy that needs no answers uses any number.
    pub fn in_flight(&self) -> usize {
        self.in_flight
    }

    /// Returns true if the strategy with `options` draws uniformly and each configuration once. The
    /// expectation of its best is then known exactly.
    pub(crate) fn draws_each_once(&self, options: &Options<'_>) -> Result<bool, StrategyError> {
        (self.draws_each_once)(options)
    }
}

/// The most requests in flight that strategies were measured with.
const MEASURED: usize = 8;

/// The usual properties of a strategy. An entry of the catalogue lists only its differences.
const USUAL: Strategy = Strategy {
    name: "",
    summary: "",
    options: &[],
    ends_by_itself: false,
    begins_with_history: false,
    takes_guide: false,
    without_guide: None,
    beats_random: true,
    in_flight: 1,
    draws_each_once: |_| Ok(false),
    build: |_| Ok(Box::new(Exhaustive::default())),
};

/// Returns all strategies, in the order of lists.
pub fn catalogue() -> &'static [Strategy] {
    CATALOGUE
}

static CATALOGUE: &[Strategy] = &[
    Strategy {
        name: "default",
        summary: "the strategy we recommend; at present gaussian_process, with a counter model profile_guided",
        options: GaussianProcess::OPTIONS,
        begins_with_history: true,
        takes_guide: true,
        in_flight: MEASURED,
        build: recommended,
        ..USUAL
    },
    Strategy {
        name: "exhaustive",
        summary: "every configuration, in the order of the space",
        ends_by_itself: true,
        beats_random: false,
        in_flight: usize::MAX,
        build: |_| Ok(Box::new(Exhaustive::default())),
        ..USUAL
    },
    Strategy {
        name: "grid",
        summary: "the problem's `[tuning] grid`; without one every configuration",
        options: Grid::OPTIONS,
        ends_by_itself: true,
        beats_random: false,
        in_flight: usize::MAX,
        build: |options| Ok(Box::new(Grid::from_options(options)?)),
        ..USUAL
    },
    Strategy {
        name: "random",
        summary: "uniform random configurations, each once",
        options: Random::OPTIONS,
        beats_random: false,
        draws_each_once: Random::draws_each_once,
        in_flight: usize::MAX,
        build: |options| Ok(Box::new(Random::from_options(options)?)),
        ..USUAL
    },
    Strategy {
        name: "annealing",
        summary: "simulated annealing over neighbours, as in CLTune but free of units",
        options: Annealing::OPTIONS,
        build: |options| Ok(Box::new(Annealing::from_options(options)?)),
        ..USUAL
    },
    Strategy {
        name: "swarm",
        summary: "particle swarm: CLTune's modified accelerated variant",
        options: Swarm::OPTIONS,
        in_flight: Swarm::SIZE,
        build: |options| Ok(Box::new(Swarm::from_options(options)?)),
        ..USUAL
    },
    Strategy {
        name: "hill_climbing",
        summary: "stochastic hill climbing: resamples each parameter with probability 0.25, or climbs over neighbours",
        options: HillClimbing::OPTIONS,
        build: |options| Ok(Box::new(HillClimbing::from_options(options)?)),
        ..USUAL
    },
    Strategy {
        name: "iterated_local_search",
        summary: "local search, a perturbation, local search again from the better of the two minima",
        options: IteratedLocalSearch::OPTIONS,
        build: |options| Ok(Box::new(IteratedLocalSearch::from_options(options)?)),
        ..USUAL
    },
    Strategy {
        name: "basin_hopping",
        summary: "annealing over local minima, with a temperature relative to their times",
        options: BasinHopping::OPTIONS,
        build: |options| Ok(Box::new(BasinHopping::from_options(options)?)),
        ..USUAL
    },
    Strategy {
        name: "genetic",
        summary: "a steady-state genetic algorithm whose children are always valid",
        options: Genetic::OPTIONS,
        in_flight: MEASURED,
        build: |options| Ok(Box::new(Genetic::from_options(options)?)),
        ..USUAL
    },
    Strategy {
        name: "differential_evolution",
        summary: "differential evolution over value indices, to the nearest valid configuration",
        options: DifferentialEvolution::OPTIONS,
        build: |options| Ok(Box::new(DifferentialEvolution::from_options(options)?)),
        ..USUAL
    },
    Strategy {
        name: "tabu",
        summary: "tabu search: to the best of some neighbours, and not back for a while",
        options: Tabu::OPTIONS,
        in_flight: MEASURED,
        build: |options| Ok(Box::new(Tabu::from_options(options)?)),
        ..USUAL
    },
    Strategy {
        name: "gaussian_process",
        summary: "Bayesian optimisation: a Gaussian process and expected improvement",
        options: GaussianProcess::OPTIONS,
        begins_with_history: true,
        in_flight: MEASURED,
        build: |options| Ok(Box::new(GaussianProcess::from_options(options)?)),
        ..USUAL
    },
    Strategy {
        name: "nelder_mead",
        summary: "the simplex method of Nelder and Mead over the coordinates of the space",
        options: NelderMead::OPTIONS,
        build: |options| Ok(Box::new(NelderMead::from_options(options)?)),
        ..USUAL
    },
    Strategy {
        name: "torczon",
        summary: "Torczon's multi-directional search over the coordinates of the space",
        options: Torczon::OPTIONS,
        build: |options| Ok(Box::new(Torczon::from_options(options)?)),
        ..USUAL
    },
    Strategy {
        name: "pattern",
        summary: "Hooke and Jeeves' pattern search over the coordinates of the space",
        options: Pattern::OPTIONS,
        build: |options| Ok(Box::new(Pattern::from_options(options)?)),
        ..USUAL
    },
    Strategy {
        name: "bandit",
        summary: "several strategies, chosen by the area under their curves of improvements, as in OpenTuner",
        options: Bandit::OPTIONS,
        build: |options| Ok(Box::new(Bandit::from_options(options)?)),
        ..USUAL
    },
    Strategy {
        name: "round_robin",
        summary: "several strategies by turns",
        options: RoundRobin::OPTIONS,
        build: |options| Ok(Box::new(RoundRobin::from_options(options)?)),
        ..USUAL
    },
    Strategy {
        name: "regression_tree",
        summary: "one regression tree, as Starchart: sample, fit, then by prediction",
        options: RegressionTree::OPTIONS,
        build: |options| Ok(Box::new(RegressionTree::from_options(options)?)),
        ..USUAL
    },
    Strategy {
        name: "boosted_trees",
        summary: "bags of boosted trees and expected improvement",
        options: BoostedTrees::OPTIONS,
        in_flight: 4,
        build: |options| Ok(Box::new(BoostedTrees::from_options(options)?)),
        ..USUAL
    },
    Strategy {
        name: "profile_guided",
        summary: "by bottlenecks of profiled runs and a counter model; gaussian_process without a model",
        options: ProfileGuided::OPTIONS,
        takes_guide: true,
        without_guide: Some("gaussian_process"),
        build: |options| Ok(Box::new(ProfileGuided::from_options(options)?)),
        ..USUAL
    },
];

/// Builds `default`. Any given option selects `gaussian_process`, whose options these are.
fn recommended(options: &Options<'_>) -> Result<Box<dyn Searcher>, StrategyError> {
    if options.knowledge().guide.is_none() || options.are_given() {
        return Ok(Box::new(GaussianProcess::from_options(options)?));
    }
    Ok(Box::new(ProfileGuided::from_options(&options.defaults_of(ProfileGuided::OPTIONS))?))
}

/// Returns the default strategy, the first of the list.
pub(crate) fn default() -> &'static Strategy {
    &CATALOGUE[0]
}

/// Returns the strategy called `name`. The error lists all names and suggests one.
pub(crate) fn find(name: &str) -> Result<&'static Strategy, StrategyError> {
    let names = || CATALOGUE.iter().map(|strategy| strategy.name);
    CATALOGUE.iter().find(|strategy| strategy.name == name).ok_or_else(|| StrategyError::UnknownStrategy {
        name: name.to_string(),
        suggestion: suggestion(name, names()),
        known: names().collect::<Vec<_>>().join(", "),
    })
}
