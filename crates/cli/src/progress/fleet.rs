//! The workers of a fleet in a few words.

use tunesmith::report::counted;
use tunesmith_fleet::{FleetReport, WorkerState};

/// Says how a fleet is while it works.
pub(super) fn present(report: &FleetReport) -> String {
    let (lost, aside) = (report.lost(), report.count(WorkerState::SetAside));
    let silent = report.count(WorkerState::Silent);
    let some = |count: u64, word: &str| if count > 0 { format!(", {count} {word}") } else { String::new() };
    let (silent, aside, lost) = (some(silent as u64, "silent"), some(aside as u64, "aside"), some(lost, "lost"));
    let serving = counted(report.count(WorkerState::Ready), "worker");
    format!("{serving}{silent}{aside}, {}{lost}", counted(report.held(), "lease"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tunesmith_fleet::WorkerReport;

    #[test]
    fn what_is_wrong_is_said_and_nothing_else() {
        let worker = |state, holds, lost| WorkerReport { state, holds, lost, ..WorkerReport::default() };
        let good = FleetReport { workers: vec![worker(WorkerState::Ready, 1, 0); 3], ..FleetReport::default() };
        assert_eq!(present(&good), "3 workers, 3 leases");
        let states = [WorkerState::Ready, WorkerState::Silent, WorkerState::SetAside, WorkerState::Gone];
        let bad = FleetReport { workers: states.map(|state| worker(state, 0, 1)).to_vec(), ..FleetReport::default() };
        assert_eq!(present(&bad), "1 worker, 1 silent, 1 aside, 0 leases, 4 lost");
    }
}
