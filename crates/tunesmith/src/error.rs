//! The error type of the facade.

use tunesmith_choose::WisdomError;
use tunesmith_choose::timing::TimingModelError;
use tunesmith_core::{Refusal, TargetParseError};
use tunesmith_device::{ChoiceError, DeviceError};
use tunesmith_problem::ProblemError;
use tunesmith_search::StrategyError;
use tunesmith_store::{ImportError, StoreError};

/// A command could not do its work.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The problem file is wrong.
    #[error(transparent)]
    Problem(#[from] ProblemError),
    /// The request is wrong: an option, a name, a value.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The problem's kernels cannot be run.
    #[error(transparent)]
    Kernels(#[from] tunesmith_problem::Error),
    /// A device cannot be calibrated, or a nest cannot be counted or estimated.
    #[error(transparent)]
    Cost(#[from] tunesmith_cost::Error),
    /// Strategies cannot be compared, or a counter model cannot be trained.
    #[error(transparent)]
    Study(#[from] tunesmith_study::Error),
    /// A timing model cannot be trained or asked.
    #[error(transparent)]
    Timing(#[from] tunesmith_timing::Error),
    /// The strategy's name or options are wrong.
    #[error(transparent)]
    Strategy(#[from] StrategyError),
    /// The stop condition is wrong.
    #[error(transparent)]
    Stop(#[from] tunesmith_core::StopParseError),
    /// The objective is wrong.
    #[error(transparent)]
    Objective(#[from] TargetParseError),
    /// The name of the device is wrong.
    #[error(transparent)]
    Choice(#[from] ChoiceError),
    /// The device cannot be used, or cannot be used with this problem.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// The journal cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A recording cannot be read.
    #[error(transparent)]
    Recording(#[from] ImportError),
    /// Wisdom cannot be read or written.
    #[error(transparent)]
    Wisdom(#[from] WisdomError),
    /// A timing model cannot be read.
    #[error(transparent)]
    TimingModel(#[from] TimingModelError),
    /// The run could not go on.
    #[error(transparent)]
    Run(#[from] tunesmith_core::Error),
    /// A picture could not be drawn.
    #[error("cannot draw `{}`: {source}", path.display())]
    Plot {
        /// The file of the picture.
        path: std::path::PathBuf,
        /// The reason.
        source: tunesmith_report::PlotError,
    },
    /// A file could not be written.
    #[error("cannot write `{}`: {source}", path.display())]
    Write {
        /// The file.
        path: std::path::PathBuf,
        /// The reason.
        source: std::io::Error,
    },
}

impl Error {
    pub(crate) fn request(text: impl Into<String>, remedy: Option<String>) -> Self {
        Refusal::new(text, remedy).into()
    }

    /// Returns true if the user's request is wrong, rather than a device or the disk (exit code 2
    /// rather than 3).
    pub fn is_request(&self) -> bool {
        match self {
            Self::Problem(_) | Self::Refused(_) | Self::Strategy(_) | Self::TimingModel(_) => true,
            Self::Stop(_) | Self::Objective(_) | Self::Choice(_) => true,
            Self::Kernels(error) => error.is_request(),
            Self::Cost(error) => error.is_request(),
            Self::Study(error) => error.is_request(),
            Self::Timing(error) => error.is_request(),
            Self::Recording(error) => error.is_request(),
            Self::Wisdom(error) => error.is_request(),
            Self::Store(error) => error.is_request(),
            Self::Device(error) => error.is_request(),
            // A missing folder is a wrong name.
            Self::Write { source, .. } => source.kind() == std::io::ErrorKind::NotFound,
            Self::Run(_) | Self::Plot { .. } => false,
        }
    }

    /// Returns true if the command was interrupted, and nothing is wrong.
    pub fn is_interruption(&self) -> bool {
        let device = match self {
            Self::Device(error)
            | Self::Kernels(tunesmith_problem::Error::Device(error))
            | Self::Cost(tunesmith_cost::Error::Device(error)) => Some(error),
            Self::Run(tunesmith_core::Error::Device(error)) => error.downcast_ref(),
            _ => None,
        };
        device.is_some_and(DeviceError::is_interruption)
    }

    /// Returns the advice for the user, if there is any beyond the text of the error.
    pub fn remedy(&self) -> Option<&str> {
        match self {
            Self::Refused(refusal) => refusal.remedy.as_deref(),
            Self::Kernels(error) => error.remedy(),
            Self::Cost(error) => error.remedy(),
            Self::Study(error) => error.remedy(),
            Self::Timing(error) => error.remedy(),
            Self::Recording(error) => error.remedy(),
            Self::TimingModel(error) => Some(error.remedy()),
            Self::Choice(error) => error.remedy(),
            Self::Objective(error) => Some(error.remedy()),
            Self::Device(error) => error.remedy(),
            Self::Store(error) => error.remedy(),
            _ => None,
        }
    }

    /// Returns the faults of the problem file, if it is wrong.
    pub fn problem(&self) -> Option<&ProblemError> {
        match self {
            Self::Problem(error) => Some(error),
            Self::Kernels(error) => error.problem(),
            Self::Cost(error) => error.problem(),
            Self::Timing(error) => error.problem(),
            _ => None,
        }
    }
}
