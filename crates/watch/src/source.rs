//! The file of a run, as a reader must know it.

use std::path::PathBuf;
use tunesmith_store::FleetReport;

/// The file of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Source {
    /// Its path.
    pub path: PathBuf,
    /// The state of the run by its file.
    pub life: Life,
    /// True if lines were not read yet.
    pub is_behind: bool,
    /// A sentence about an event of the file, such as that it was replaced.
    pub notice: Option<String>,
    /// The state of the workers, if several devices measure the run.
    pub fleet: Option<FleetReport>,
}

/// The state of a run, by its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Life {
    /// A process writes the file.
    Running,
    /// No process writes it.
    Still,
    /// The system does not tell whether a process writes it.
    Unknown,
    /// There is no file any more.
    Deleted,
    /// The file cannot be read further.
    Unreadable {
        /// The reason.
        reason: String,
    },
}
