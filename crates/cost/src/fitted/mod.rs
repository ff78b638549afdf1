//! Cost models: the time of a kernel from how often it does what, and what that costs on a device.
//!
//! Stevens and Klöckner, A Unified, Hardware-Fitted, Cross-GPU Performance Model. A kernel's
//! properties are counted (its loads by stride, its additions, its work-groups); measured kernels
//! tell what one unit of each costs on a device ([`fit`]); the model then
//! [estimates](CostModel::estimate) the time of kernels that were not run, and says where it goes.
//! A [`DeviceFile`] keeps the models with what they were fitted to.
//!
//! # Tried without gain
//!
//! Errors are geometric mean / median over the paper's test kernels, as in
//! `bench/results/costmodel.md`. Each alternative was measured at another time, with the other
//! counts of that time.
//!
//! - Squares of relative errors instead of the errors themselves, fitted to one table of measured
//!   kernels on `c`: 18.6 / 23.8 % instead of 17.0 / 19.5 %.
//! - Work-items instead of lanes, on the same table: 24.4 / 36.9 % instead of 17.0 / 19.5 %; with
//!   squares 19.4 / 32.4 % instead of 18.6 / 23.8 %.
//! - PoCL's threads left to the system: 24.9 / 37.6 % instead of 19.2 / 27.6 % (`nnls`, one
//!   calibration after the other).
//! - One count after the other, on `c` with sums in registers (16.9 / 21.1 % before): chains by
//!   blocks with 32 operations hidden 19.5 / 31.8 %; then products and sums as one operation 14.3 /
//!   20.8 %; then copies between barriers that hide behind nothing 14.5 / 17.1 %; then loads that
//!   the rows of a block share counted once 8.3 / 8.1 %. No step was left out alone. They were
//!   decided on with the test kernels' errors in sight, from how the generated code runs; no weight
//!   was fitted to them.

mod case;
mod dependence;
mod design;
mod document;
mod fit;
mod hull;
mod linear;
mod model;
mod overlap;
mod property;
pub mod protocol;
mod qr;
mod waves;

pub use case::{Case, CaseError};
pub use dependence::Dependence;
pub use document::{DEVICE_KIND, DeviceFile, Provenance};
pub use fit::{fit, fit_on};
pub use hull::Outside;
pub use model::{CostModel, Estimate, Form, Residual, Share, Term, error_mean};
#[cfg(test)]
pub(crate) use property::counts_of;
pub use property::{Cache, CostProperty, PropertyCounts, Resource};
