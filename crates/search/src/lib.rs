//! The search strategies of Tunesmith, one file each.
//!
//! A strategy is a [`Searcher`](tunesmith_core::Searcher) with a name in the [`catalogue`]. The
//! catalogue is the only list of names: the command line, the documentation and the conformance
//! tests read it.
//!
//! ```
//! use tunesmith_search::{Knowledge, StrategySpec};
//!
//! let spec: StrategySpec = "annealing(temperature=0.5)".parse()?;
//! let searcher = spec.build(&Knowledge::default())?;
//!
//! let error = "anealing".parse::<StrategySpec>().unwrap_err();
//! assert!(error.to_string().contains("did you mean `annealing`?"));
//! # Ok::<(), tunesmith_search::StrategyError>(())
//! ```

mod annealing;
mod bandit;
mod basin_hopping;
mod boosted_trees;
mod candidates;
mod catalogue;
mod climb;
mod cube;
mod differential_evolution;
mod direct_search;
mod exhaustive;
mod gaussian_process;
mod genetic;
mod grid;
mod guide;
mod hill_climbing;
mod iterated_local_search;
pub mod knowledge;
mod local;
mod nearest;
mod nelder_mead;
mod options;
mod pattern;
mod primed;
pub mod profile_guided;
mod random;
mod regression_tree;
mod regret;
mod round_robin;
mod spec;
mod swarm;
mod tabu;
mod techniques;
mod torczon;
mod tree_candidates;
mod unseen;

pub use annealing::Annealing;
pub use bandit::Bandit;
pub use basin_hopping::BasinHopping;
pub use boosted_trees::BoostedTrees;
pub use catalogue::{Strategy, catalogue};
pub use climb::climb;
pub use differential_evolution::DifferentialEvolution;
pub use exhaustive::Exhaustive;
pub use gaussian_process::GaussianProcess;
pub use genetic::Genetic;
pub use grid::Grid;
pub use hill_climbing::HillClimbing;
pub use iterated_local_search::IteratedLocalSearch;
pub use knowledge::{Knowledge, Misfit, PastTimes};
pub use nelder_mead::NelderMead;
pub use options::{OptionSpec, Options, StrategyError};
pub use pattern::Pattern;
pub use primed::Primed;
pub use profile_guided::ProfileGuided;
pub use random::Random;
pub use regression_tree::RegressionTree;
pub use regret::{RegretModel, RegretParts};
pub use round_robin::RoundRobin;
pub use spec::{StrategySpec, build};
pub use swarm::Swarm;
pub use tabu::Tabu;
pub use torczon::Torczon;
