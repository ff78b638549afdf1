//! Timing models: boosted trees that predict, from an input, a configuration and a device, how many
//! times as fast as the reference configuration it is (Bergstra, Pinto and Cox, Machine learning
//! for predictive auto-tuning with boosted regression trees, 2012).
//!
//! This module reads and writes them, and makes them ready to choose among few configurations in
//! microseconds. Training and searching whole spaces stand elsewhere: [`TimingModel::new`] takes
//! what a training found, and [`TimingModel::parts`] gives it to a search.
//!
//! `columns` says what a row of numbers holds, `device` what is known of a device, `judged` how
//! good the model was on what it was not fitted to, `reference_time` turns speeds into times,
//! `document` is the file, and `chooser` chooses.

mod chooser;
mod columns;
mod device;
mod document;
mod error;
mod judged;
mod model;
mod reference_time;

pub(crate) use chooser::ModelChooser;
pub use columns::{Feature, Frame, Origin, derived_number};
pub use device::{KnownDevice, number_value};
pub use document::KIND as TIMING_KIND;
pub use error::TimingModelError;
pub use judged::{HeldOut, Unseen, UnseenDevice};
pub use model::{TimingModel, TimingParts};
pub use reference_time::ReferenceTime;
