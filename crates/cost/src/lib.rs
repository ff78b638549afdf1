//! Cost models: the time of a loop nest without running it, from its operation counts.
//!
//! [`calibrate`] times measurement kernels on a device and fits a [`CostModel`] in every form; the
//! [`DeviceFile`] keeps them. [`estimate`] predicts the time of one nest, [`estimate_space`] ranks
//! the configurations of a problem, and [`count`] says how often a nest does what.
//! [`NestEstimates`] estimates configurations during a tuning run.

mod calibrate;
mod device_file;
mod error;
mod estimate;
mod fitted;
mod nests;

pub use calibrate::{CalibrateOptions, Calibration, CalibrationStep, Judged, Judgement, calibrate};
pub use device_file::{form, model, read_device};
pub use error::Error;
pub use estimate::{
    EstimateOptions, EstimateSpaceOptions, EstimatedConfig, EstimatedNest, EstimatedSpace, EstimatedTerm, estimate,
    estimate_space,
};
pub use fitted::{
    Cache, Case, CaseError, CostModel, CostProperty, DEVICE_KIND, Dependence, DeviceFile, Estimate, Form, Outside,
    PropertyCounts, Provenance, Residual, Resource, Share, Term, error_mean, fit, fit_on, protocol,
};
pub use nests::{
    ArrayFootprint, CountOptions, Counted, Counting, Guess, ModernCount, NestCount, NestCounts, NestEstimates,
    PropertyCount, count,
};
pub use tunesmith_loopnest::Lanes;
