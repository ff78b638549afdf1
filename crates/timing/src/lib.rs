//! Timing models: boosted trees that predict, from an input, a configuration and a device, how many times as fast as the
//! reference configuration it is (Bergstra, Pinto and Cox, Machine learning for predictive auto-tuning with boosted
//! regression trees, 2012).
//!
//! `groups` reads recordings, `frame` decides the columns, `rows` fills them, `folds` leaves parts out,
//! `rounds` chooses the number of trees by them and `unseen` judges the choice for devices left out, `train`
//! fits, `scorer` predicts configurations of a space, `search` looks for the best one, `predict` answers
//! users. The model itself, its file, and what chooses at run time among few configurations (those of a
//! portfolio, or the `candidates` that training leaves in the model) are `tunesmith_choose::timing`.

mod candidates;
mod error;
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
mod unseen;

pub use error::Error;
pub use folds::FoldBy;
pub use outside::Outside;
pub use predict::{PredictOptions, Predicted, Prediction, predict};
pub use prior::primed;
pub use rounds::{RoundsChoice, Rung};
pub use search::ModelSearch;
pub use settings::TimingSettings;
pub use train::{TrainTimingOptions, TrainedTiming, train_timing};
