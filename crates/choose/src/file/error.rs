//! What can go wrong with a file of wisdom.

use super::WISDOM_VERSION;
use std::path::{Path, PathBuf};

/// A file of wisdom cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WisdomError {
    /// The operating system refused.
    #[error("wisdom `{}`: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Its reason.
        source: std::io::Error,
    },
    /// The file is something else.
    #[error("`{}` is no file of wisdom: {reason}; write one with `tunesmith export RUN --as wisdom`", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// Why it is none.
        reason: String,
    },
    /// The file was written by a later version, or of another program.
    #[error("wisdom `{}` has format version {found}; this version reads up to {known}", path.display())]
    Version {
        /// The file.
        path: PathBuf,
        /// Its format version.
        found: String,
        /// The latest version known here.
        known: String,
    },
    /// Kernel Launcher's format cannot hold it.
    #[error("Kernel Launcher's files cannot hold this: {reason}")]
    Launcher {
        /// Why not.
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

impl WisdomError {
    /// Tells whether the request is wrong: the file is missing or holds no wisdom. A disk that
    /// fails is none.
    pub fn is_request(&self) -> bool {
        match self {
            Self::Io { source, .. } => source.kind() == std::io::ErrorKind::NotFound,
            _ => true,
        }
    }

    pub(super) fn foreign(path: &Path, reason: impl Into<String>) -> Self {
        Self::Foreign { path: path.to_path_buf(), reason: reason.into() }
    }

    pub(super) fn version(path: &Path, found: u64) -> Self {
        Self::Version { path: path.to_path_buf(), found: found.to_string(), known: WISDOM_VERSION.to_string() }
    }
}
