//! The work that a fleet did.

use serde::Serialize;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The work of a fleet so far.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct FleetReport {
    /// Its workers, in the order in which they came.
    pub workers: Vec<WorkerReport>,
    /// Seconds since the first worker was ready.
    pub seconds: f64,
    /// The seconds in which workers held leases, divided by [`seconds`](Self::seconds): how many times
    /// the work of one device the fleet did.
    pub speedup: f64,
}

/// The work of one worker.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct WorkerReport {
    /// Its number.
    pub id: u64,
    /// Its host and process.
    pub name: String,
    /// Its device.
    pub device: String,
    /// Number of its evaluations and later measurements that count.
    pub evaluations: u64,
    /// Number of its answers to leases that another worker had answered.
    pub second: u64,
    /// Number of its leases that ended without an answer.
    pub lost: u64,
    /// Seconds in which it held a lease.
    pub busy: f64,
    /// Its present state.
    pub state: WorkerState,
}

/// The state of a worker.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum WorkerState {
    /// It serves.
    #[default]
    Ready,
    /// It is set aside: it gets no more work.
    SetAside,
    /// It is gone.
    Gone,
}

/// The report of a fleet, also after the fleet itself has ended.
#[derive(Clone, Debug, Default)]
pub struct SharedReport(Arc<Mutex<FleetReport>>);

impl SharedReport {
    /// Returns the report at this time.
    pub fn now(&self) -> FleetReport {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn change(&self, change: impl FnOnce(&mut FleetReport)) {
        let mut report = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut report);
    }
}

impl FleetReport {
    pub(crate) fn worker(&mut self, id: u64) -> Option<&mut WorkerReport> {
        self.workers.iter_mut().find(|worker| worker.id == id)
    }

    pub(crate) fn settle(&mut self, since_first: Duration) {
        self.seconds = since_first.as_secs_f64();
        let busy: f64 = self.workers.iter().map(|worker| worker.busy).sum();
        self.speedup = if self.seconds > 0.0 { busy / self.seconds } else { 0.0 };
    }

    /// Returns the number of workers that serve.
    pub fn serving(&self) -> usize {
        self.workers.iter().filter(|worker| worker.state == WorkerState::Ready).count()
    }
}
