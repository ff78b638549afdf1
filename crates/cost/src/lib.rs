//! Cost models: they predict the time of a loop nest from its operation counts, without running it.
//!
//! [`calibrate`] times measurement kernels on a device and fits a [`CostModel`] in every form. A
//! [`DeviceFile`] keeps the models. [`estimate`] predicts the time of one nest, and
//! [`estimate_space`] ranks the configurations of a problem. [`count`] counts the operations of a
//! nest. [`NestEstimates`] estimates configurations during a tuning run. [`roof`] says which resource
//! bounds a measured configuration, and how far it is from the modelled limit.

mod calibrate;
mod device_file;
mod estimate;
mod fitted;
mod nests;

pub use calibrate::{
    CalibrateOptions, Calibration, CalibrationStep, Judged, Judgement, calibrate, kernel_counts, recounted,
};
pub use device_file::{foreign, form, model, read_device};
pub use estimate::{
    EstimateBasis, EstimateOptions, EstimateSpaceOptions, EstimatedConfig, EstimatedInterval, EstimatedNest,
    EstimatedSpace, EstimatedTerm, ModelledUse, ResourceShare, Roof, RoofLimit, RoofSubject, Work, estimate,
    estimate_space, roof,
};
pub use fitted::{
    Bounded, Cache, Case, CaseError, Correction, CorrectionKind, CostModel, CostProperty, DEVICE_KIND, Dependence,
    DeviceFile, Domain, Estimate, Form, Interval, LeastWork, LowerBound, MeasuredVariant, Outside, OwnName,
    OwnProperty, PropertyCounts, Provenance, Reach, Residual, Resource, Share, Term, WorkKind, error_mean, fit, fit_on,
    protocol,
};
pub use nests::{
    ArrayFootprint, CountOptions, Counted, Counting, Guess, Limit, ModernCount, NestCount, NestCounts, NestEstimates,
    PropertyCount, count, notes_on,
};
pub use tunesmith_core::AnyError as Error;
pub use tunesmith_loopnest::Lanes;
