//! Measures the winner of a recorded run again, beside its runners-up and the default.

use super::ground::Ground;
use super::header::{OfDevice, identity};
use super::options::Search;
use super::ready;
use super::session::Session;
use super::settings::Settings;
use super::task::TuningTask;
use crate::Error;
use crate::runner::Runner;
use serde_json::{Map, Value as Json};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;
use tunesmith_core::judge::finals::Finals;
use tunesmith_core::{Interrupt, Judging, Request, Rng, Run, Searcher, Stop, Target, Tuner, View};
use tunesmith_device::Machine;
use tunesmith_problem::{Metric, configuration};
use tunesmith_space::{ConfigId, Space};
use tunesmith_store::{Difference, Header, Journal};
use tunesmith_study::outcome::{Candidate, Valued};
use tunesmith_study::recorded::problem_of;
use tunesmith_study::top::{Top, TopConfig, pairs, top_of};
use tunesmith_study::{Estimate, GainEstimate, JudgedRun, Place, Remeasured, WinnerCheck, WinnerEvidence};

/// The time of the interleaved measurements: with the evaluations before them, most kernels take
/// less than a minute.
const MEASURING: Duration = Duration::from_secs(40);

/// The run to check, and how.
#[derive(Clone, Debug, Default)]
pub struct VerifyOptions {
    /// The journal.
    pub run: PathBuf,
    /// The problem that it tuned. By default the `.toml` beside the journal with its name.
    pub problem: Option<PathBuf>,
    /// The machine that measures.
    pub machine: Machine,
    /// Number of runners-up that are measured beside the winner.
    pub rivals: usize,
    /// The share by which a time may differ from the run's beyond both intervals.
    pub tolerance: f64,
    /// True if another environment is no fault.
    pub any_environment: bool,
    /// Raised to end it.
    pub interrupt: Interrupt,
}

/// Measures the winner of a run, its runners-up and the default again, in turns as the final of a
/// search does. Writes no journal. Returns `None` when interrupted.
///
/// # Errors
/// The run has no winner, its problem cannot be loaded or lacks its objective, or the device fails. A winner
/// that fails is a result.
pub fn verify_winner(options: &VerifyOptions) -> Result<Option<WinnerCheck>, Error> {
    let outline = tunesmith_store::read_brief(&options.run)?;
    let (header, judged) = (&outline.header, JudgedRun::new(&outline));
    let top = top_of(&judged, 1 + options.rivals);
    check(&top, options)?;
    let problem = problem_of(&options.run, header, options.problem.as_deref())?;
    let mut session = Session { interrupt: options.interrupt.clone(), ..Session::default() };
    let began = session.clock.now();
    let search = Search { objective: Some(Target::from(&top.objective)), keep_going: true, ..Search::default() };
    let task = TuningTask::new(&problem).machine(options.machine.clone()).search(search);
    let ground = Ground::open(&task, &mut session)?;
    let settings = Settings::new(&ground, &task)?;
    let (mut runner, _) = ready::open(&ground, &settings, &mut session)?;
    let environment = environment(header, &ground, &runner);
    let mut subjects = subjects(&top, header, &ground.space);
    let run = match subjects[0].1 {
        Some(winner) => Some(measure(winner, &subjects, &ground, &settings, &mut runner, &mut session)?),
        None => None,
    };
    if options.interrupt.is_raised() {
        return Ok(None);
    }
    for (subject, id) in &mut subjects {
        enter(subject, id.zip(run.as_ref()), &settings, &ground.space);
    }
    let configs: Vec<Remeasured> = subjects.into_iter().map(|(subject, _)| subject).collect();
    let regressions = evidence(&judged, &configs, run.as_ref(), &ground.space).regressions(options.tolerance);
    Ok(Some(WinnerCheck {
        problem: problem.spec().name().to_string(),
        objective: top.objective,
        device: runner.device(),
        ok: regressions.is_empty() && (environment.is_empty() || options.any_environment),
        regressions,
        environment,
        configs,
        by_final: run.is_some_and(|run| run.verdict.by_final),
        seconds: (session.clock.now() - began).as_secs_f64(),
    }))
}

/// Refuses a run without a winner.
fn check(top: &Top, options: &VerifyOptions) -> Result<(), Error> {
    let run = options.run.display();
    if top.configs.is_empty() {
        let remedy = format!("tunesmith explain {run} says why");
        return Err(Error::request(format!("`{run}` has no winner: no configuration was correct"), Some(remedy)));
    }
    Ok(())
}

/// Returns the differences between the environment of the run and the present one.
fn environment(header: &Header, ground: &Ground<'_>, runner: &Runner<'_>) -> Vec<Difference> {
    let device = OfDevice { identity: runner.identity(), features: BTreeMap::new() };
    let identity = identity(Journal::header(&ground.space).identity, ground.problem, &Metric::default(), &device);
    let sizes =
        ground.problem.spec().sizes().iter().map(|(name, value)| (name.clone(), Journal::value(value))).collect();
    header.differences(&Header { identity, sizes, ..header.clone() })
}

/// Returns the configurations to measure, the winner first, as the run knows them. One that is none
/// of the space any more has no rank.
fn subjects(top: &Top, header: &Header, space: &Space) -> Vec<(Remeasured, Option<ConfigId>)> {
    let subject = |place, config: &Map<String, Json>, before| {
        let found = configuration(space, None, &pairs(config)).ok().and_then(|found| space.rank(&found));
        (Remeasured { place, config: config.clone(), before, now: None, failure: None }, found)
    };
    let of_run = |(at, found): (usize, &TopConfig)| {
        let place = if at == 0 { Place::Winner } else { Place::RunnerUp };
        let before = Estimate {
            time_ms: found.time_ms,
            ci95_ms: found.ci95_ms,
            value: found.value,
            value_ci95: found.value_ci95,
        };
        subject(place, &found.config, Some(before))
    };
    let mut subjects: Vec<_> = top.configs.iter().enumerate().map(of_run).collect();
    let is_new = |default: &&Map<String, Json>| top.configs.iter().all(|found| found.config != **default);
    if let Some(default) = header.default.as_ref().filter(is_new) {
        let known = top.default_ms.zip(top.default_value);
        let before = known.map(|(time_ms, value)| Estimate { time_ms, value, ..Estimate::default() });
        subjects.push(subject(Place::Default, default, before));
    }
    subjects
}

fn estimate(found: &Candidate) -> Option<Estimate> {
    let Candidate { ci95_ms, value_ci95, .. } = *found;
    Some(Estimate { time_ms: found.time_ms?, ci95_ms, value: found.value?, value_ci95 })
}

/// Asks for nothing: only the configurations named before the search are evaluated.
struct Nothing;

impl Searcher for Nothing {
    fn ask(&mut self, _: &View<'_>, _: usize, _: &mut Rng) -> Vec<Request> {
        Vec::new()
    }
}

/// Evaluates the subjects and holds a final, in which the others are compared with the winner as they
/// are with the default at the end of a search.
fn measure(
    winner: ConfigId,
    subjects: &[(Remeasured, Option<ConfigId>)],
    ground: &Ground<'_>,
    settings: &Settings,
    runner: &mut Runner<'_>,
    session: &mut Session<'_>,
) -> Result<Run, Error> {
    let finals = Finals { floor: MEASURING, cap: MEASURING, ..Finals::default() };
    let run = Tuner::new(&ground.space, &mut Nothing, runner.evaluator())
        .first(subjects.iter().filter_map(|(_, id)| *id))
        .baseline(Some(winner))
        .objective(settings.objective())
        .judging(Judging { finals: Some(finals), ..Judging::nothing() })
        .stop(Stop::evaluations(subjects.len() as u64))
        .keep_going(true)
        .clock(session.clock.clone())
        .interrupt(session.interrupt.clone())
        .run()?;
    Ok(run)
}

/// Enters the present time and value or the failure of a subject.
fn enter(subject: &mut Remeasured, measured: Option<(ConfigId, &Run)>, settings: &Settings, space: &Space) {
    let found = measured.and_then(|(id, run)| {
        let evaluation = &run.history.of(id)?.evaluation;
        let valued = Valued { run, objective: settings.objective().metric() };
        Some(Candidate::new(space, evaluation, &run.resamples, Some(&valued)))
    });
    match found {
        None => subject.failure = Some("the problem does not have this configuration any more".to_string()),
        Some(found) => {
            subject.now = estimate(&found);
            subject.failure = found.failure.map(|failure| failure.message);
        }
    }
}

/// Gathers the evidence about the winner, the first of `configs`.
fn evidence(judged: &JudgedRun<'_>, configs: &[Remeasured], run: Option<&Run>, space: &Space) -> WinnerEvidence {
    let winner = &configs[0];
    let default = configs.iter().find(|subject| subject.place == Place::Default);
    let before = judged.verdict.comparison.filter(|known| Some(known.contender) == judged.verdict.winner);
    let rival = run.and_then(|run| run.verdict.comparison).filter(|found| found.is_better);
    let named = |id| Journal::config(space, &space.unrank(id));
    WinnerEvidence {
        objective: judged.metric.objective().clone(),
        failure: winner.failure.clone(),
        winner: (winner.before, winner.now),
        default: (before.as_ref().map(GainEstimate::from), default.and_then(|subject| subject.now)),
        rival: rival.map(|found| (named(found.contender), GainEstimate::from(&found))),
    }
}
