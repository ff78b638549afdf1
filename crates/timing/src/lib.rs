//! Trains and asks timing models. A timing model is a set of boosted trees that predict the speed
//! of a configuration relative to a reference, from the input, the configuration and the device
//! (Bergstra, Pinto and Cox, Machine learning for predictive auto-tuning with boosted regression
//! trees, 2012).
//!
//! - `groups` reads recordings, `frame` decides the columns, and `rows` fills them.
//! - `folds` leaves parts out. `rounds` uses them to choose the number of trees, and `unseen` to
//!   judge the choice for devices and inputs left out. `transfer` chooses what to try there first.
//! - `train` fits the model. `doubts` finds the inputs that a model should see next.
//! - `scorer` predicts configurations of a space, `search` finds the best one, and `predict`
//!   answers users.
//!
//! The model itself, its file, and the choice among a few configurations at run time are in
//! `tunesmith_choose::timing`.

mod candidates;
mod covers;
mod doubts;
mod folds;
mod frame;
mod groups;
mod held_out;
mod outside;
mod placed;
mod predict;
mod prior;
mod reference_time;
mod rounds;
mod rows;
mod scorer;
mod search;
mod settings;
mod single;
mod train;
mod transfer;
mod unseen;

pub use covers::{CoveredSize, Covers};
pub use doubts::doubts;
pub use folds::FoldBy;
pub use outside::Outside;
pub use predict::{PredictOptions, Predicted, Prediction, named_device, predict};
pub use prior::primed;
pub use rounds::{RoundsChoice, Rung};
pub use search::ModelSearch;
pub use settings::TimingSettings;
pub use train::{TrainTimingOptions, TrainedTiming, train_timing};
pub use tunesmith_core::AnyError as Error;
