//! The state of a fleet as another process sees it.

use serde::Serialize;
use std::path::Path;
use tunesmith_store::{FleetReport, Follow, StoreError};

/// The state of a fleet.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FleetStatus {
    /// True if a coordinator writes the journal, and `None` if the system does not tell.
    pub is_running: Option<bool>,
    /// True if the coordinator left its state beside the journal. Otherwise the journal tells what each
    /// worker measured, and nothing is known of leases.
    pub has_state: bool,
    /// The workers.
    #[serde(flatten)]
    pub report: FleetReport,
}

/// Returns the state of the fleet whose journal is at `path`. Returns `None` if one device measured it.
///
/// # Errors
/// A file cannot be read.
pub fn status(path: &Path) -> Result<Option<FleetStatus>, StoreError> {
    let is_running = Follow::open(path)?.is_written();
    let state = FleetReport::read(path)?;
    let has_state = state.is_some();
    let report = match state {
        Some(report) => Some(report),
        None => FleetReport::recorded(&tunesmith_store::read(path)?),
    };
    Ok(report.map(|report| FleetStatus { is_running, has_state, report }))
}
