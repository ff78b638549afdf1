//! What recordings teach: strategies compared on them, counter models trained from them, and
//! histories for new runs.
//!
//! [`compare`] lets strategies search recordings and scores them. [`train_counters`] fits a counter
//! model; [`ModelChoice`] names one. [`Past`] holds the recordings that a user gives as history and
//! tells which of them fit a space.

mod comparison;
mod counter_models;
mod error;
mod model_choice;
mod past;

pub use comparison::{Baseline, CompareOptions, Comparison, Measures, Overall, Score, TimeTransfer, compare};
pub use counter_models::{METHODS, TrainOptions, Trained, learnable, train_counters, unknown};
pub use error::Error;
pub use model_choice::{ModelChoice, read_model};
pub use past::{Fitting, JudgedRecording, LeftOut, Past, WhyLeftOut};
