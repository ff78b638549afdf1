//! The report of the fleet: what each worker does now.

use super::{Fleet, Work};
use crate::lease::{Leases, WorkerId};
use std::time::Duration;
use tunesmith_store::{WorkerReport, WorkerRole, WorkerState};

impl Fleet {
    /// Brings the report up to date.
    pub(super) fn update_report(&mut self, now: Duration) {
        let since = now.saturating_sub(self.first_ready.unwrap_or(now));
        let (measuring, compiling) = (&self.leases, &self.compilers.leases);
        let members = &self.members;
        self.report.change(|report| {
            for (connection, member) in members {
                let own = member.id.map(|id| (measuring, id)).or(member.compiler.map(|id| (compiling, id)));
                let (Some((leases, id)), Some(worker)) = (own, report.worker(*connection)) else { continue };
                count(worker, leases, id, now);
            }
            report.waiting = measuring.waiting() + compiling.waiting();
            report.settle(since);
        });
    }
}

/// Brings the report about a worker up to date.
fn count(worker: &mut WorkerReport, leases: &Leases<Work>, id: WorkerId, now: Duration) {
    let counts = leases.counts(id);
    (worker.second, worker.lost, worker.holds) = (counts.second, counts.lost, leases.held_by(id));
    match worker.role {
        WorkerRole::Measures => (worker.evaluations, worker.checks) = (counts.answered, counts.own),
        WorkerRole::Compiles => worker.compiled = counts.answered,
    }
    worker.busy = leases.busy(id, now).as_secs_f64();
    worker.state = match (leases.is_set_aside(id), leases.is_usable(id)) {
        (true, _) => WorkerState::SetAside,
        (false, false) => WorkerState::Silent,
        (false, true) => WorkerState::Ready,
    };
}
