//! The third stage: the run itself, with the device and the journal open.

use super::asked::Asked;
use super::conclude::Finished;
use super::ground::Ground;
use super::header::{OfDevice, header};
use super::learned::Learned;
use super::session::{Session, Starting};
use super::settings::Settings;
use crate::Error;
use crate::runner::{Extras, Runner};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tunesmith_choose::timing::KnownDevice;
use tunesmith_core::{Annotator, Clock, Evaluator, Tuner};
use tunesmith_cost::Counting;
use tunesmith_device::missed_clocks;
use tunesmith_search::RegretModel;
use tunesmith_store::{Header, Journal, Resumed};
use tunesmith_study::guided::CounterWatch;

/// A run that can start: its device is open and its journal can be written.
pub(super) struct Ready<'a> {
    runner: Runner<'a>,
    /// The device's name, with its known properties as numbers.
    device: KnownDevice,
    preparation: Preparation,
    header: Header,
    journal: Journal,
    resumed: Resumed,
    /// True if the device is a fleet.
    is_remote: bool,
}

/// Times of preparing the device, which belong to other parts of the report.
pub(super) struct Preparation {
    /// Time of making the data and the reference's results, which is part of verifying.
    pub(super) preparing: Duration,
    /// Time of the compilation before the first measurement.
    pub(super) probing: Duration,
}

impl<'a> Ready<'a> {
    pub(super) fn open(
        ground: &Ground<'a>,
        settings: &Settings,
        learned: &Learned<'_>,
        session: &mut Session<'_>,
    ) -> Result<Self, Error> {
        let is_remote = session.remote.is_some();
        let (runner, preparation) = open(ground, settings, session)?;
        let of_device = OfDevice { identity: runner.identity(), features: features(ground, settings) };
        let started = session.clock.unix().as_secs_f64();
        let header = header(ground, settings, learned, &of_device, started);
        let (journal, resumed) = settings.open_journal(&header, &ground.space)?;
        let device = KnownDevice { name: runner.device(), features: of_device.features };
        Ok(Self { runner, device, preparation, header, journal, resumed, is_remote })
    }

    /// Tells the session that the run is about to start.
    pub(super) fn announce(
        &self,
        ground: &Ground<'_>,
        settings: &Settings,
        learned: &Learned<'_>,
        session: &mut Session<'_>,
    ) {
        let Some(on_start) = &mut session.on_start else { return };
        on_start(&Starting {
            device: &self.device.name,
            strategy: &settings.strategy,
            space: &ground.space,
            warnings: &ground.warnings,
            assumptions: ground.assumptions(),
            history: &learned.history.files,
            left_out: &learned.history.left_out,
            verified: ground.verified(),
            journal: self.journal.path(),
            resumed: self.resumed.evaluations.len(),
            remarks: &self.resumed.warnings,
        });
    }

    /// Runs until the stop condition holds, the strategy has no more requests, or someone ends it.
    pub(super) fn run(
        self,
        ground: &Ground<'_>,
        settings: &Settings,
        learned: &Learned<'_>,
        session: &mut Session<'_>,
    ) -> Result<Finished, Error> {
        let Self { mut runner, device, preparation, header, mut journal, resumed, is_remote } = self;
        let follows_room = follows_room(settings, &resumed, is_remote);
        let mut watch = CounterWatch::new(&mut session.observers, &learned.guided);
        let simulated = runner.simulate(settings.seed);
        let mut searcher =
            Asked::new(learned.searcher(ground, settings, &device)?, ground, settings, &header, &resumed)?;
        let turns = searcher.turns();
        let mut regret = RegretModel::default();
        let second_answers = runner.second_answers();
        let mut counting;
        let evaluator: &mut dyn Evaluator = match learned.counts() {
            Some(estimates) => {
                counting = Counting::new(runner.evaluator(), estimates, &ground.space);
                &mut counting
            }
            None => runner.evaluator(),
        };
        let mut tuner = Tuner::new(&ground.space, searcher.searcher(), evaluator)
            .store_with_seconds(&mut journal, second_answers)
            .clock(session.clock.clone())
            .interrupt(session.interrupt.clone())
            .stop(settings.stop.clone())
            .seed(settings.seed)
            .room(settings.room)
            .follow_room(follows_room)
            .durable(is_remote)
            .objective(settings.objective())
            .regret(&mut regret)
            .limit(learned.estimates.limit.as_ref().map(|limit| limit.ms))
            .baseline(ground.default_id())
            .annotator(turns.as_ref().map(|turns| turns as &dyn Annotator))
            .keep_going(settings.keep_going)
            .judging(ground.problem.spec().judging().clone())
            .first(ground.first.clone())
            .recorded(resumed.evaluations)
            .resamples(resumed.resamples);
        if let Some(clock) = &simulated {
            tuner = tuner.simulated(clock.clone());
        }
        let run = tuner.observer(&mut watch).run()?;
        let missed = missed_clocks(run.history.iter().map(|scored| &scored.evaluation.measurement));
        let notes =
            [resumed.warnings, ground.assumptions().to_vec(), watch.notes, missed.into_iter().collect()].concat();
        Ok(Finished {
            proposals: searcher.report(&run),
            run,
            notes,
            is_simulated: simulated.is_some(),
            device: device.name,
            preparation,
            journal: journal.path().to_path_buf(),
        })
    }
}

/// Returns true if the room follows the device. A run whose earlier part had a fixed room keeps it.
fn follows_room(settings: &Settings, resumed: &Resumed, is_remote: bool) -> bool {
    let is_followed = resumed.evaluations.iter().any(|evaluation| !evaluation.measurement.rooms.is_empty());
    !settings.is_room_fixed && (is_followed || is_remote && resumed.evaluations.is_empty())
}

/// Opens the device, checks that it can run the first configuration, and computes the results that
/// outputs are compared with.
pub(super) fn open<'a>(
    ground: &Ground<'a>,
    settings: &Settings,
    session: &mut Session<'_>,
) -> Result<(Runner<'a>, Preparation), Error> {
    let started = session.clock.now();
    if let Some(remote) = session.remote.take() {
        let extras = extras(settings);
        let runner = Runner::remote(ground.problem, &ground.space, remote, extras, &session.interrupt)?;
        return Ok((runner, Preparation { preparing: session.clock.now() - started, probing: Duration::ZERO }));
    }
    let mut runner = runner(ground, settings, session.clock.clone())?;
    let opened = session.clock.now();
    // One compilation before the first measurement finds faults that concern every configuration, or
    // every one of an alternative.
    runner.preflight_all(&ground.probes())?;
    let probed = session.clock.now();
    // If it is interrupted here, the run ends before its first evaluation.
    runner.prepare(&session.interrupt)?;
    let preparing = (opened - started) + (session.clock.now() - probed);
    Ok((runner, Preparation { preparing, probing: probed - opened }))
}

/// Opens the device. Runs nothing of the user's yet.
pub(super) fn runner<'a>(ground: &Ground<'a>, settings: &Settings, clock: Arc<dyn Clock>) -> Result<Runner<'a>, Error> {
    let Ground { problem, machine, device, space, .. } = ground;
    Runner::open(problem, space, device, machine, extras(settings), clock)
}

fn extras(settings: &Settings) -> Extras {
    Extras { counters: settings.profile, energy: settings.needs_energy() }
}

/// Returns the properties of the device that a journal keeps as numbers.
fn features(ground: &Ground<'_>, settings: &Settings) -> BTreeMap<String, f64> {
    let limits = ground.limits.iter().filter_map(|(name, value)| Some((name.clone(), value.as_float()?)));
    limits.chain(settings.device_features.clone()).collect()
}
