//! Errors of files of measurements.

use crate::StoreError;
use std::path::PathBuf;
use tunesmith_core::RecordingError;
use tunesmith_space::{ErrorClass, UserError};

/// A recording cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ImportError {
    /// The operating system refused.
    #[error("recording `{}`: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// The content violates its format.
    #[error("recording `{}`, {place}: {reason}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// The place: a line, a record.
        place: String,
        /// The fault.
        reason: String,
        /// The advice for the user.
        remedy: String,
    },
    /// The file is a journal that cannot be read.
    #[error(transparent)]
    Journal(#[from] StoreError),
}

impl UserError for ImportError {
    fn class(&self) -> ErrorClass {
        match self {
            Self::Io { source, .. } => ErrorClass::request_if(tunesmith_files::is_wrong_path(source)),
            Self::Malformed { .. } | Self::Journal(_) => ErrorClass::Request,
        }
    }

    fn remedy(&self) -> Option<&str> {
        match self {
            Self::Malformed { remedy, .. } => Some(remedy),
            _ => None,
        }
    }
}

/// A fault in the content of a file whose path is not known yet.
#[derive(Debug)]
pub(super) struct Flaw {
    pub(super) place: String,
    pub(super) reason: String,
    pub(super) remedy: String,
}

impl Flaw {
    pub(super) fn new(place: impl Into<String>, reason: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { place: place.into(), reason: reason.into(), remedy: remedy.into() }
    }

    /// Returns the same flaw of the JSON file beside a CSV.
    pub(super) fn in_sidecar(self) -> Self {
        Self { place: format!("its sidecar, {}", self.place), ..self }
    }

    /// Describes rows that make no recording. `place` names the row with a number.
    pub(super) fn of(error: &RecordingError, place: impl Fn(usize) -> String) -> Self {
        let place = error.row().map_or_else(|| "whole file".to_string(), place);
        Self::new(place, error.to_string(), error.remedy())
    }

    /// Describes a record of another kernel than `kernel`, which the records before it have.
    pub(super) fn other_kernel(place: String, kernel: Option<&str>) -> Self {
        let reason = format!("another kernel than `{}`", kernel.unwrap_or_default());
        Self::new(place, reason, "keep the results of one kernel in a file")
    }

    /// Describes a flaw in the record with the number `at`, counted from 0.
    pub(super) fn record(at: usize, reason: impl Into<String>) -> Self {
        Self::new(format!("result {}", at + 1), reason, "correct or remove that result")
    }
}
