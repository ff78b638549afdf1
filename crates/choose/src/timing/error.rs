//! What can go wrong with the file of a timing model.

use std::path::{Path, PathBuf};
use tunesmith_model::ModelError;

/// Tells why the file of a timing model cannot be used.
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
    /// The file is damaged, of something else, or of a later version.
    #[error("`{}`: {source}", path.display())]
    Model {
        /// The file.
        path: PathBuf,
        /// What is wrong with its content.
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

    /// Returns what to do about it.
    pub fn remedy(&self) -> &'static str {
        "name a file that `tunesmith train timing` wrote"
    }
}
