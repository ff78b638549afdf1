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
mod catalogue;
mod exhaustive;
mod gaussian_process;
mod options;
mod random;
mod swarm;
mod unseen;

pub use annealing::Annealing;
pub use catalogue::{Strategy, build, catalogue};
pub use exhaustive::Exhaustive;
pub use gaussian_process::GaussianProcess;
pub use options::{OptionSpec, Options, StrategyError};
pub use random::Random;
pub use swarm::Swarm;
