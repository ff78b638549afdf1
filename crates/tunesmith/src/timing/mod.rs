//! Timing models: boosted trees that predict, from an input, a configuration and a device, how many times as fast as the
//! reference configuration it is (Bergstra, Pinto and Cox, Machine learning for predictive auto-tuning with boosted
//! regression trees, 2012).
//!
//! `groups` reads recordings into rows, `columns` says what a row of numbers holds, `train` fits, `document` keeps the model as
//! JSON, `scorer` predicts configurations of a space, `search` looks for the best one, `predict` answers users.

mod columns;
mod document;
mod groups;
mod held_out;
mod model;
mod outside;
mod predict;
mod prior;
mod reference_time;
mod scorer;
mod search;
mod train;

pub(crate) use document::KIND as TIMING_KIND;
pub use held_out::HeldOut;
pub use model::{KnownDevice, TimingModel};
pub use outside::Outside;
pub use predict::{PredictOptions, Predicted, Prediction, predict};
pub use search::ModelSearch;
pub use train::{TimingSettings, TrainTimingOptions, TrainedTiming, train_timing};
