//! The search strategies of Tunesmith, one file each.
//!
//! A strategy is a [`Searcher`](tunesmith_core::Searcher) with a name in the [`catalogue`], the only list of names:
//! the command line, the documentation and the conformance tests read it.
//!
//! ```
//! let searcher = tunesmith_search::build("annealing(temperature=0.5)")?;
//! let error = tunesmith_search::build("anealing").err().unwrap();
//! assert!(error.to_string().contains("did you mean `annealing`?"));
//! # Ok::<(), tunesmith_search::StrategyError>(())
//! ```

mod annealing;
mod bandit;
mod catalogue;
mod descent;
mod exhaustive;
mod gaussian_process;
mod nelder_mead;
mod basin_hopping;
mod catalogue;
mod differential_evolution;
mod exhaustive;
mod gaussian_process;
mod genetic;
mod hill_climbing;
mod iterated_local_search;
mod local;
mod nearest;
mod options;
mod pattern;
pub mod profile_guided;
mod random;
mod round_robin;
mod swarm;
mod techniques;
mod torczon;
mod unseen;

pub use annealing::Annealing;
pub use bandit::Bandit;
mod tabu;
mod unseen;

pub use annealing::Annealing;
pub use basin_hopping::BasinHopping;
pub use catalogue::{Strategy, build, catalogue};
pub use differential_evolution::DifferentialEvolution;
pub use exhaustive::Exhaustive;
pub use gaussian_process::GaussianProcess;
pub use nelder_mead::NelderMead;
pub use genetic::Genetic;
pub use hill_climbing::HillClimbing;
pub use iterated_local_search::IteratedLocalSearch;
pub use options::{OptionSpec, Options, StrategyError};
pub use pattern::Pattern;
pub use random::Random;
pub use round_robin::RoundRobin;
pub use swarm::Swarm;
pub use torczon::Torczon;
pub use tabu::Tabu;
