//! The tuning loop of Tunesmith and its traits.
//!
//! A run asks a [`Searcher`] for configurations, and an [`Evaluator`] measures them. The run stores
//! and scores each evaluation, shows it to observers and tells it to the searcher. [`Tuner`] is the
//! only place with this loop. Live devices, recordings and functions differ only behind
//! [`Evaluator`], strategies only behind [`Searcher`]. For all of them the loop treats budget,
//! duplicates, resumed evaluations and stop conditions in the same way.
//!
//! ```
//! use std::collections::VecDeque;
//! use tunesmith_core::{
//!     Completion, Error, Evaluator, Interrupt, Measurement, Request, Rng, Searcher, Told, Tuner, View,
//! };
//! use tunesmith_space::{Parameter, Space, Value, Values};
//!
//! /// Doubles the tile until that makes the kernel slower.
//! #[derive(Default)]
//! struct Doubling {
//!     next: u128,
//!     best: Option<f64>,
//! }
//!
//! impl Searcher for Doubling {
//!     fn ask(&mut self, view: &View<'_>, _room: usize, _rng: &mut Rng) -> Vec<Request> {
//!         // A searcher that waits for an answer asks nothing meanwhile.
//!         let id = if view.is_waiting() { None } else { view.space().id(self.next) };
//!         self.next += u128::from(id.is_some());
//!         id.map(Request::timed).into_iter().collect()
//!     }
//!
//!     fn tell(&mut self, _view: &View<'_>, told: &Told<'_>) {
//!         let is_better = told.score.is_some_and(|score| self.best.is_none_or(|best| score < best));
//!         // A rank beyond the space ends the search.
//!         self.next = if is_better { self.next } else { u128::MAX };
//!         self.best = told.score.filter(|_| is_better).or(self.best);
//!     }
//! }
//!
//! /// Computes the time of a kernel instead of running it: a tile of 32 is the fastest.
//! struct Formula<'a> {
//!     space: &'a Space,
//!     waiting: VecDeque<Request>,
//! }
//!
//! impl Evaluator for Formula<'_> {
//!     fn submit(&mut self, request: Request) -> Result<(), Error> {
//!         self.waiting.push_back(request);
//!         Ok(())
//!     }
//!
//!     fn next(&mut self, _interrupt: &Interrupt) -> Result<Option<Completion>, Error> {
//!         let Some(request) = self.waiting.pop_front() else { return Ok(None) };
//!         let configuration = self.space.unrank(request.config);
//!         let tile = self.space.values(&configuration).next().and_then(|(_, tile)| tile.as_float());
//!         let time_ms = tile.map_or(f64::NAN, |tile| 1.0 + (tile.log2() - 5.0).abs());
//!         let measurement = Measurement { times_ms: vec![time_ms], ..Measurement::default() };
//!         Ok(Some(Completion { measurement, ..Completion::default() }))
//!     }
//! }
//!
//! let tile = Parameter::new("TILE", Values::pow2(1, 1024)?)?;
//! let space = Space::builder().parameter(tile).build()?;
//! let mut evaluator = Formula { space: &space, waiting: VecDeque::new() };
//!
//! let run = Tuner::new(&space, &mut Doubling::default(), &mut evaluator).stop("evaluations 20".parse()?).run()?;
//!
//! let winner = space.unrank(run.verdict.winner.expect("a configuration was correct"));
//! assert_eq!(space.values(&winner).next(), Some(("TILE", &Value::Int(32))));
//! assert_eq!(run.history.len(), 7, "from 1 to 64, which is slower than 32");
//! assert_eq!(run.stop_reason.to_string(), "strategy finished");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod annotator;
mod any_error;
mod ask_tell;
pub mod counters;
mod direction;
mod error;
mod evaluation;
mod evaluator;
mod failure;
mod front;
mod history;
mod interrupt;
pub mod judge;
mod launch;
mod measurement;
mod objective;
mod objective_function;
mod observer;
pub mod output;
mod progress;
pub mod recording;
mod refusal;
mod regret;
mod resample;
mod run_state;
mod scale;
mod searcher;
mod second_answers;
mod start;
mod stop;
mod store;
mod summary;
mod target;
pub mod testing;
mod tuner;
mod verdict;

pub use annotator::Annotator;
pub use any_error::AnyError;
pub use ask_tell::{AskTell, TellError};
pub use direction::Direction;
pub use error::Error;
pub use evaluation::{Depth, Evaluation, Request, Status};
pub use evaluator::{Bound, Claim, Completion, Confirmed, Evaluator, Spent, Waited};
pub use failure::{CompileLimit, Cut, Cuts, Failure, FailureKind};
pub use front::non_dominated;
pub use history::{Aspects, History, Scored};
pub use interrupt::Interrupt;
pub use judge::Judging;
pub use judge::measure::{Gain, Measure};
pub use launch::{Combinations, DeviceClass, Launch, Volume};
pub use measurement::{CompileData, ERROR, MadeBy, Measurement};
pub use objective::{Objective, Source};
pub use objective_function::{MedianTime, ObjectiveFunction};
pub use observer::{Event, Observer};
pub use progress::{Improvement, Progress};
pub use recording::{Recording, RecordingError};
pub use refusal::Refusal;
pub use regret::{RegretBound, RegretEstimator};
pub use resample::{Resample, Role};
pub use run_state::RunState;
pub use scale::Scale;
pub use searcher::{Rng, Searcher, Standing, Told, View};
pub use second_answers::{SecondAnswer, SecondAnswers, SecondStore};
pub use start::Start;
pub use stop::{Condition, Stop, StopParseError, StopReason, Window};
pub use store::Store;
pub use summary::{CommonFailure, Unscored, common_failures};
pub use target::{Aim, Target, TargetParseError};
pub use tuner::{Run, Seconds, Tuner};
pub use verdict::{Basis, Comparison, Evidence, Repeat, Trial, Verdict};

pub use tunesmith_space::{ErrorClass, UserError};
pub use tunesmith_time::{Clock, LONGEST, ManualClock, SystemClock, stated_seconds, statistics};
