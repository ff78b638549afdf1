//! The state of a fleet, in a file beside the journal of its run.
//!
//! The journal is the truth. The file tells what the journal does not: leases, losses, and workers that
//! have measured nothing. It holds no secret, and nothing is lost with it.

use crate::read::io_error;
use crate::{Recorded, StoreError};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The work of a fleet so far.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FleetReport {
    /// The fleet, as `--fleet` names it.
    #[serde(default)]
    pub spec: String,
    /// Its workers, in the order in which they came.
    pub workers: Vec<WorkerReport>,
    /// Number of requests that no worker has.
    #[serde(default)]
    pub waiting: usize,
    /// Seconds since the first worker was ready.
    pub seconds: f64,
    /// The seconds in which workers held leases, divided by [`seconds`](Self::seconds): how many times
    /// the work of one device the fleet did.
    pub speedup: f64,
}

/// The work of one worker.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WorkerReport {
    /// Its number.
    pub id: u64,
    /// Its host and process.
    pub name: String,
    /// Its device, or the one that it compiles for.
    pub device: String,
    /// Its work.
    #[serde(default)]
    pub role: WorkerRole,
    /// Number of its evaluations and later measurements that count.
    pub evaluations: u64,
    /// Number of configurations that it compiled for the others.
    #[serde(default)]
    pub compiled: u64,
    /// Number of its measurements of the reference, which compare it with the others.
    #[serde(default)]
    pub checks: u64,
    /// Its time for the reference divided by that of the others, once both are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level: Option<f64>,
    /// Number of its answers to leases that another worker had answered.
    pub second: u64,
    /// Number of its leases that ended without an answer.
    pub lost: u64,
    /// Number of leases that it holds.
    #[serde(default)]
    pub holds: usize,
    /// Seconds in which it held a lease.
    pub busy: f64,
    /// Its present state.
    pub state: WorkerState,
    /// The reason why it is set aside or gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// The work of a worker.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WorkerRole {
    /// It measures configurations, and compiles those that nobody compiled for it.
    #[default]
    Measures,
    /// It compiles for the workers that measure, and needs no device.
    Compiles,
}

impl WorkerRole {
    /// Returns the word for users.
    pub fn word(self) -> &'static str {
        match self {
            Self::Measures => "measures",
            Self::Compiles => "compiles",
        }
    }
}

/// The state of a worker.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WorkerState {
    /// It serves.
    #[default]
    Ready,
    /// It did not answer a lease in time, and gets none before it does.
    Silent,
    /// It is set aside: it gets no more work.
    SetAside,
    /// It is gone.
    Gone,
    /// It served until the run ended.
    Ended,
}

impl WorkerState {
    /// Returns the word for users.
    pub fn word(self) -> &'static str {
        match self {
            Self::Ready => "serves",
            Self::Silent => "silent",
            Self::SetAside => "set aside",
            Self::Gone => "gone",
            Self::Ended => "served",
        }
    }
}

impl FleetReport {
    /// Returns the path of the state of the run whose journal is at `journal`.
    pub fn beside(journal: &Path) -> PathBuf {
        journal.with_extension(SUFFIX)
    }

    /// Returns true if `path` is that of the state of some run.
    pub fn is_path(path: &Path) -> bool {
        path.file_name().is_some_and(|name| name.to_string_lossy().ends_with(&format!(".{SUFFIX}")))
    }

    /// Reads the state of the run whose journal is at `journal`. Returns `None` if it has none.
    ///
    /// # Errors
    /// The file cannot be read, or is another one.
    pub fn read(journal: &Path) -> Result<Option<Self>, StoreError> {
        let path = Self::beside(journal);
        let text = match tunesmith_files::read_text(&path, tunesmith_files::TEXT) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            text => text.map_err(|source| io_error(&path, source))?,
        };
        let wrong = |error: serde_json::Error| StoreError::Line {
            line: error.line(),
            reason: format!("this is no state of a fleet: {error}; remove the file"),
            path: path.clone(),
        };
        serde_json::from_str(&text).map(Some).map_err(wrong)
    }

    /// Returns what a journal alone tells of the fleet that measured it: the work of each worker. Returns
    /// `None` if one device measured it.
    pub fn recorded(recorded: &Recorded) -> Option<Self> {
        let mut report = Self::default();
        let lines = recorded.entries.iter().chain(recorded.again.iter().map(|again| &again.entry));
        for entry in lines {
            let Some(name) = &entry.worker else { continue };
            let at = report.workers.iter().position(|worker| worker.name == *name).unwrap_or_else(|| {
                let (id, state) = (report.workers.len() as u64 + 1, WorkerState::Ended);
                report.workers.push(WorkerReport { id, state, name: name.clone(), ..WorkerReport::default() });
                report.workers.len() - 1
            });
            let worker = &mut report.workers[at];
            worker.evaluations += 1;
            worker.busy += entry.took.unwrap_or_default();
        }
        let last = recorded.entries.iter().map(|entry| entry.clock).fold(0.0, f64::max);
        report.settle(Duration::try_from_secs_f64(last).unwrap_or_default());
        Some(report).filter(|report| !report.workers.is_empty())
    }

    /// Writes the state of the run whose journal is at `journal`. A reader sees the old one or the new
    /// one as a whole.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&self, journal: &Path) -> std::io::Result<()> {
        tunesmith_files::replace(&Self::beside(journal), serde_json::to_vec_pretty(self)?)
    }

    /// Returns the worker with this number.
    pub fn worker(&mut self, id: u64) -> Option<&mut WorkerReport> {
        self.workers.iter_mut().find(|worker| worker.id == id)
    }

    /// Sets the time since the first worker was ready, and what follows from it.
    pub fn settle(&mut self, since_first: Duration) {
        self.seconds = since_first.as_secs_f64();
        let busy: f64 = self.of(WorkerRole::Measures).map(|worker| worker.busy).sum();
        self.speedup = if self.seconds > 0.0 { busy / self.seconds } else { 0.0 };
    }

    /// Returns the workers with this work.
    pub fn of(&self, role: WorkerRole) -> impl Iterator<Item = &WorkerReport> {
        self.workers.iter().filter(move |worker| worker.role == role)
    }

    /// Returns the number of workers in `state`, whatever their work.
    pub fn count(&self, state: WorkerState) -> usize {
        self.workers.iter().filter(|worker| worker.state == state).count()
    }

    /// Returns the number of leases that workers hold.
    pub fn held(&self) -> usize {
        self.workers.iter().map(|worker| worker.holds).sum()
    }

    /// Returns the number of leases that ended without an answer.
    pub fn lost(&self) -> u64 {
        self.workers.iter().map(|worker| worker.lost).sum()
    }
}

const SUFFIX: &str = "fleet.json";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_is_read_as_it_was_written_and_a_run_without_one_has_none() {
        let folder = tempfile::tempdir().unwrap();
        let journal = folder.path().join("a.b.jsonl");
        assert_eq!(FleetReport::read(&journal).unwrap(), None);
        let gone = WorkerReport { state: WorkerState::Gone, reason: Some("killed".to_string()), ..Default::default() };
        let busy = WorkerReport { id: 2, busy: 3.0, holds: 2, level: Some(1.5), ..Default::default() };
        let compiler = WorkerReport { id: 3, busy: 2.0, role: WorkerRole::Compiles, compiled: 4, ..Default::default() };
        let mut report = FleetReport { workers: vec![gone, busy, compiler], ..Default::default() };
        report.settle(Duration::from_secs(2));
        assert_eq!((report.speedup, report.held(), report.count(WorkerState::Gone)), (1.5, 2, 1));
        report.write(&journal).unwrap();
        assert_eq!(FleetReport::beside(&journal), folder.path().join("a.b.fleet.json"));
        assert!(FleetReport::is_path(&FleetReport::beside(&journal)) && !FleetReport::is_path(&journal));
        assert_eq!(FleetReport::read(&journal).unwrap(), Some(report));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        std::fs::write(FleetReport::beside(&journal), "{}").unwrap();
        let error = FleetReport::read(&journal).unwrap_err().to_string();
        assert!(error.contains("a.b.fleet.json") && error.contains("no state of a fleet"), "{error}");
    }
}
