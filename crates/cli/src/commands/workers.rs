//! The sentence of a summary about the workers of a run.

use tunesmith::report::{counted, duration};
use tunesmith::store::{FleetReport, WorkerRole, WorkerState};

/// Number of workers whose measurements a summary lists.
const LISTED: usize = 8;

/// Says what the workers did that only compile.
fn compiled(report: &FleetReport) -> String {
    let compiled: Vec<u64> = report.of(WorkerRole::Compiles).map(|worker| worker.compiled).collect();
    if compiled.is_empty() {
        return String::new();
    }
    let (who, what) = (counted(compiled.len(), "worker"), counted(compiled.iter().sum::<u64>(), "configuration"));
    format!("; {who} compiled {what} for them")
}

/// Says what a fleet brought compared with one device.
pub(super) fn summary(report: &FleetReport) -> String {
    let made: Vec<u64> = report.of(WorkerRole::Measures).map(|worker| worker.evaluations).collect();
    let (lost, aside) = (report.lost(), report.count(WorkerState::SetAside));
    let lost = if lost > 0 { format!("; {} lost", counted(lost, "lease")) } else { String::new() };
    let aside = if aside > 0 { format!("; {} set aside", counted(aside, "worker")) } else { String::new() };
    let each = match (made.len(), made.iter().min(), made.iter().max()) {
        (2..=LISTED, ..) => format!(" ({})", made.iter().map(u64::to_string).collect::<Vec<_>>().join(", ")),
        (_, Some(least), Some(most)) if made.len() > 1 => format!(" ({least} to {most} each)"),
        _ => String::new(),
    };
    let busy: f64 = report.of(WorkerRole::Measures).map(|worker| worker.busy).sum();
    let (workers, measured) = (counted(made.len(), "worker"), counted(made.iter().sum::<u64>(), "measurement"));
    let (busy, wall) = (duration(busy), duration(report.seconds));
    let times = report.speedup;
    let compiled = compiled(report);
    format!(
        "{workers} made {measured}{each}: {busy} of work in {wall}, {times:.1} times one device{compiled}{lost}{aside}"
    )
}
