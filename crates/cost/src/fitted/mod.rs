//! Cost models: they predict the time of a kernel from its operation counts and the cost of each
//! operation on a device.
//!
//! Stevens and Klöckner, A Unified, Hardware-Fitted, Cross-GPU Performance Model. The properties of
//! a kernel are counted: its loads by stride, its additions, its work-groups. [`fit`] finds the
//! cost of one unit of each property on a device from measured kernels. The model then
//! [estimates](CostModel::estimate) the time of kernels that were not run, and the share of each
//! property. A [`DeviceFile`] keeps the models and the kernels to which they were fitted.
//!
//! # Tried without gain
//!
//! Errors are geometric mean / median over the paper's test kernels, as in
//! `bench/results/costmodel.md`. The alternatives were measured at different times, each with the
//! other counts of its time.
//!
//! - Squares of relative errors instead of the errors themselves, fitted to one table of measured
//!   kernels on `c`: 18.6 / 23.8 % instead of 17.0 / 19.5 %.
//! - Work-items instead of lanes, on the same table: 24.4 / 36.9 % instead of 17.0 / 19.5 %. With
//!   squares: 19.4 / 32.4 % instead of 18.6 / 23.8 %.
//! - PoCL's threads left to the system: 24.9 / 37.6 % instead of 19.2 / 27.6 % (`nnls`, one
//!   calibration after the other).
//! - One count after the other, on `c` with sums in registers. Before: 16.9 / 21.1 %. Chains by
//!   blocks with 32 operations hidden: 19.5 / 31.8 %. Then products and sums as one operation: 14.3
//!   / 20.8 %. Then copies between barriers that hide behind nothing: 14.5 / 17.1 %. Then loads
//!   shared by the rows of a block counted once: 8.3 / 8.1 %. No step was left out alone. The steps
//!   follow from how the generated code runs, but the errors of the test kernels were known when
//!   they were chosen. No weight was fitted to the test kernels.

mod case;
mod correction;
mod dependence;
mod design;
mod document;
mod domain;
mod fit;
mod hull;
mod kin;
mod left_out;
mod linear;
mod model;
mod overlap;
mod own;
mod own_name;
mod peaks;
mod property;
pub mod protocol;
mod qr;
mod reach;
mod waves;

pub use case::{Case, CaseError};
pub use correction::{Correction, CorrectionKind, MeasuredVariant};
pub use dependence::Dependence;
pub use document::{DEVICE_KIND, DeviceFile, Provenance};
pub use domain::{Bounded, Domain, Interval, Outside};
pub use fit::{fit, fit_on};
#[cfg(test)]
pub(crate) use kin::Kin;
pub use model::{CostModel, Estimate, Form, Residual, Share, Term, error_mean};
pub use own::OwnProperty;
pub(crate) use own::with_own;
pub use own_name::OwnName;
pub(crate) use peaks::Peaks;
pub use peaks::{LeastWork, LowerBound, WorkKind};
#[cfg(test)]
pub(crate) use property::counts_of;
pub use property::{Cache, CostProperty, PropertyCounts, Resource};
pub use reach::Reach;
