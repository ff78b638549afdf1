//! Timing models: boosted trees that predict, from an input, a configuration and a device, how many times as fast as the
//! reference configuration it is (Bergstra, Pinto and Cox, Machine learning for predictive auto-tuning with boosted
//! regression trees, 2012).
//!
//! `groups` reads recordings, `columns` says what a row of numbers holds, `rows` makes them, `folds` leaves parts out, `rounds`
//! chooses the number of trees by them and `unseen` judges the choice for devices left out, `train` fits, `document` keeps the model as
//! JSON, `scorer` predicts configurations of a space, `search` looks for the best one, `predict` answers users. At run time `chooser`
//! chooses among few configurations: those of a portfolio, or the `candidates` that training has left in the model.

mod candidates;
mod chooser;
mod columns;
mod document;
mod folds;
mod groups;
mod held_out;
mod model;
mod outside;
mod predict;
mod prior;
mod reference_time;
mod rounds;
mod rows;
mod scorer;
mod search;
mod train;
mod unseen;

pub(crate) use chooser::ModelChooser;
pub(crate) use document::KIND as TIMING_KIND;
pub use folds::FoldBy;
pub use held_out::HeldOut;
pub use model::{KnownDevice, TimingModel};
pub use outside::Outside;
pub use predict::{PredictOptions, Predicted, Prediction, predict};
pub use rounds::{RoundsChoice, Rung};
pub use search::ModelSearch;
pub use train::{TimingSettings, TrainTimingOptions, TrainedTiming, train_timing};
pub use unseen::{Unseen, UnseenDevice};
