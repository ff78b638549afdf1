//! Why a command could not do its work.

use tunesmith_choose::WisdomError;
use tunesmith_choose::timing::TimingModelError;
use tunesmith_core::{Refusal, TargetParseError};
use tunesmith_device::{ChoiceError, DeviceError};
use tunesmith_problem::ProblemError;
use tunesmith_search::StrategyError;
use tunesmith_store::{ExportError, ImportError, StoreError};

/// Why a command could not do its work.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The problem file is wrong.
    #[error(transparent)]
    Problem(#[from] ProblemError),
    /// The request is wrong: an option, a name, a value.
    #[error("{text}")]
    Request {
        /// What is wrong.
        text: String,
        /// What to do about it.
        remedy: Option<String>,
    },
    /// The strategy's name or options are wrong.
    #[error(transparent)]
    Strategy(#[from] StrategyError),
    /// The stop condition is wrong.
    #[error(transparent)]
    Stop(#[from] tunesmith_core::StopParseError),
    /// The objective is none.
    #[error(transparent)]
    Objective(#[from] TargetParseError),
    /// The name of the device is wrong.
    #[error(transparent)]
    Choice(#[from] ChoiceError),
    /// The device cannot be used, or not with this problem.
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
    /// A recording cannot be written.
    #[error(transparent)]
    Export(#[from] ExportError),
    /// The run could not go on.
    #[error(transparent)]
    Run(#[from] tunesmith_core::Error),
    /// A picture could not be drawn.
    #[error("cannot draw `{}`: {source}", path.display())]
    Plot {
        /// The file it was for.
        path: std::path::PathBuf,
        /// Why not.
        source: tunesmith_report::PlotError,
    },
    /// A file could not be written.
    #[error("cannot write `{}`: {source}", path.display())]
    Write {
        /// The file.
        path: std::path::PathBuf,
        /// Why not.
        source: std::io::Error,
    },
}

impl Error {
    pub(crate) fn request(text: impl Into<String>, remedy: Option<String>) -> Self {
        Self::Request { text: text.into(), remedy }
    }

    /// Whether the user's request is wrong, rather than a device or the disk (exit code 2 rather than 3).
    pub fn is_request(&self) -> bool {
        match self {
            Self::Problem(_) | Self::Request { .. } | Self::Strategy(_) | Self::TimingModel(_) => true,
            Self::Stop(_) | Self::Objective(_) | Self::Choice(_) => true,
            // A file or a folder that is not there is a wrong name.
            Self::Recording(ImportError::Io { source, .. })
            | Self::Wisdom(WisdomError::Io { source, .. })
            | Self::Store(StoreError::Io { source, .. })
            | Self::Write { source, .. } => source.kind() == std::io::ErrorKind::NotFound,
            Self::Recording(_) | Self::Wisdom(_) | Self::Store(_) => true,
            Self::Run(_) | Self::Plot { .. } | Self::Export(_) => false,
            Self::Device(error) => is_about_the_problem(error),
        }
    }

    /// What to do about it, where that is known and not part of the text.
    pub fn remedy(&self) -> Option<&str> {
        match self {
            Self::Request { remedy, .. } => remedy.as_deref(),
            Self::Recording(error) => error.remedy(),
            Self::TimingModel(error) => Some(error.remedy()),
            Self::Choice(error) => error.remedy(),
            Self::Objective(error) => Some(error.remedy()),
            Self::Device(DeviceError::Absent { remedy, .. }) => Some(remedy),
            _ => None,
        }
    }
}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        let Refusal { text, remedy } = refusal;
        Self::Request { text, remedy }
    }
}

impl From<tunesmith_problem::Error> for Error {
    fn from(error: tunesmith_problem::Error) -> Self {
        use tunesmith_problem::Error as Of;
        match error {
            Of::File(error) => error.into(),
            Of::Refused(refusal) => refusal.into(),
            Of::Device(error) => error.into(),
            other => Self::request(other.to_string(), None),
        }
    }
}

impl From<tunesmith_cost::Error> for Error {
    fn from(error: tunesmith_cost::Error) -> Self {
        use tunesmith_cost::Error as Of;
        match error {
            Of::Refused(refusal) => refusal.into(),
            Of::Problem(error) => error.into(),
            Of::Device(error) => error.into(),
            Of::Run(error) => error.into(),
            Of::Export(error) => error.into(),
            Of::Write { path, source } => Self::Write { path, source },
            other => Self::request(other.to_string(), None),
        }
    }
}

impl From<tunesmith_study::Error> for Error {
    fn from(error: tunesmith_study::Error) -> Self {
        use tunesmith_study::Error as Of;
        match error {
            Of::Refused(refusal) => refusal.into(),
            Of::Strategy(error) => error.into(),
            Of::Recording(error) => error.into(),
            Of::Run(error) => error.into(),
            Of::Plot { path, source } => Self::Plot { path, source },
            Of::Write { path, source } => Self::Write { path, source },
            other => Self::request(other.to_string(), None),
        }
    }
}

impl From<tunesmith_timing::Error> for Error {
    fn from(error: tunesmith_timing::Error) -> Self {
        use tunesmith_timing::Error as Of;
        match error {
            Of::Refused(refusal) => refusal.into(),
            Of::Problem(error) => error.into(),
            Of::Recording(error) => error.into(),
            Of::Model(error) => error.into(),
            Of::Write { path, source } => Self::Write { path, source },
            other => Self::request(other.to_string(), None),
        }
    }
}

/// Whether the problem, rather than the machine, is at fault.
fn is_about_the_problem(error: &DeviceError) -> bool {
    let of_the_machine = matches!(
        error,
        DeviceError::Compiler { .. }
            | DeviceError::NoDevices { .. }
            | DeviceError::NoCounters { .. }
            | DeviceError::Scratch(_)
            | DeviceError::Worker { .. }
    );
    !of_the_machine
}
