//! Settles the settings of a run: the user's choices, then those of the run that is resumed, then
//! the problem's, then ours.

use super::ground::Ground;
use super::options::{JournalOptions, Search};
use super::task::TuningTask;
use crate::devices::yielded;
use crate::{Error, Problem, problem::Metric};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use tunesmith_core::{Stop, Target};
use tunesmith_problem::{Limits, SearchObjective, Yielded};
use tunesmith_propose::ProposeCommand;
use tunesmith_search::StrategySpec;
use tunesmith_space::Space;
use tunesmith_store::{Header, Journal, Resumed};
use tunesmith_study::{LeftOut, ModelChoice, Past};

/// Default number of evaluations.
const DEFAULT_STOP: u64 = 200;

/// The settings of a run, with defaults filled in.
pub(super) struct Settings {
    pub(super) strategy: StrategySpec,
    pub(super) stop: Stop,
    pub(super) seed: u64,
    pub(super) room: usize,
    /// True if the user has chosen the room, so that it does not follow a fleet.
    pub(super) is_room_fixed: bool,
    pub(super) model: Option<ModelChoice>,
    /// True if the run goes on after its first evaluations show that all are doomed.
    pub(super) keep_going: bool,
    /// True if the counters of every configuration are read.
    pub(super) profile: bool,
    /// A program whose proposals compete with the strategy.
    pub(super) propose: Option<ProposeCommand>,
    /// The history, and the part of it that no longer exists.
    pub(super) past: (Past, Vec<LeftOut>),
    /// Measured properties of the device besides its limits.
    pub(super) device_features: BTreeMap<String, f64>,
    objective: SearchObjective,
    journal: PathBuf,
    resume: bool,
}

impl Settings {
    pub(super) fn new(ground: &Ground<'_>, task: &TuningTask<'_>) -> Result<Self, Error> {
        let TuningTask { problem, search, journal: options, .. } = task;
        let journal = journal_path(problem, options);
        // A resumed run continues with its own settings unless told otherwise.
        let earlier = earlier(&journal, options.resume)?;
        let strategy = strategy(problem, search, earlier.as_ref().map(|header| (header, &*journal)))?;
        let stop = stop(problem, search, &strategy);
        let target = target(ground, search, earlier.as_ref())?;
        let yielded = yielded_for(&target, ground)?;
        let metric = Metric::new(&target, problem, &yielded)?;
        let limits = Limits::new(problem, &yielded)?;
        metric.check_yielded(problem, &yielded)?;
        limits.check_yielded(problem, &yielded)?;
        let stop = stop.towards(metric.objective().direction());
        let tuning = problem.spec().tuning();
        let in_flight = strategy.strategy().in_flight();
        let seed = search.seed.or(earlier.as_ref().map(|header| header.seed)).or(tuning.seed);
        let room = search.room.or(earlier.as_ref().map(|header| header.room)).or(tuning.room);
        let model = earlier.as_ref().and_then(|header| header.model.as_deref()).map(ModelChoice::from_text);
        Ok(Self {
            past: past(search, earlier.as_ref())?,
            model: search.model.clone().or(model),
            strategy,
            stop,
            objective: SearchObjective::new(metric, limits, &ground.space),
            seed: seed.unwrap_or(0),
            room: room
                .or(ground.remote_room)
                .unwrap_or_else(|| ground.device.room(ground.machine.jobs(), in_flight))
                .max(1),
            is_room_fixed: search.room.or(tuning.room).is_some(),
            profile: search.profile,
            propose: search.propose.clone(),
            // A recording has not failed now: it was searched to its end before.
            keep_going: search.keep_going || !ground.device.is_live(),
            device_features: options.device_features.clone(),
            journal,
            resume: options.resume,
        })
    }

    /// Returns the metric to optimise.
    pub(super) fn metric(&self) -> &Metric {
        self.objective.metric().metric()
    }

    /// Returns the function that scores evaluations.
    pub(super) fn objective(&self) -> &SearchObjective {
        &self.objective
    }

    /// Returns true if the energy of every sample is measured.
    pub(super) fn needs_energy(&self) -> bool {
        self.metric().needs_energy() || self.objective.limits().needs_energy()
    }

    /// Opens the journal of the resumed run, or creates a new one.
    pub(super) fn open_journal(&self, header: &Header, space: &Space) -> Result<(Journal, Resumed), Error> {
        if self.resume && self.journal.exists() {
            return Ok(Journal::resume(&self.journal, header, space)?);
        }
        Ok((Journal::create(&self.journal, header, space)?, Resumed::default()))
    }
}

/// Returns the path of a run's journal: the one named, or else the one beside the problem. A
/// resumed run takes the latest there.
pub(super) fn journal_path(problem: &Problem, options: &JournalOptions) -> PathBuf {
    if let Some(out) = &options.out {
        return out.clone();
    }
    let path = problem.beside("jsonl");
    if options.resume { Journal::latest(&path) } else { path }
}

/// Reads the header of the run that is resumed, if there is one.
pub(super) fn earlier(journal: &Path, resume: bool) -> Result<Option<Header>, Error> {
    Ok(if resume && journal.exists() { Some(tunesmith_store::read_header(journal)?) } else { None })
}

/// Returns the strategy: the user's, or that of the resumed run with its journal, or the problem's.
fn strategy(problem: &Problem, search: &Search, earlier: Option<(&Header, &Path)>) -> Result<StrategySpec, Error> {
    match (&search.strategy, earlier) {
        (Some(strategy), _) => Ok(strategy.clone()),
        (None, Some((header, journal))) => header.strategy.parse().map_err(|error| {
            let text = format!("the run of `{}` cannot go on: {error}", journal.display());
            Error::request(text, Some("--strategy NAME resumes it with another strategy".to_string()))
        }),
        (None, None) => Ok(problem.spec().tuning().strategy.clone().unwrap_or_default()),
    }
}

/// Returns the stop condition. Strategies that end by themselves run to their end unless told
/// otherwise.
fn stop(problem: &Problem, search: &Search, strategy: &StrategySpec) -> Stop {
    let most = if strategy.strategy().ends_by_itself() { u64::MAX } else { DEFAULT_STOP };
    search.stop.as_ref().or(problem.spec().tuning().stop.as_ref()).cloned().unwrap_or_else(|| Stop::evaluations(most))
}

/// Returns the objective: the user's, or that of the resumed run, or the problem's, or that of the recording.
fn target(ground: &Ground<'_>, search: &Search, earlier: Option<&Header>) -> Result<Target, Error> {
    let before = earlier.map(|header| Target::from(Metric::recorded(header.objective.as_ref()).objective()));
    match search.objective.clone().or(before).or(ground.problem.spec().tuning().objective.clone()) {
        Some(target) => Ok(target),
        None => Ok(ground.recorded_target()?.unwrap_or_default()),
    }
}

/// Returns the numbers that runs on the device yield, if the objective or a limit uses them.
fn yielded_for(target: &Target, ground: &Ground<'_>) -> Result<Yielded, Error> {
    let uses_none = *target == Target::default() && ground.problem.spec().limits().is_empty();
    if uses_none { Ok(Yielded::default()) } else { yielded(&ground.device, ground.problem) }
}

/// Reads the history: the one named, or else that of the resumed run without files that have
/// changed.
fn past(search: &Search, earlier: Option<&Header>) -> Result<(Past, Vec<LeftOut>), Error> {
    match earlier {
        Some(header) if search.history.is_empty() => Ok(Past::read_again(&header.history)),
        _ => Ok((Past::read(&search.history)?, Vec::new())),
    }
}
