//! Errors of a problem whose kernels cannot be run.

use crate::ProblemError;
use tunesmith_core::Refusal;
use tunesmith_device::DeviceError;

/// The kernels of a problem cannot be run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The problem file is wrong.
    #[error(transparent)]
    File(#[from] ProblemError),
    /// The problem has no kernel that can be run.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The device cannot be used, or cannot be used with this problem.
    #[error(transparent)]
    Device(#[from] DeviceError),
}

impl Error {
    /// Returns true if the user's request is wrong, rather than a device or the disk.
    pub fn is_request(&self) -> bool {
        match self {
            Self::File(_) | Self::Refused(_) => true,
            Self::Device(error) => error.is_request(),
        }
    }

    /// Returns the advice for the user, if there is any beyond the text of the error.
    pub fn remedy(&self) -> Option<&str> {
        match self {
            Self::Refused(refusal) => refusal.remedy.as_deref(),
            Self::Device(error) => error.remedy(),
            Self::File(_) => None,
        }
    }

    /// Returns the faults of the problem file, if it is wrong.
    pub fn problem(&self) -> Option<&ProblemError> {
        match self {
            Self::File(error) => Some(error),
            _ => None,
        }
    }
}
