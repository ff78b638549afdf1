//! The only list of strategy names.

use crate::knowledge::Knowledge;
use crate::options::{OptionSpec, Options, StrategyError, parse_call};
use crate::profile_guided::ProfileGuided;
use crate::{
    Annealing, Bandit, BasinHopping, BoostedTrees, DifferentialEvolution, Exhaustive, GaussianProcess, Genetic, Grid,
    HillClimbing, IteratedLocalSearch, NelderMead, Pattern, Random, RegressionTree, RoundRobin, Swarm, Tabu, Torczon,
};
use tunesmith_core::Searcher;
use tunesmith_space::closest;

/// A named strategy.
pub struct Strategy {
    /// The name users write.
    pub name: &'static str,
    /// One line for lists and help.
    pub summary: &'static str,
    /// Its options with their defaults.
    pub options: &'static [OptionSpec],
    build: fn(&Options<'_>) -> Result<Box<dyn Searcher>, StrategyError>,
}

/// The strategies that do not beat random search on at least 7 of the 9 recorded spaces after 100 evaluations; every other
/// one does, as the facade's test `strategies` checks.
const NOT_BETTER_THAN_RANDOM: &[&str] = &["exhaustive", "grid", "random"];

impl Strategy {
    /// Whether it is better than random search on recorded spaces of real kernels: after 100 evaluations nearer the optimum
    /// on at least 7 of 9.
    pub fn beats_random(&self) -> bool {
        !NOT_BETTER_THAN_RANDOM.contains(&self.name)
    }
}

/// Every strategy there is, in the order in which lists show them.
pub fn catalogue() -> &'static [Strategy] {
    CATALOGUE
}

static CATALOGUE: &[Strategy] = &[
    Strategy {
        name: "default",
        summary: "the strategy we recommend; at present gaussian_process, with a counter model profile_guided",
        options: GaussianProcess::OPTIONS,
        build: recommended,
    },
    Strategy {
        name: "exhaustive",
        summary: "every configuration, in the order of the space",
        options: &[],
        build: |_| Ok(Box::new(Exhaustive::default())),
    },
    Strategy {
        name: "grid",
        summary: "the problem's `[tuning] grid`; without one every configuration",
        options: Grid::OPTIONS,
        build: |options| Ok(Box::new(Grid::from_options(options)?)),
    },
    Strategy {
        name: "random",
        summary: "uniform random configurations, each once",
        options: Random::OPTIONS,
        build: |options| Ok(Box::new(Random::from_options(options)?)),
    },
    Strategy {
        name: "annealing",
        summary: "simulated annealing over neighbours, as in CLTune but free of units",
        options: Annealing::OPTIONS,
        build: |options| Ok(Box::new(Annealing::from_options(options)?)),
    },
    Strategy {
        name: "swarm",
        summary: "particle swarm: CLTune's modified accelerated variant",
        options: Swarm::OPTIONS,
        build: |options| Ok(Box::new(Swarm::from_options(options)?)),
    },
    Strategy {
        name: "hill_climbing",
        summary: "stochastic hill climbing: resamples each parameter with probability 0.25, or climbs over neighbours",
        options: HillClimbing::OPTIONS,
        build: |options| Ok(Box::new(HillClimbing::from_options(options)?)),
    },
    Strategy {
        name: "iterated_local_search",
        summary: "local search, a perturbation, local search again from the better of the two minima",
        options: IteratedLocalSearch::OPTIONS,
        build: |options| Ok(Box::new(IteratedLocalSearch::from_options(options)?)),
    },
    Strategy {
        name: "basin_hopping",
        summary: "annealing over local minima, with a temperature relative to their times",
        options: BasinHopping::OPTIONS,
        build: |options| Ok(Box::new(BasinHopping::from_options(options)?)),
    },
    Strategy {
        name: "genetic",
        summary: "a steady-state genetic algorithm whose children are always valid",
        options: Genetic::OPTIONS,
        build: |options| Ok(Box::new(Genetic::from_options(options)?)),
    },
    Strategy {
        name: "differential_evolution",
        summary: "differential evolution over value indices, to the nearest valid configuration",
        options: DifferentialEvolution::OPTIONS,
        build: |options| Ok(Box::new(DifferentialEvolution::from_options(options)?)),
    },
    Strategy {
        name: "tabu",
        summary: "tabu search: to the best of some neighbours, and not back for a while",
        options: Tabu::OPTIONS,
        build: |options| Ok(Box::new(Tabu::from_options(options)?)),
    },
    Strategy {
        name: "gaussian_process",
        summary: "Bayesian optimisation: a Gaussian process and expected improvement",
        options: GaussianProcess::OPTIONS,
        build: |options| Ok(Box::new(GaussianProcess::from_options(options)?)),
    },
    Strategy {
        name: "nelder_mead",
        summary: "the simplex method of Nelder and Mead over the coordinates of the space",
        options: NelderMead::OPTIONS,
        build: |options| Ok(Box::new(NelderMead::from_options(options)?)),
    },
    Strategy {
        name: "torczon",
        summary: "Torczon's multi-directional search over the coordinates of the space",
        options: Torczon::OPTIONS,
        build: |options| Ok(Box::new(Torczon::from_options(options)?)),
    },
    Strategy {
        name: "pattern",
        summary: "Hooke and Jeeves' pattern search over the coordinates of the space",
        options: Pattern::OPTIONS,
        build: |options| Ok(Box::new(Pattern::from_options(options)?)),
    },
    Strategy {
        name: "bandit",
        summary: "several strategies, chosen by the area under their curves of improvements, as in OpenTuner",
        options: Bandit::OPTIONS,
        build: |options| Ok(Box::new(Bandit::from_options(options)?)),
    },
    Strategy {
        name: "round_robin",
        summary: "several strategies by turns",
        options: RoundRobin::OPTIONS,
        build: |options| Ok(Box::new(RoundRobin::from_options(options)?)),
    },
    Strategy {
        name: "regression_tree",
        summary: "one regression tree, as Starchart: sample, fit, then by prediction",
        options: RegressionTree::OPTIONS,
        build: |options| Ok(Box::new(RegressionTree::from_options(options)?)),
    },
    Strategy {
        name: "boosted_trees",
        summary: "bags of boosted trees and expected improvement",
        options: BoostedTrees::OPTIONS,
        build: |options| Ok(Box::new(BoostedTrees::from_options(options)?)),
    },
    Strategy {
        name: "profile_guided",
        summary: "by bottlenecks of profiled runs and a counter model; gaussian_process without a model",
        options: ProfileGuided::OPTIONS,
        build: |options| Ok(Box::new(ProfileGuided::from_options(options)?)),
    },
];

/// `default`. Its options are those of `gaussian_process`, which is meant where one is given.
fn recommended(options: &Options<'_>) -> Result<Box<dyn Searcher>, StrategyError> {
    if options.knowledge().guide.is_none() || options.are_given() {
        return Ok(Box::new(GaussianProcess::from_options(options)?));
    }
    let guided = Options::defaults(ProfileGuided::OPTIONS).with(options.knowledge());
    Ok(Box::new(ProfileGuided::from_options(&guided)?))
}

/// Makes the strategy that `text` names: `random` or `annealing(temperature=0.5)`.
///
/// Fails where the name, an option or its value is unknown, with what would be right.
pub fn build(text: &str) -> Result<Box<dyn Searcher>, StrategyError> {
    build_with(text, &Knowledge::default())
}

/// Makes the strategy that `text` names, which may use what is known of the kernel; so may the strategies it is made of.
///
/// Fails as [`build`] does.
pub fn build_with(text: &str, knowledge: &Knowledge) -> Result<Box<dyn Searcher>, StrategyError> {
    let (name, given) = parse_call(text)?;
    let strategy =
        CATALOGUE.iter().find(|strategy| strategy.name == name).ok_or_else(|| StrategyError::UnknownStrategy {
            suggestion: suggestion(&name, CATALOGUE.iter().map(|strategy| strategy.name)),
            known: CATALOGUE.iter().map(|strategy| strategy.name).collect::<Vec<_>>().join(", "),
            name,
        })?;
    (strategy.build)(&Options::new(strategy.name, strategy.options, given)?.with(knowledge))
}

/// Whether the strategy that `text` names begins with what a history says: others can be [primed](crate::Primed) with it.
pub fn begins_with_history(text: &str) -> bool {
    let name = text.split('(').next().unwrap_or_default().trim();
    ["default", "gaussian_process"].contains(&name)
}

/// ``; did you mean `name`?`` for the name that `wrong` most resembles, or nothing.
pub(crate) fn suggestion(wrong: &str, names: impl Iterator<Item = &'static str>) -> String {
    closest(wrong, names).map_or_else(String::new, |name| format!("; did you mean `{name}`?"))
}
