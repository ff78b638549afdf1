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

impl Error {
    /// Tells whether the user's request is wrong, rather than a device or the disk.
    pub fn is_request(&self) -> bool {
        match self {
            Self::File(_) | Self::Refused(_) => true,
            Self::Device(error) => error.is_request(),
        }
    }

    /// Returns what to do about it, where that is known and not part of the text.
    pub fn remedy(&self) -> Option<&str> {
        match self {
            Self::Refused(refusal) => refusal.remedy.as_deref(),
            Self::Device(error) => error.remedy(),
            Self::File(_) => None,
        }
    }

    /// Returns what is wrong with the problem file, if that is it.
    pub fn problem(&self) -> Option<&ProblemError> {
        match self {
            Self::File(error) => Some(error),
            _ => None,
        }
    }
}
