//! Why a problem's kernels cannot be run.

use crate::ProblemError;
use tunesmith_core::Refusal;
use tunesmith_device::DeviceError;

/// Says why a problem's kernels cannot be run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The problem file is wrong.
    #[error(transparent)]
    File(#[from] ProblemError),
    /// The problem has no kernel that can be run.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The device cannot be used, or not with this problem.
    #[error(transparent)]
    Device(#[from] DeviceError),
}
