//! Cost models: the time of a kernel from how often it does what, and what that costs on a device.
//!
//! Stevens and Klöckner, A Unified, Hardware-Fitted, Cross-GPU Performance Model. A kernel's properties are counted (its loads
//! by stride, its additions, its work-groups); measured kernels tell what one unit of each costs on a device ([`fit`]); the
//! model then [estimates](CostModel::estimate) the time of kernels that were not run, and says where it goes. A
//! [`DeviceFile`] keeps the models with what they were fitted to.

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
mod waves;

pub use case::{Case, CaseError};
pub use dependence::Dependence;
pub use document::{DEVICE_KIND, DeviceFile, Lanes, Provenance};
pub use fit::{fit, fit_on};
pub use hull::Outside;
pub use model::{CostModel, Estimate, Form, Residual, Share, Term, error_mean};
pub use property::{APART, CONSTANT, Resource, is_published};
