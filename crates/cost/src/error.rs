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
    pub(crate) fn request(text: impl Into<String>, remedy: Option<String>) -> Self {
        Refusal::new(text, remedy).into()
    }
}
