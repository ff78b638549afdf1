//! The workers of a fleet in a few words.

use tunesmith::report::counted;
use tunesmith::store::{FleetReport, WorkerRole, WorkerState};

/// Says how a fleet is while it works.
pub(super) fn present(report: &FleetReport) -> String {
    let (lost, aside) = (report.lost(), report.count(WorkerState::SetAside));
    let silent = report.count(WorkerState::Silent);
    let some = |count: u64, word: &str| if count > 0 { format!(", {count} {word}") } else { String::new() };
    let (silent, aside, lost) = (some(silent as u64, "silent"), some(aside as u64, "aside"), some(lost, "lost"));
    let is_there = |role| report.of(role).filter(|worker| worker.state == WorkerState::Ready).count();
    let serving = counted(is_there(WorkerRole::Measures), "worker");
    let compiling = some(is_there(WorkerRole::Compiles) as u64, "compiling");
    format!("{serving}{compiling}{silent}{aside}, {}{lost}", counted(report.held(), "lease"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tunesmith::store::WorkerReport;

    #[test]
    fn what_is_wrong_is_said_and_nothing_else() {
        let worker = |state, holds, lost| WorkerReport { state, holds, lost, ..WorkerReport::default() };
        let good = FleetReport { workers: vec![worker(WorkerState::Ready, 1, 0); 3], ..FleetReport::default() };
        assert_eq!(present(&good), "3 workers, 3 leases");
        let compiler = WorkerReport { role: WorkerRole::Compiles, ..worker(WorkerState::Ready, 4, 0) };
        let workers = vec![worker(WorkerState::Ready, 1, 0), compiler];
        let both = FleetReport { workers, ..FleetReport::default() };
        assert_eq!(present(&both), "1 worker, 1 compiling, 5 leases");
        let states = [WorkerState::Ready, WorkerState::Silent, WorkerState::SetAside, WorkerState::Gone];
        let bad = FleetReport { workers: states.map(|state| worker(state, 0, 1)).to_vec(), ..FleetReport::default() };
        assert_eq!(present(&bad), "1 worker, 1 silent, 1 aside, 0 leases, 4 lost");
    }
}
