//! Timing models: boosted trees that predict the speed of a configuration relative to a reference,
//! from the input, the configuration and the device (Bergstra, Pinto and Cox, Machine learning for
//! predictive auto-tuning with boosted regression trees, 2012).
//!
//! This module reads and writes models, and prepares them to choose among a few configurations in
//! microseconds. It neither trains nor searches whole spaces: [`TimingModel::new`] takes the result
//! of a training, and [`TimingModel::parts`] gives it to a search.
//!
//! - `columns`: the columns of a row of numbers.
//! - `device`: the known properties of a device.
//! - `judged`: the quality of the model on data that it was not fitted to.
//! - `reference_time`: turns speeds into times.
//! - `document`: the file.
//! - `chooser`: chooses.

mod chooser;
mod columns;
mod device;
mod document;
mod error;
mod judged;
mod model;
mod reference_time;

pub(crate) use chooser::{Chosen, ModelChooser};
pub use columns::{Feature, Frame, Origin, derived_number};
pub use device::KnownDevice;
pub use document::KIND as TIMING_KIND;
pub use error::TimingModelError;
pub use judged::{HeldOut, Unseen, UnseenDevice};
pub use model::{TimingModel, TimingParts};
pub use reference_time::ReferenceTime;
