//! The tuning loop of Tunesmith and the traits it is made of.
//!
//! A run is: `stop.check -> searcher.ask -> evaluator -> store.append -> objective.score -> observers ->
//! searcher.tell`, and [`Tuner`] is the only place where that loop exists. Live devices, recordings and synthetic
//! functions differ only behind [`Evaluator`]; strategies only behind [`Searcher`]. Budget, duplicates, resume and
//! stop conditions are therefore counted the same way everywhere.
//!
//! ```
//! use tunesmith_core::{testing::FunctionEvaluator, Request, Searcher, Stop, Tuner, View, Rng};
//! use tunesmith_space::{Parameter, Space, Value};
//!
//! /// The least a searcher can be: it asks uniform random configurations and learns nothing.
//! struct Blind;
//! impl Searcher for Blind {
//!     fn ask(&mut self, view: &View<'_>, _room: usize, rng: &mut Rng) -> Vec<Request> {
//!         vec![Request::timed(view.space().sample(rng))]
//!     }
//! }
//!
//! let tile = Parameter::new("TILE", (1..=64).map(Value::Int))?;
//! let space = Space::builder().parameter(tile).build()?;
//! // The time in milliseconds of each configuration: the best tile is 32.
//! let mut evaluator = FunctionEvaluator::new(&space, |v| Ok(1.0 + (v[0].as_float().unwrap() - 32.0).abs()));
//!
//! let run = Tuner::new(&space, &mut Blind, &mut evaluator)
//!     .stop(Stop::parse("evaluations 20")?)
//!     .seed(7)
//!     .run()?;
//! assert_eq!(run.history.len(), 20);
//! assert!(run.history.best().is_some());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod clock;
pub mod counters;
mod error;
mod evaluation;
mod evaluator;
mod failure;
mod history;
mod interrupt;
pub mod judge;
mod measurement;
mod objective;
mod observer;
pub mod online;
mod progress;
pub mod recording;
mod refusal;
mod regret;
mod resample;
mod searcher;
pub mod statistics;
mod stop;
mod store;
pub mod testing;
mod tuner;
mod verdict;
pub mod wisdom;

pub use clock::{Clock, ManualClock, SystemClock};
pub use error::Error;
pub use evaluation::{Depth, Evaluation, Request, Status};
pub use evaluator::{Completion, Evaluator, Spent};
pub use failure::{Failure, FailureKind};
pub use history::{History, Scored};
pub use interrupt::Interrupt;
pub use judge::Judging;
pub use measurement::{CompileData, Measurement};
pub use objective::{MedianTime, Objective};
pub use observer::{Event, Observer};
pub use progress::{Improvement, Progress};
pub use recording::{Recording, RecordingError};
pub use refusal::Refusal;
pub use regret::{RegretBound, RegretEstimator};
pub use resample::{Resample, Role};
pub use searcher::{Rng, Searcher, Told, View};
pub use stop::{Condition, Stop, StopParseError, StopReason, Window};
pub use store::Store;
pub use tuner::{Run, Seconds, Tuner};
pub use verdict::Verdict;
