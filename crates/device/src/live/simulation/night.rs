//! A simulated run: lives of the tuner, each ended by a fault, until one comes to its end.

use super::bench::{Device, Laboratory, Oracle, Watched};
use super::comparison::{Morning, compare};
use super::disk::{Ills, MemoryDisk};
use super::house::House;
use super::ledger::{Ledger, SharedLedger};
use super::plan::{Extent, Settings, Trouble, ends, troubles};
use super::truth::{Truth, space};
use super::world::{Death, Fate, World};
use super::{Depth, Plant};
use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tunesmith_core::judge::drift::Drift;
use tunesmith_core::{
    Clock, Error, Evaluation, Interrupt, Measurement, Resample, Run, StopReason, Store, Tuner, Verdict, statistics,
};
use tunesmith_store::{Header, Journal, Resumed, StoreError};

/// One simulated run.
pub(super) struct Night<'a> {
    settings: Settings,
    world: Arc<World>,
    disk: MemoryDisk,
    truth: Truth,
    ledger: Arc<SharedLedger>,
    depth: Depth<'a>,
    plant: Option<Plant>,
    lives: usize,
}

/// The end of one life of the tuner.
enum End {
    Finished(Box<Run>),
    Interrupted,
    /// The tuner ended with an error.
    Failed(String),
    Killed,
}

impl<'a> Night<'a> {
    /// Creates the run of a seed.
    pub(super) fn new(seed: u64, depth: Depth<'a>, plant: Option<Plant>, told: bool) -> Self {
        let world = World::new(seed, told);
        let disk = MemoryDisk::new(&world);
        let truth = Truth::new(seed);
        let ledger = Arc::new(SharedLedger::new(Ledger::new(&world, &disk, &truth)));
        Self { settings: Settings::draw(seed), world, disk, truth, ledger, depth, plant, lives: 0 }
    }

    /// Lives until a life comes to its end, with these troubles.
    ///
    /// # Errors
    /// An invariant is broken.
    pub(super) fn pass(&mut self, troubles: &[Trouble]) -> Result<(Morning, Extent), String> {
        for trouble in troubles {
            let end = self.live(trouble);
            self.world.broken().map_or(Ok(()), Err)?;
            match end? {
                End::Finished(run) => {
                    let result = self.wake(&run)?;
                    self.look_again(&run.verdict)?;
                    return Ok(result);
                }
                End::Failed(reason) if *trouble == Trouble::default() => {
                    return Err(format!("a run without faults fails: {reason}"));
                }
                End::Interrupted if trouble.fate.interrupted_at.is_none() => {
                    return Err("the run was interrupted by nobody".to_owned());
                }
                End::Interrupted | End::Failed(_) | End::Killed => {}
            }
        }
        Err("the run does not come to its end".to_owned())
    }

    /// Goes on with a run that came to its end: with a larger budget, its journal is resumed.
    ///
    /// # Errors
    /// An invariant is broken.
    fn go_on(&mut self, troubles: &[Trouble]) -> Result<(Morning, Extent), String> {
        self.settings.budget += FURTHER;
        self.world.tell(|| format!("the run goes on with {FURTHER} more evaluations"));
        self.pass(troubles)
    }

    /// Adds what was measured, and the verdict, to the story.
    fn tell(&self, run: &Run) {
        let median = |measurement: &Measurement| statistics::median(&measurement.times_ms).unwrap_or_default();
        for scored in run.history.iter() {
            let one = &scored.evaluation;
            self.world.tell(|| format!("{}: {} {}", one.request.config, one.status_word(), median(&one.measurement)));
        }
        for again in &run.resamples {
            let word = again.failure.as_ref().map_or("correct", |failure| failure.kind.word());
            let what = || format!("{} {}: {word} {}", again.role.word(), again.config, median(&again.measurement));
            self.world.tell(what);
        }
        self.world.tell(|| format!("{:?}", run.verdict));
    }

    /// Checks the end of the run.
    fn wake(&mut self, run: &Run) -> Result<(Morning, Extent), String> {
        self.tell(run);
        let winner = run.verdict.winner;
        let mut ledger = self.ledger.lock();
        ledger.judge(run);
        ledger.close(self.lives);
        if run.verdict.by_final && ledger.winner != winner.map(|winner| winner.to_string()) {
            self.world.broke(format!("the journal names {:?}, and the run {winner:?}", ledger.winner));
        }
        self.world.broken().map_or(Ok(()), Err)?;
        let extent = Extent {
            steps: self.world.steps(),
            worker_steps: self.world.worker_steps(),
            accesses: self.disk.accesses(),
            bytes: self.disk.paths().iter().filter_map(|path| self.disk.look(path)).map(|bytes| bytes.len()).sum(),
        };
        Ok((Morning::new(run, ledger.is_exact, self.settings.judging.racing.is_some()), extent))
    }

    /// Resumes the finished run: it measures nothing, and comes to the same verdict.
    fn look_again(&mut self, verdict: &Verdict) -> Result<(), String> {
        let measured = |ledger: &Ledger| (ledger.measured, ledger.remeasured);
        let before = measured(&self.ledger.lock());
        let end = self.live(&Trouble::default())?;
        self.world.broken().map_or(Ok(()), Err)?;
        let after = measured(&self.ledger.lock());
        match end {
            End::Finished(again) if again.verdict == *verdict && after == before => Ok(()),
            End::Finished(again) => Err(format!(
                "a finished run that is resumed measures {after:?} after {before:?}, and its verdict {verdict:?} \
                 becomes {:?}",
                again.verdict
            )),
            _ => Err("a finished run cannot be resumed".to_owned()),
        }
    }

    fn live(&mut self, trouble: &Trouble) -> Result<End, String> {
        self.lives += 1;
        self.ledger.lock().is_exact &= !trouble.blames_innocents();
        self.disk.ail(trouble.ills);
        let world = Arc::clone(&self.world);
        world.tell(|| format!("a tuner starts: {trouble:?}"));
        let end = world.live(trouble.fate, |interrupt| self.tune(trouble, interrupt));
        let end = match end {
            Ok(Ok(run)) if run.stop_reason == StopReason::Interrupted => End::Interrupted,
            Ok(Ok(run)) => End::Finished(Box::new(run)),
            Ok(Err(reason)) => End::Failed(reason),
            Err(Death::Killed) => End::Killed,
            Err(Death::Endless) => return Err("the run takes steps without end".to_owned()),
        };
        world.tell(|| match &end {
            End::Finished(run) => format!("it ends: {}, winner {:?}", run.stop_reason, run.verdict.winner),
            End::Interrupted => "it is interrupted".to_owned(),
            End::Failed(reason) => format!("it fails: {reason}"),
            End::Killed => "it is killed".to_owned(),
        });
        Ok(end)
    }

    /// Runs the real loop with the real journal.
    fn tune(&mut self, trouble: &Trouble, interrupt: Interrupt) -> Result<Run, String> {
        let settings = self.settings.clone();
        let (mut journal, resumed) = self.open().map_err(|error| error.to_string())?;
        self.ledger.lock().replayed(&resumed);
        let mut oracle = Oracle { world: Arc::clone(&self.world), truth: self.truth.clone(), breaks: trouble.breaks };
        let mut house = match self.depth {
            Depth::Loop => None,
            Depth::Workers(ground) => {
                let forks = settings.forks;
                Some(House::new(&self.world, &self.truth, ground, forks, trouble.weather, self.plant))
            }
        };
        let laboratory: &mut dyn Laboratory = match &mut house {
            Some(house) => house,
            None => &mut oracle,
        };
        let mut device = Device {
            world: Arc::clone(&self.world),
            ledger: Arc::clone(&self.ledger),
            laboratory,
            queue: VecDeque::new(),
            bar_ms: None,
            plant: self.plant,
        };
        let searcher = tunesmith_search::build(settings.strategy).map_err(|error| error.to_string())?;
        let (world, ledger) = (Arc::clone(&self.world), Arc::clone(&self.ledger));
        let mut searcher = Watched { world, ledger, searcher };
        let ledger = Arc::clone(&self.ledger);
        let mut lagging =
            Lagging { ledger, journal: &mut journal, waiting: None, lags: self.plant == Some(Plant::TellFirst) };
        let first = space().id(u128::from(settings.seed % 28));
        let run = Tuner::new(space(), &mut searcher, &mut device)
            .store(&mut lagging)
            .clock(Arc::clone(&self.world) as Arc<dyn Clock>)
            .judging(settings.judging.clone())
            .stop(settings.stop())
            .seed(settings.seed)
            .room(settings.room)
            .interrupt(interrupt)
            .first(first)
            .baseline(first)
            .recorded(resumed.evaluations)
            .resamples(resumed.resamples)
            .run();
        run.map_err(|error| error.to_string())
    }

    /// Resumes the journal, or creates one. A journal whose header was cut short belongs to no run.
    fn open(&self) -> Result<(Journal, Resumed), StoreError> {
        let header = Header { strategy: self.settings.strategy.to_owned(), ..Journal::header(space()) };
        let has_header = |path: &PathBuf| self.disk.look(path).is_some_and(|bytes| bytes.contains(&b'\n'));
        let followed = self.ledger.lock().path().filter(has_header);
        let known = followed.or_else(|| self.disk.paths().into_iter().find(has_header));
        let (journal, resumed) = match known {
            Some(path) => Journal::resume_on(&self.disk, &path, &header, space())?,
            None => {
                let path = Path::new("run.jsonl");
                (Journal::create_on(&self.disk, path, &header, space())?, Resumed::default())
            }
        };
        self.ledger.lock().follow(journal.path());
        Ok((journal, resumed))
    }
}

/// The number of evaluations by which a finished run goes on.
const FURTHER: u64 = 3;

/// The result of the night of a seed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Outcome {
    /// True if a configuration was found that is better than the default beyond doubt.
    pub(super) is_better: bool,
    /// True if faults gave the run another winner, from which nothing tells the first one apart.
    pub(super) has_other_winner: bool,
}

/// Runs the night of a seed: once without faults, and once with those that the seed chooses.
///
/// # Errors
/// An invariant is broken. The text says which.
pub(super) fn night(seed: u64, depth: Depth<'_>, plant: Option<Plant>) -> Result<Outcome, String> {
    let new = || Night::new(seed, depth, plant, false);
    both(seed, &mut new(), &mut new())
}

/// Runs a seed without faults and with those that it chooses, and compares the two. One seed in four
/// then goes on with a larger budget.
fn both(seed: u64, calm: &mut Night<'_>, troubled: &mut Night<'_>) -> Result<Outcome, String> {
    let truth = Truth::new(seed);
    let (first, extent) = calm.pass(&[Trouble::default()])?;
    let (second, _) = troubled.pass(&troubles(seed, extent))?;
    let mut has_other_winner = compare(&first, &second, &truth)?;
    if seed.is_multiple_of(4) {
        let (first, extent) = calm.go_on(&[Trouble::default()])?;
        let (second, _) = troubled.go_on(&[ends(seed, extent), Trouble::default()])?;
        has_other_winner |= compare(&first, &second, &truth)?;
    }
    Ok(Outcome { is_better: first.verdict.is_better_than_default(), has_other_winner })
}

/// Runs the night of a seed, and returns its story beside its result.
pub(super) fn told(seed: u64, depth: Depth<'_>) -> (String, Result<(), String>) {
    let new = || Night::new(seed, depth, None, true);
    let (mut calm, mut troubled) = (new(), new());
    let result = both(seed, &mut calm, &mut troubled).map(drop);
    let story = |night: &Night<'_>| night.world.story();
    (format!("without faults:\n{}\nwith faults:\n{}", story(&calm), story(&troubled)), result)
}

/// Lets every single access to the disk of a run fail, and every n-th access for every n, and holds
/// the result against that of the run without faults.
pub(super) fn every_access(seed: u64, depth: Depth<'_>) {
    let (calm, extent) = calm(seed, depth, None).expect("a run without faults breaks nothing");
    for number in 1..=extent.accesses {
        for tears in [false, true] {
            let at = Ills { at: Some(number), tears, ..Ills::default() };
            let every = Ills { every: Some(number), tears, ..Ills::default() };
            let full =
                Ills { room: Some(extent.bytes * number as usize / extent.accesses as usize), ..Ills::default() };
            for ills in [at, every, full] {
                check(seed, depth, &calm, Trouble { ills, ..Trouble::default() });
            }
        }
    }
}

/// Kills the tuner at every single step of a run, and interrupts it there, and holds the result
/// against that of the run without faults.
pub(super) fn every_step(seed: u64, depth: Depth<'_>) {
    let (calm, extent) = calm(seed, depth, None).expect("a run without faults breaks nothing");
    for number in 1..=extent.steps {
        let killed = Fate { killed_at: Some(number), ..Fate::default() };
        let interrupted = Fate { interrupted_at: Some(number), ..Fate::default() };
        for fate in [killed, interrupted] {
            check(seed, depth, &calm, Trouble { fate, ..Trouble::default() });
        }
    }
}

fn check(seed: u64, depth: Depth<'_>, calm: &Morning, trouble: Trouble) {
    let run = |told: bool| {
        let mut night = Night::new(seed, depth, None, told);
        let world = Arc::clone(&night.world);
        let morning = night.pass(&[trouble, Trouble::default()]);
        let result = morning.and_then(|(morning, _)| compare(calm, &morning, &Truth::new(seed)));
        (world, result)
    };
    if let (_, Err(broken)) = run(false) {
        panic!("{}\nseed {seed}, {trouble:?}: {broken}", run(true).0.story());
    }
}

fn calm(seed: u64, depth: Depth<'_>, plant: Option<Plant>) -> Result<(Morning, Extent), String> {
    Night::new(seed, depth, plant, false).pass(&[Trouble::default()])
}

/// Keeps evaluations in a journal. With the planted bug it lags: it keeps each one only when the
/// next comes, after the searcher was told.
struct Lagging<'a> {
    ledger: Arc<SharedLedger>,
    journal: &'a mut Journal,
    waiting: Option<Evaluation>,
    lags: bool,
}

impl Store for Lagging<'_> {
    fn append(&mut self, evaluation: &Evaluation) -> Result<(), Error> {
        let next = if self.lags { self.waiting.replace(evaluation.clone()) } else { Some(evaluation.clone()) };
        next.map_or(Ok(()), |evaluation| self.journal.append(&evaluation))
    }

    fn append_again(&mut self, resample: &Resample) -> Result<(), Error> {
        self.journal.append_again(resample)
    }

    fn append_verdict(&mut self, verdict: &Verdict, drift: Option<&Drift>) -> Result<(), Error> {
        self.journal.append_verdict(verdict, drift)
    }

    fn is_lost(&self) -> bool {
        self.journal.is_lost()
    }

    fn renew(&mut self, evaluations: &[&Evaluation], resamples: &[Resample]) -> Result<String, Error> {
        let renewed = self.journal.renew(evaluations, resamples)?;
        self.ledger.lock().follow(self.journal.path());
        Ok(renewed)
    }
}
