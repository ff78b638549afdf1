//! Errors of journals.

use crate::Difference;
use std::path::PathBuf;
use tunesmith_space::{ErrorClass, UserError};

/// A journal cannot be written, read or resumed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The operating system refused.
    #[error("journal `{}`: {source}", path.display())]
    Io {
        /// The journal.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// A line is not a line of a journal.
    #[error("journal `{}`, line {line}: {reason}", path.display())]
    Line {
        /// The journal.
        path: PathBuf,
        /// The line, counted from 1.
        line: usize,
        /// The fault.
        reason: String,
    },
    /// A file was named that is no journal.
    #[error("journal `{}`, line 1: no journal, which `tunesmith tune` writes (.jsonl): {reason}", path.display())]
    NotAJournal {
        /// The file.
        path: PathBuf,
        /// The fault of its first line.
        reason: String,
    },
    /// The journal was written by a later version.
    #[error("journal `{}` has format version {found}; this version reads up to {known}", path.display())]
    Version {
        /// The journal.
        path: PathBuf,
        /// Its format version.
        found: u32,
        /// The latest version that this crate reads.
        known: u32,
    },
    /// The journal belongs to another run.
    #[error("journal `{}` cannot be resumed: it was written for another run; leave out --resume to start a new one\n{}", path.display(), lines(differences))]
    Differs {
        /// The journal.
        path: PathBuf,
        /// The differences.
        differences: Vec<Difference>,
    },
    /// Something else deleted, replaced or cut the journal, or wrote to it, while it was written.
    #[error("journal `{}` {how} while it was being written", path.display())]
    Lost {
        /// The journal.
        path: PathBuf,
        /// The clause that says what happened.
        how: String,
    },
    /// A folder was named that holds no journal.
    #[error("the folder `{}` holds no journal; `tunesmith tune PROBLEM` writes one; name a file that does not end in .jsonl", folder.display())]
    NoJournal {
        /// The folder.
        folder: PathBuf,
    },
    /// A measurement cannot be kept.
    #[error("journal `{}`: configuration {index} has {reason}", path.display())]
    Measurement {
        /// The journal.
        path: PathBuf,
        /// The rank of the configuration.
        index: String,
        /// The fault.
        reason: String,
    },
    /// Another process writes the journal.
    #[error("journal `{}` is being written by another process; wait for it or name another with --out", path.display())]
    Busy {
        /// The journal.
        path: PathBuf,
    },
}

impl UserError for StoreError {
    fn class(&self) -> ErrorClass {
        match self {
            Self::Io { source, .. } => ErrorClass::request_if(tunesmith_files::is_wrong_path(source)),
            Self::Lost { .. } | Self::Measurement { .. } => ErrorClass::Run,
            _ => ErrorClass::Request,
        }
    }

    fn remedy(&self) -> Option<&str> {
        match self {
            Self::NotAJournal { .. } => Some("name the journal of a run, or a folder with one"),
            _ => None,
        }
    }
}

fn lines(differences: &[Difference]) -> String {
    differences.iter().map(|difference| format!("  {difference}")).collect::<Vec<_>>().join("\n")
}
