//! Tunesmith finds the fastest correct configuration of a compute kernel on the device in front of
//! it.
//!
//! This crate is the library behind the command-line tool. A [`Problem`] defines the kernel to
//! tune, a [`Machine`] the device that runs it, and a [`Search`] the strategy. A [`TuningTask`] holds
//! them, with defaults for what is not set, and [`tune`](tune()) returns the outcome. This program tunes
//! a C kernel:
//!
//! ```no_run
#![doc = include_str!("../tests/front_page.rs")]
//! ```
//!
//! Kernels run in a worker process, so that a crash or a hang does not end the program. The worker
//! is the same executable: [`enter_if_worker`], the first call of `main`, turns it into one.
//! [`Machine::worker`] names another executable.
//!
//! [`Problem::load`] reads problem files. [`Problem::parse`] reads a text in the same forms. On a
//! synthetic device, an expression over the parameters gives the time of a configuration. A space
//! and a strategy can thus be tried without a kernel:
//!
//! ```
//! use tunesmith::{Machine, Problem, Search, Session, TuningTask, tune};
//!
//! # let folder = tempfile::tempdir()?;
//! # let folder = folder.path();
//! let text = "[parameters]
//!     X = { range = '0..=20' }
//!     Y = [1, 2, 4, 8, 16]
//!     [constraints]
//!     'X is a multiple of Y' = 'X % Y == 0'";
//! let problem = Problem::parse(text, folder)?;
//! let machine = Machine { device: Some("synthetic:1 + abs(X - 12) + 8 / Y".parse()?), ..Machine::default() };
//! let search = Search { stop: Some("evaluations 30".parse()?), ..Search::default() };
//! let task = TuningTask::new(&problem).machine(machine).search(search);
//! let outcome = tune(&task, &mut Session::default())?;
//! assert!(outcome.best.and_then(|best| best.time_ms).is_some_and(|time| time < 4.5));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod check;
pub mod device;
pub mod devices;
pub mod explain;
pub mod export;
mod prior;
mod probe;
pub mod run_one;
pub mod runner;
pub mod space_info;
pub mod tune;
pub mod tune_inputs;

pub use check::{Check, check};
pub use devices::devices;
pub use tune::{JournalOptions, Search, Session, Starting, TuningTask, tune};
pub use tune_inputs::tune_inputs;
pub use tunesmith_backend::DeviceChoice;
pub use tunesmith_choose::{Choice, Selector};
#[doc(inline)]
pub use tunesmith_core::AnyError as Error;
pub use tunesmith_core::{Direction, Stop, StopReason, Target};
pub use tunesmith_device::Machine;
pub use tunesmith_device::worker::enter_if_worker;
pub use tunesmith_problem::starter;
pub use tunesmith_problem::{Arg, Code, Diagnostic, Input, Inputs, Level, Problem, ProblemBuilder};
pub use tunesmith_search::StrategySpec;
pub use tunesmith_study::outcome::{Candidate, Outcome};
pub use tunesmith_study::{Top, UNVERIFIED, outcome, page, recorded, top};

pub use tunesmith_choose as choose;
pub use tunesmith_core as core;
pub use tunesmith_cost as cost;
pub use tunesmith_explain as why;
pub use tunesmith_explore as explore;
pub use tunesmith_loopnest as loopnest;
pub use tunesmith_model as model;
pub use tunesmith_problem as problem;
pub use tunesmith_propose as propose;
pub use tunesmith_report as report;
pub use tunesmith_search as search;
pub use tunesmith_space as space;
pub use tunesmith_store as store;
pub use tunesmith_study as study;
pub use tunesmith_timing as timing;
#[cfg(feature = "watch")]
pub use tunesmith_watch as watch;
