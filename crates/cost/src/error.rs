//! Why a device cannot be calibrated, or a nest not be counted or estimated.

use std::path::PathBuf;
use tunesmith_core::Refusal;
use tunesmith_device::DeviceError;
use tunesmith_problem::ProblemError;
use tunesmith_store::ExportError;

/// Says why a device cannot be calibrated, or a nest not be counted or estimated.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The request is wrong: an option, a nest, a device file.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The problem file is wrong.
    #[error(transparent)]
    Problem(#[from] ProblemError),
    /// The device cannot be used.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// The measurement could not go on.
    #[error(transparent)]
    Run(#[from] tunesmith_core::Error),
    /// The estimates cannot be written.
    #[error(transparent)]
    Export(#[from] ExportError),
    /// The device file or its journal cannot be written.
    #[error("cannot write `{}`: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
}

impl Error {
    /// Tells whether the user's request is wrong, rather than a device or the disk.
    pub fn is_request(&self) -> bool {
        match self {
            Self::Refused(_) | Self::Problem(_) => true,
            Self::Device(error) => error.is_request(),
            Self::Write { source, .. } => source.kind() == std::io::ErrorKind::NotFound,
            Self::Run(_) | Self::Export(_) => false,
        }
    }

    /// Returns what to do about it, where that is known and not part of the text.
    pub fn remedy(&self) -> Option<&str> {
        match self {
            Self::Refused(refusal) => refusal.remedy.as_deref(),
            Self::Device(error) => error.remedy(),
            _ => None,
        }
    }

    /// Returns what is wrong with the problem file, if that is it.
    pub fn problem(&self) -> Option<&ProblemError> {
        match self {
            Self::Problem(error) => Some(error),
            _ => None,
        }
    }

    pub(crate) fn request(text: impl Into<String>, remedy: Option<String>) -> Self {
        Refusal::new(text, remedy).into()
    }
}
