//! Finds the journal in a folder.

use crate::{StoreError, read_header};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The journal of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundRun {
    /// Its file.
    pub path: PathBuf,
    /// The number of journals in the folder, or 1 if a file was named.
    pub among: usize,
}

/// Returns `path` if it is no folder, and otherwise the journal in that folder, the one that was written
/// last if there are several. Folders in it are not searched. Costs a line of each file that ends in
/// `.jsonl`.
///
/// # Errors
/// The folder cannot be read, or holds no journal.
pub fn find_run(path: &Path) -> Result<FoundRun, StoreError> {
    if !path.is_dir() {
        return Ok(FoundRun { path: path.to_path_buf(), among: 1 });
    }
    let unreadable = |source| StoreError::Io { path: path.to_path_buf(), source };
    let files = std::fs::read_dir(path).map_err(unreadable)?.flatten().map(|entry| entry.path());
    let named = files.filter(|file| file.extension().is_some_and(|suffix| suffix == "jsonl"));
    let journals: Vec<PathBuf> = named.filter(|file| read_header(file).is_ok()).collect();
    let among = journals.len();
    let latest = journals.into_iter().max_by_key(|file| (written(file), file.clone()));
    let path = latest.ok_or_else(|| StoreError::NoJournal { folder: path.to_path_buf() })?;
    Ok(FoundRun { path, among })
}

/// Returns the time of the last change, as far as it is known.
fn written(file: &Path) -> Option<SystemTime> {
    file.metadata().and_then(|about| about.modified()).ok()
}
