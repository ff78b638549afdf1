//! The only list of strategy names.

use crate::options::{OptionSpec, Options, StrategyError, parse_call};
use crate::{Annealing, Bandit, Exhaustive, GaussianProcess, NelderMead, Pattern, Random, RoundRobin, Swarm, Torczon};
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

/// Every strategy there is, in the order in which lists show them.
pub fn catalogue() -> &'static [Strategy] {
    &CATALOGUE
}

static CATALOGUE: [Strategy; 11] = [
    Strategy {
        name: "default",
        summary: "the strategy we recommend; at present gaussian_process",
        options: GaussianProcess::OPTIONS,
        build: |options| Ok(Box::new(GaussianProcess::from_options(options)?)),
    },
    Strategy {
        name: "exhaustive",
        summary: "every configuration, in the order of the space",
        options: &[],
        build: |_| Ok(Box::new(Exhaustive::default())),
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
];

/// Makes the strategy that `text` names: `random` or `annealing(temperature=0.5)`.
///
/// Fails where the name, an option or its value is unknown, with what would be right.
pub fn build(text: &str) -> Result<Box<dyn Searcher>, StrategyError> {
    let (name, given) = parse_call(text)?;
    let strategy =
        CATALOGUE.iter().find(|strategy| strategy.name == name).ok_or_else(|| StrategyError::UnknownStrategy {
            suggestion: suggestion(&name, CATALOGUE.iter().map(|strategy| strategy.name)),
            known: CATALOGUE.iter().map(|strategy| strategy.name).collect::<Vec<_>>().join(", "),
            name,
        })?;
    (strategy.build)(&Options::new(strategy.name, strategy.options, given)?)
}

/// ``; did you mean `name`?`` for the name that `wrong` most resembles, or nothing.
pub(crate) fn suggestion(wrong: &str, names: impl Iterator<Item = &'static str>) -> String {
    closest(wrong, names).map_or_else(String::new, |name| format!("; did you mean `{name}`?"))
}
