//! Errors of comparing strategies and training counter models.

use std::path::PathBuf;
use tunesmith_core::Refusal;
use tunesmith_report::PlotError;
use tunesmith_search::StrategyError;
use tunesmith_store::{ExportError, ImportError};

/// Strategies cannot be compared, or a counter model cannot be trained.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The request is wrong: an option, or a recording that cannot be used.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// A strategy's name or options are wrong.
    #[error(transparent)]
    Strategy(#[from] StrategyError),
    /// A recording cannot be read.
    #[error(transparent)]
    Recording(#[from] ImportError),
    /// Somebody ended the work.
    #[error("interrupted")]
    Interrupted,
    /// A search could not go on.
    #[error(transparent)]
    Run(#[from] tunesmith_core::Error),
    /// A plot cannot be drawn.
    #[error("cannot draw `{}`: {source}", path.display())]
    Plot {
        /// The file of the plot.
        path: PathBuf,
        /// The reason.
        source: PlotError,
    },
    /// A recording cannot be written.
    #[error(transparent)]
    Export(#[from] ExportError),
    /// A file cannot be written.
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
            Self::Refused(_) | Self::Strategy(_) => true,
            Self::Recording(error) => error.is_request(),
            Self::Export(error) => tunesmith_files::is_wrong_path(&error.source),
            Self::Write { source, .. } => source.kind() == std::io::ErrorKind::NotFound,
            Self::Interrupted | Self::Run(_) | Self::Plot { .. } => false,
        }
    }

    /// Returns the advice for the user, if there is any beyond the text of the error.
    pub fn remedy(&self) -> Option<&str> {
        match self {
            Self::Refused(refusal) => refusal.remedy.as_deref(),
            Self::Recording(error) => error.remedy(),
            _ => None,
        }
    }

    pub(crate) fn request(text: impl Into<String>, remedy: Option<String>) -> Self {
        Refusal::new(text, remedy).into()
    }
}
