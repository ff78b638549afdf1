//! Errors of files of wisdom.

use super::header::WISDOM_VERSION;
use std::path::{Path, PathBuf};
use tunesmith_space::{ErrorClass, UserError};

/// A file of wisdom cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WisdomError {
    /// The operating system refused.
    #[error("wisdom `{}`: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// The file is not a file of wisdom.
    #[error("`{}` is not a file of wisdom: {reason}; write one with `tunesmith export RUN --as wisdom`", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// The file is Kernel Launcher's, but its header is damaged or states what cannot be read.
    #[error("wisdom `{}`: {reason}", path.display())]
    Header {
        /// The file.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// A later version or another program wrote the file.
    #[error("wisdom `{}` has format version {found}; this version reads up to {known}", path.display())]
    Version {
        /// The file.
        path: PathBuf,
        /// Its format version.
        found: String,
        /// The latest version that this crate reads.
        known: String,
    },
    /// Kernel Launcher's format cannot hold the wisdom.
    #[error("Kernel Launcher's files cannot hold this: {reason}")]
    Launcher {
        /// The reason.
        reason: String,
    },
}

/// A line that could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flawed {
    /// Its number, counted from 1.
    pub line: usize,
    /// The fault.
    pub reason: String,
}

impl UserError for WisdomError {
    fn class(&self) -> ErrorClass {
        match self {
            Self::Io { source, .. } => ErrorClass::request_if(tunesmith_files::is_wrong_path(source)),
            _ => ErrorClass::Request,
        }
    }
}

impl WisdomError {
    pub(super) fn foreign(path: &Path, reason: impl Into<String>) -> Self {
        Self::Foreign { path: path.to_path_buf(), reason: reason.into() }
    }

    pub(super) fn version(path: &Path, found: u64) -> Self {
        Self::Version { path: path.to_path_buf(), found: found.to_string(), known: WISDOM_VERSION.to_string() }
    }
}
