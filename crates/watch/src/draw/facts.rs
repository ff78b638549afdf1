//! States the facts about a run: name and value, a line each.

use super::paint::Paint;
use crate::source::Source;
use crate::watched::Watched;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use tunesmith_core::judge::noise;
use tunesmith_report::{count, counted, duration, fitted};
use tunesmith_store::{FleetReport, WorkerReport, WorkerRole, WorkerState};

/// The width of names.
const NAME: usize = 9;

/// Returns the most important facts, at most `width` columns wide.
pub(crate) fn overview(watched: &Watched, source: &Source, width: u16, paint: Paint) -> Vec<Line<'static>> {
    let failed = watched.failures.count() > 0;
    let fleet = source.fleet.as_ref().map(|fleet| ("fleet", fleet_text(fleet), paint.plain()));
    let facts = [
        ("best", best(watched), paint.good()),
        ("search", searched(watched), paint.plain()),
        ("done", done(watched, width), paint.curve()),
        ("failed", failures(watched), if failed { paint.bad() } else { paint.plain() }),
        ("noise", noise_text(watched), if watched.noise.high().is_some() { paint.warning() } else { paint.plain() }),
        ("final", final_text(watched), paint.plain()),
    ];
    let facts = facts.into_iter().chain(fleet);
    facts.map(|(name, value, style)| line(name, &value, style, width, paint)).collect()
}

fn fleet_text(fleet: &FleetReport) -> String {
    let states =
        [WorkerState::Ready, WorkerState::Silent, WorkerState::SetAside, WorkerState::Gone, WorkerState::Ended];
    let counts = states.map(|state| (fleet.count(state), state.word()));
    let workers = counts.iter().filter(|(count, _)| *count > 0).map(|(count, word)| format!("{count} {word}"));
    let mut workers = workers.collect::<Vec<_>>().join(", ");
    let compilers = fleet.of(WorkerRole::Compiles).filter(|worker| worker.state == WorkerState::Ready).count();
    if compilers > 0 {
        workers += &format!(" ({compilers} only compile)");
    }
    let (held, lost) = (counted(fleet.held(), "lease"), counted(fleet.lost(), "lease"));
    format!("workers: {workers}; {held} held, {lost} lost; {:.1} times one device", fleet.speedup)
}

/// Returns the facts about a worker.
fn worker_text(worker: &WorkerReport) -> String {
    let WorkerReport { name, evaluations, compiled, role, holds, lost, level, reason, state, .. } = worker;
    let level = level.map(|level| format!(", level {level:.3}")).unwrap_or_default();
    let reason = reason.as_ref().map(|reason| format!(" ({reason})")).unwrap_or_default();
    let (held, lost) = (counted(holds, "lease"), format!("{lost} lost"));
    let done = match role {
        WorkerRole::Measures => format!("{evaluations} measured"),
        WorkerRole::Compiles => format!("only compiles, {compiled} compiled"),
    };
    format!("{name}: {done}, {held}, {lost}{level}, {}{reason}", state.word())
}

fn line(name: &str, value: &str, style: Style, width: u16, paint: Paint) -> Line<'static> {
    let room = usize::from(width).saturating_sub(NAME);
    // The cells of a bar are no text that is cut.
    let value =
        if value.starts_with(FULL) || value.starts_with(EMPTY) { value.to_string() } else { fitted(value, room) };
    Line::from(vec![Span::styled(format!("{name:<NAME$}"), paint.dim()), Span::styled(value, style)])
}

fn best(watched: &Watched) -> String {
    match watched.rows().first() {
        Some(row) => format!("{}  {}", watched.scale.text(row.score), row.config),
        None => "nothing correct yet".to_string(),
    }
}

fn searched(watched: &Watched) -> String {
    let made = counted(count(&watched.evaluations.to_string()), "evaluation");
    let made = match watched.limit() {
        Some(limit) => format!(
            "{} of {}",
            count(&watched.evaluations.to_string()),
            counted(count(&limit.to_string()), "evaluation")
        ),
        None => made,
    };
    let rate = watched.rate().map(|rate| format!(", {rate:.1}/s")).unwrap_or_default();
    let left = watched.limit().zip(watched.rate()).map(|(limit, rate)| (limit - watched.evaluations) as f64 / rate);
    let searches = watched.finals.visits == 0;
    let left = left.filter(|left| searches && *left > 0.0 && *left < 1e7);
    let left = left.map(|left| format!(", {} left", duration(left))).unwrap_or_default();
    format!("{made} in {}{rate}{left}", duration(watched.clock))
}

const FULL: char = '█';
const EMPTY: char = '░';

/// Returns a bar of the search's share, or the stop condition if nothing says how far it is.
fn done(watched: &Watched, width: u16) -> String {
    let stop = watched.header.stop.as_deref().unwrap_or("the journal does not keep the stop condition");
    let Some(share) = watched.share() else { return stop.to_string() };
    let cells = usize::from(width).saturating_sub(NAME + 6).min(40);
    let full = (share * cells as f64).round() as usize;
    let bar: String = (0..cells).map(|cell| if cell < full { FULL } else { EMPTY }).collect();
    format!("{bar} {:>3.0} %", share * 100.0)
}

fn failures(watched: &Watched) -> String {
    let kinds = watched.failures.kinds().into_iter().map(|(kind, count)| format!("{count} {kind}"));
    let failed = kinds.collect::<Vec<_>>().join(", ");
    let failed = if failed.is_empty() { "none".to_string() } else { failed };
    let limited = [(watched.failures.cut, "cut"), (watched.failures.aside, "put aside")];
    let limited = limited.into_iter().filter(|(count, _)| *count > 0).map(|(count, how)| format!("; {count} {how}"));
    failed + &limited.collect::<String>()
}

fn noise_text(watched: &Watched) -> String {
    match watched.noise.share() {
        None => "too few samples to know".to_string(),
        Some(share) if share > noise::HIGH => format!("{:.1} % of a time: high; is the machine busy?", share * 100.0),
        Some(share) => format!("{:.1} % of a time", share * 100.0),
    }
}

fn final_text(watched: &Watched) -> String {
    let visits = counted(watched.finals.visits, "visit");
    match watched.finals.ties() {
        Some(0) => format!("the winner stands alone after {visits}"),
        Some(ties) => format!("the winner has {} after {visits}", counted(ties, "tie")),
        None if watched.finals.visits > 0 => {
            format!("{} of {}", visits, counted(watched.finals.finalists().count(), "configuration"))
        }
        None => "not begun".to_string(),
    }
}

/// Returns the settings of the run and its file, at most `width` columns wide.
pub(crate) fn settings(watched: &Watched, source: &Source, width: u16, paint: Paint) -> Vec<Line<'static>> {
    let header = &watched.header;
    let identity = |name: &str| header.identity.get(name).and_then(|value| value.as_str()).map(str::to_string);
    let sizes: Vec<String> = header.sizes.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let drift = watched.finals.drift().map(|drift| {
        let (percent, word) = (drift.change * 100.0, if drift.drifted { "drifted" } else { "steady" });
        format!("{word}: {percent:.1} % in {}", counted(drift.probes, "probe"))
    });
    let verified = match header.verified {
        Some(true) => Some("outputs are compared with correct ones".to_string()),
        Some(false) => Some("no output is compared with a correct one".to_string()),
        None => None,
    };
    let repeated = (watched.repeated > 0).then(|| format!("{} left out", counted(watched.repeated, "repeated line")));
    let facts = [
        ("journal", Some(source.path.display().to_string())),
        ("problem", Some(header.problem.clone())),
        ("sizes", Some(sizes.join(", ")).filter(|sizes| !sizes.is_empty())),
        ("device", identity("device")),
        ("compiler", identity("compiler")),
        ("space", Some(counted(count(&header.space_size), "configuration"))),
        ("aim", Some(watched.scale.objective())),
        ("strategy", Some(format!("{}, seed {}", header.strategy, header.seed))),
        ("stop", header.stop.clone()),
        ("flight", Some(format!("at most {} at once", counted(header.room, "request")))),
        ("verify", verified),
        ("drift", drift),
        (
            "probes",
            (watched.finals.probes > 0)
                .then(|| format!("{} of the reference", counted(watched.finals.probes, "measurement"))),
        ),
        ("lines", repeated),
    ];
    let workers =
        source.fleet.iter().flat_map(|fleet| &fleet.workers).map(|worker| ("worker", Some(worker_text(worker))));
    let known = facts.into_iter().chain(workers).filter_map(|(name, value)| Some((name, value?)));
    known.map(|(name, value)| line(name, &value, paint.plain(), width, paint)).collect()
}
