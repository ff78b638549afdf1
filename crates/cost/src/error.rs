//! Errors of calibrating a device, and of counting or estimating a nest.

use std::path::PathBuf;
use tunesmith_core::Refusal;
use tunesmith_device::DeviceError;
use tunesmith_problem::ProblemError;
use tunesmith_store::ExportError;

/// An error of calibrating a device, or of counting or estimating a nest.
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
    /// The measurement could not continue.
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
        /// The reason.
        source: std::io::Error,
    },
}

impl Error {
    /// Returns true if the user's request is wrong, rather than a device or the disk.
    pub fn is_request(&self) -> bool {
        match self {
            Self::Refused(_) | Self::Problem(_) => true,
            Self::Device(error) => error.is_request(),
            Self::Write { source, .. } => source.kind() == std::io::ErrorKind::NotFound,
            Self::Run(_) | Self::Export(_) => false,
        }
    }

    /// Returns the remedy, if one is known and not part of the text.
    pub fn remedy(&self) -> Option<&str> {
        match self {
            Self::Refused(refusal) => refusal.remedy.as_deref(),
            Self::Device(error) => error.remedy(),
            _ => None,
        }
    }

    /// Returns the error of the problem file, if it is one.
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
