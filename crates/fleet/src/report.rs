//! The report of a fleet while it works and after it has ended.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tunesmith_store::FleetReport;

/// Time between two states on disk.
const EVERY: Duration = Duration::from_secs(1);

/// The report of a fleet, also after the fleet itself has ended.
#[derive(Clone, Debug, Default)]
pub struct SharedReport(Arc<Mutex<Kept>>);

#[derive(Debug, Default)]
struct Kept {
    report: FleetReport,
    /// The journal beside which the report is kept for other processes.
    journal: Option<PathBuf>,
    written: Option<Duration>,
    /// Number of workers of other kinds, which wait for a run of their own.
    others: usize,
}

impl SharedReport {
    /// Returns the report at this time.
    pub fn now(&self) -> FleetReport {
        self.read(FleetReport::clone)
    }

    /// Returns something about the report at this time.
    pub fn read<T>(&self, read: impl FnOnce(&FleetReport) -> T) -> T {
        read(&self.0.lock().unwrap_or_else(PoisonError::into_inner).report)
    }

    /// Keeps the report beside `journal` from now on, where `tunesmith fleet status` finds it.
    pub fn keep_beside(&self, journal: &Path) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        (kept.journal, kept.written) = (Some(journal.to_path_buf()), None);
    }

    /// Returns the number of workers of other kinds, which wait for a run of their own.
    pub fn others(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).others
    }

    pub(crate) fn set_others(&self, others: usize) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).others = others;
    }

    /// Writes nothing any more.
    pub(crate) fn close(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).journal = None;
    }

    pub(crate) fn change(&self, change: impl FnOnce(&mut FleetReport)) {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner).report);
    }

    /// Writes the report if it is due, or if this is its last state. Returns a sentence if that failed;
    /// it is not tried again.
    pub(crate) fn write(&self, now: Duration, is_last: bool) -> Option<String> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !is_last && kept.written.is_some_and(|written| now < written + EVERY) {
            return None;
        }
        kept.written = Some(now);
        let journal = kept.journal.clone()?;
        let error = kept.report.write(&journal).err()?;
        kept.journal = None;
        let path = FleetReport::beside(&journal);
        Some(format!("the state of the fleet is not kept in `{}`: {error}", path.display()))
    }
}
