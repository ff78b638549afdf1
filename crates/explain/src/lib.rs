//! Explains why a tuning run ended as it did, from its evaluations alone: no files, no devices.
//!
//! [`Trials`] holds the evaluations. A [`Surrogate`] is a model of their scores: randomised trees.
//!
//! - [`importance`] divides the variance of the scores among the parameters and their interactions.
//! - [`among_best`] finds the values that the best configurations share.
//! - [`changes`] compares the winner with the default, one parameter at a time.
//! - [`code`] compares what their compiled kernels use.
//! - [`failure_causes`] finds the values that explain failures.
//! - [`advice`] names what to try next.
//!
//! ```
//! use tunesmith_explain::{Surrogate, TrialResult, Trials, importance};
//! use tunesmith_space::{Parameter, Value};
//!
//! let list = |name: &str| Parameter::new(name, (1..=8).map(Value::Int));
//! let mut trials = Trials::new(&[list("TILE")?, list("PAD")?]);
//! for at in 0..64 {
//!     let (tile, pad) = (1 + at % 8, 1 + at / 8);
//!     trials.push(&[tile.into(), pad.into()], TrialResult::Score(8.0 / tile as f64));
//! }
//! let found = importance(&trials, Surrogate::fit(&trials).as_ref());
//! assert_eq!(found.importance[0].parameter, "TILE");
//! let [tile, pad] = [0, 1].map(|at| found.importance[at].share);
//! assert!(tile > 0.5 && pad < 0.1, "{tile} {pad}");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod advice;
mod axis;
mod best;
mod changes;
mod code;
mod condition;
mod failures;
mod importance;
mod surrogate;
mod trials;
mod variance;

pub use advice::{Advice, Facts, advice};
pub use axis::Axis;
pub use best::{AmongBest, BestValues, Edge, among_best};
pub use changes::{
    Absence, Change, Effect, Scores, Source, changes, one_at_a_time, serialize_gain, serialize_known_gain,
};
pub use code::{CodeNumber, code};
pub use condition::{Condition, Span};
pub use failures::{Cause, CutCause, FailureCause, cut_cause, failure_causes, serialize_cuts};
pub use importance::{DOUBTFUL, INERT, Importance, LEAST_PAIR, MainShare, PairShare, importance};
pub use surrogate::{FEWEST, Scale, Surrogate};
pub use trials::{Trial, TrialResult, Trials};
