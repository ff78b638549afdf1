//! Errors of files of timing models.

use std::path::{Path, PathBuf};
use tunesmith_model::ModelError;
use tunesmith_space::{ErrorClass, UserError};

/// The file of a timing model cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TimingModelError {
    /// The operating system refused.
    #[error("`{}`: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// The file is damaged, is no timing model, or is of a later version.
    #[error("`{}`: {source}", path.display())]
    Model {
        /// The file.
        path: PathBuf,
        /// The fault of its content.
        source: ModelError,
    },
}

impl TimingModelError {
    pub(super) fn io(path: &Path, source: std::io::Error) -> Self {
        Self::Io { path: path.to_path_buf(), source }
    }

    pub(super) fn model(path: &Path, source: ModelError) -> Self {
        Self::Model { path: path.to_path_buf(), source }
    }
}

impl UserError for TimingModelError {
    fn class(&self) -> ErrorClass {
        ErrorClass::Request
    }

    fn remedy(&self) -> Option<&str> {
        Some("name a file that `tunesmith train timing` wrote")
    }
}
