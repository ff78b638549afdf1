//! Errors of training and asking timing models.

use std::path::PathBuf;
use tunesmith_choose::timing::TimingModelError;
use tunesmith_core::Refusal;
use tunesmith_problem::ProblemError;
use tunesmith_store::ImportError;

/// A timing model cannot be trained or asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The request is wrong: an option, an input, or recordings that do not belong together.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The problem file is wrong.
    #[error(transparent)]
    Problem(#[from] ProblemError),
    /// A recording cannot be read.
    #[error(transparent)]
    Recording(#[from] ImportError),
    /// The model's file cannot be read.
    #[error(transparent)]
    Model(#[from] TimingModelError),
    /// The model's file cannot be written.
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
            Self::Refused(_) | Self::Problem(_) | Self::Model(_) => true,
            Self::Recording(error) => error.is_request(),
            Self::Write { source, .. } => source.kind() == std::io::ErrorKind::NotFound,
        }
    }

    /// Returns the advice for the user, if there is any beyond the text of the error.
    pub fn remedy(&self) -> Option<&str> {
        match self {
            Self::Refused(refusal) => refusal.remedy.as_deref(),
            Self::Recording(error) => error.remedy(),
            Self::Model(error) => Some(error.remedy()),
            _ => None,
        }
    }

    /// Returns the faults of the problem file, if it is wrong.
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
