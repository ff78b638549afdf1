//! Gathers the work of each device of a fleet over time.

use super::full_entry::FullEntry;
use std::path::Path;
use tunesmith_report::WorkerLine;
use tunesmith_store::{Entry, FleetReport, Outline, StoreError, WorkerReport, WorkerRole};

/// Number of equal parts of the run.
const PARTS: usize = 240;

/// The spans in which a worker had a request.
type Busy = (WorkerLine, Vec<(f64, f64)>);

/// Returns the workers in the order of their first answers, and then those that only compiled, as far as
/// the state beside the journal at `path` knows them. Returns none if one device measured, as the
/// evaluations `looked_at` tell. Costs reading all others in full.
pub(super) fn of(path: &Path, outline: &Outline, looked_at: &[FullEntry]) -> Result<Vec<WorkerLine>, StoreError> {
    if looked_at.iter().all(|(_, entry)| entry.worker.is_none()) {
        return Ok(Vec::new());
    }
    let mut workers = Vec::new();
    for at in 0..outline.entries.len() {
        add(&mut workers, &outline.entries.get(at)?);
    }
    outline.again.iter().for_each(|again| add(&mut workers, &again.entry));
    let ends = outline.entries.briefs().iter().map(|brief| brief.clock);
    let end = ends.chain(outline.again.iter().map(|again| again.entry.clock)).fold(0.0, f64::max);
    let line = |(worker, spans): Busy| {
        let spans = apart(spans);
        let busy = spans.iter().map(|(from, to)| to - from).sum();
        WorkerLine { busy, parts: parts(&spans, end), ..worker }
    };
    Ok(workers.into_iter().map(line).chain(compilers(path)).collect())
}

/// Returns the workers that only compiled. Nothing but the state of the fleet, which may be lost, knows
/// them.
fn compilers(path: &Path) -> Vec<WorkerLine> {
    let state = FleetReport::read(path).ok().flatten().unwrap_or_default();
    let line = |worker: &WorkerReport| WorkerLine {
        name: worker.name.clone(),
        compiled: Some(worker.compiled),
        ..WorkerLine::default()
    };
    state.of(WorkerRole::Compiles).map(line).collect()
}

fn add(workers: &mut Vec<Busy>, entry: &Entry) {
    let (Some(name), Some(took)) = (&entry.worker, entry.took) else { return };
    let at = workers.iter().position(|(worker, _)| worker.name == *name).unwrap_or_else(|| {
        workers.push((WorkerLine { name: name.clone(), ..WorkerLine::default() }, Vec::new()));
        workers.len() - 1
    });
    let (worker, spans) = &mut workers[at];
    worker.measurements += 1;
    worker.failed += usize::from(entry.status != "correct" && entry.cut().is_none());
    spans.push(((entry.clock - took).max(0.0), entry.clock));
}

/// Returns the union of spans as spans that do not overlap, in order.
fn apart(mut spans: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    spans.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut apart: Vec<(f64, f64)> = Vec::new();
    for (from, to) in spans {
        match apart.last_mut() {
            Some(last) if from <= last.1 => last.1 = last.1.max(to),
            _ => apart.push((from, to)),
        }
    }
    apart
}

/// Returns the share of each part of the time from 0 to `end` that `spans` cover.
fn parts(spans: &[(f64, f64)], end: f64) -> Vec<f64> {
    let mut parts = vec![0.0; PARTS];
    if end <= 0.0 {
        return parts;
    }
    for (from, to) in spans.iter().map(|(from, to)| (from / end * PARTS as f64, to / end * PARTS as f64)) {
        let last = (to.ceil() as usize).min(PARTS);
        for (at, part) in parts.iter_mut().enumerate().take(last).skip(from as usize) {
            *part += (to.min(at as f64 + 1.0) - from.max(at as f64)).max(0.0);
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_of_a_worker_add_up_to_its_time() {
        let spans = apart(vec![(5.0, 6.0), (0.0, 1.0), (0.5, 2.0), (6.0, 6.5), (9.0, 10.0)]);
        assert_eq!(spans, [(0.0, 2.0), (5.0, 6.5), (9.0, 10.0)]);
        let parts = parts(&spans, 12.0);
        let sum: f64 = parts.iter().sum::<f64>() / PARTS as f64 * 12.0;
        assert!((sum - 4.5).abs() < 1e-9 && parts.iter().all(|part| (0.0..=1.0 + 1e-9).contains(part)), "{parts:?}");
        assert_eq!((parts[0], parts[39], parts[40], parts[PARTS - 1]), (1.0, 1.0, 0.0, 0.0));
    }

    #[test]
    fn a_run_without_time_has_idle_parts() {
        assert_eq!(parts(&[], 0.0), vec![0.0; PARTS]);
    }
}
