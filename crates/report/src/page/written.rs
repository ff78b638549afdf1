//! Describes a page that was written.

use super::record::{NoteLine, RunSection};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// A page in a file. Its JSON form is what `report --json` prints.
#[derive(Clone, Debug, Serialize)]
pub struct Written {
    /// Number of its runs.
    pub runs: usize,
    /// Number of their evaluations, including failures.
    pub evaluations: usize,
    /// The notes of each run that has any, in the order of the page.
    pub notes: Vec<RunNotes>,
    /// The file.
    pub out: PathBuf,
}

/// The notes on the measurements of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RunNotes {
    /// The name of the run.
    pub run: String,
    /// Its notes, in the order in which they came up.
    pub notes: Vec<NoteLine>,
}

impl Written {
    /// Describes a page about `runs` in the file `out`.
    pub fn new(runs: &[RunSection], out: &Path) -> Self {
        let noted = runs.iter().filter(|run| !run.notes.is_empty());
        Self {
            runs: runs.len(),
            evaluations: runs.iter().map(|run| run.evaluations.len()).sum(),
            notes: noted.map(|run| RunNotes { run: run.name.clone(), notes: run.notes.clone() }).collect(),
            out: out.to_path_buf(),
        }
    }
}
