//! A fleet of simulated workers with a virtual clock: the coordinator, the tuning loop and the journal are
//! the real ones; the network and the devices are not there.

use crate::coordinator::{Fleet, FleetOptions};
use crate::hall::{Connection, Entrance, Event, NoMoreEvents, Offer, Outbox, Outgoing};
use crate::lease::Terms;
use crate::start::{Crew, WorkerProgram};
use crate::wire::{FromCoordinator, FromWorker, Introduction, PROTOCOL, Readiness, Task};
use crate::worker::answer;
use crate::{FleetError, FleetSpec, Token};
use serde_json::{Map, Value as Json};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tunesmith::{JournalOptions, Machine, Problem, Search, Session, TuningTask, tune};
use tunesmith_core::{Clock, Completion, Interrupt, Measurement, Request};
use tunesmith_space::Space;
use tunesmith_store::WorkerRole;

/// A space that no run of a simulation exhausts.
const PROBLEM: &str = "[parameters]\nX = { range = '1..=1000' }\nY = { range = '1..=1000' }\n\
    [measure]\nfinal = false\n";

/// The result of a simulated run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Simulated {
    /// Number of evaluations.
    pub evaluations: u64,
    /// The virtual time of the run.
    pub took: Duration,
    /// Number of workers that measured something.
    pub workers: usize,
}

/// Runs `evaluations` with so many workers. Their device takes 200 ms, and twice as long for one evaluation
/// of ten. The journal is written to `folder`, which must be empty.
///
/// # Errors
/// The folder cannot be written, or the run fails.
pub fn simulate(workers: usize, evaluations: u64, folder: &Path) -> Result<Simulated, Box<dyn std::error::Error>> {
    let path = folder.join("p.toml");
    tunesmith_files::write(&path, PROBLEM)
        .map_err(|source| FleetError::Files { path: path.clone(), reason: source.to_string() })?;
    let problem = Problem::load(&path, &[])?;
    let space = problem.space(&[])?.space;
    let time = VirtualClock::default();
    let stage = Stage::new(workers, problem.digest(), space, time.clone());
    let fleet = Fleet::behind(Box::new(stage), Crew::default(), options(&path)?);
    let report = fleet.report();
    let machine = Machine { device: Some("synthetic:X + Y".parse()?), ..Machine::default() };
    let (stop, strategy) = (format!("evaluations {evaluations}").parse()?, "random".parse()?);
    let search = Search { stop: Some(stop), strategy: Some(strategy), ..Search::default() };
    let journal = JournalOptions { out: Some(folder.join("run.jsonl")), ..JournalOptions::default() };
    let clock = Arc::new(time.clone());
    let mut session = Session { remote: Some(Box::new(fleet)), clock, ..Session::default() };
    let task = TuningTask::new(&problem).machine(machine).search(search).journal(journal);
    let outcome = tune(&task, &mut session)?;
    let took = time.now();
    let workers = report.now().workers.iter().filter(|worker| worker.evaluations > 0).count();
    Ok(Simulated { evaluations: outcome.evaluations, took, workers })
}

fn options(problem: &Path) -> Result<FleetOptions, FleetError> {
    Ok(FleetOptions {
        spec: FleetSpec::Listen(String::new()),
        token: Token::fresh()?,
        problem: problem.to_path_buf(),
        sizes: Vec::new(),
        device: None,
        worker: WorkerProgram::default(),
        terms: Terms::default(),
        patience: FleetOptions::PATIENCE,
        pools: false,
        interrupt: Interrupt::default(),
    })
}

/// The time of a simulation. Clones share it.
#[derive(Clone, Debug, Default)]
struct VirtualClock(Arc<Mutex<Duration>>);

impl VirtualClock {
    fn set(&self, now: Duration) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = now;
    }
}

impl Clock for VirtualClock {
    fn now(&self) -> Duration {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn unix(&self) -> Duration {
        self.now()
    }
}

/// The workers, and the events to come.
struct Stage {
    clock: VirtualClock,
    /// By the time and the order in which they were caused.
    events: BTreeMap<(Duration, u64), Event>,
    caused: u64,
    sent: Arc<Mutex<Vec<(Connection, FromCoordinator)>>>,
    problem: String,
    space: Space,
}

impl Stage {
    fn new(workers: usize, problem: String, space: Space, clock: VirtualClock) -> Self {
        let (events, sent) = (BTreeMap::new(), Arc::default());
        let mut stage = Self { clock, events, caused: 0, sent, problem, space };
        for connection in 1..=workers as Connection {
            let offer = Offer {
                who: introduction(connection),
                target: None,
                limits: Map::new(),
                outbox: stage.outbox(connection),
            };
            stage.cause(Duration::ZERO, Event::Offered(connection, Box::new(offer)));
        }
        stage
    }

    /// Returns the outbox of a worker. A simulated worker measures, so that it gets no contents.
    fn outbox(&self, connection: Connection) -> Outbox {
        let sent = Arc::clone(&self.sent);
        Outbox::new(move |outgoing| {
            if let Outgoing::Message(message) = outgoing {
                sent.lock().unwrap_or_else(PoisonError::into_inner).push((connection, message));
            }
        })
    }

    fn cause(&mut self, after: Duration, event: Event) {
        let at = self.now() + after;
        self.caused += 1;
        self.events.insert((at, self.caused), event);
    }

    /// Lets a worker take a message.
    fn take(&mut self, connection: Connection, message: FromCoordinator) {
        match message {
            FromCoordinator::Begin { .. } => {
                let readiness = Readiness {
                    identity: Map::from_iter([("device".to_string(), Json::from("a simulated device"))]),
                    problem: self.problem.clone(),
                    space: self.space.digest().to_string(),
                    instructions: String::new(),
                    room: 1,
                };
                self.cause(Duration::ZERO, Event::Said(connection, FromWorker::Ready(readiness)));
            }
            FromCoordinator::Lease { job, attempt, task, .. } => {
                let Some(answer) = self.answer(job, attempt, &task) else { return };
                let slow = 1 + u64::from(job.is_multiple_of(10));
                self.cause(Duration::from_millis(200 * slow + job % 5), Event::Said(connection, answer));
            }
            _ => {}
        }
    }

    fn answer(&self, job: u64, attempt: u32, task: &Task) -> Option<FromWorker> {
        let rank = task.config().parse::<u128>().ok()?;
        let measurement = Measurement { times_ms: vec![(1 + rank % 1009) as f64; 3], ..Measurement::default() };
        let completion = Completion { measurement, ..Completion::default() };
        let answer = answer(&self.space, Request::timed(self.space.id(rank)?), completion);
        Some(FromWorker::Answer { job, attempt, answer: Box::new(answer) })
    }
}

fn introduction(connection: Connection) -> Introduction {
    Introduction {
        protocol: PROTOCOL,
        version: env!("CARGO_PKG_VERSION").to_string(),
        host: "simulated".to_string(),
        process: u32::try_from(connection).unwrap_or_default(),
        role: WorkerRole::Measures,
        machine: String::new(),
        cpus: Vec::new(),
    }
}

impl Entrance for Stage {
    fn now(&self) -> Duration {
        self.clock.now()
    }

    fn next(&mut self, most: Duration) -> Result<Option<Event>, NoMoreEvents> {
        let sent = std::mem::take(&mut *self.sent.lock().unwrap_or_else(PoisonError::into_inner));
        sent.into_iter().for_each(|(connection, message)| self.take(connection, message));
        let until = self.now() + most;
        let due = self.events.first_entry().filter(|event| event.key().0 <= until);
        let (now, event) = match due {
            Some(event) => (event.key().0, Some(event.remove())),
            None => (until, None),
        };
        self.clock.set(now);
        Ok(event)
    }

    fn port(&self) -> u16 {
        0
    }

    fn close(&self) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hundred_simulated_workers_share_a_run_and_the_journal_holds_each_evaluation_once() {
        let folder = tempfile::tempdir().unwrap();
        let run = simulate(100, 2000, folder.path()).unwrap();
        assert_eq!((run.evaluations, run.workers), (2000, 100));
        // 20 evaluations of 220 ms each, and at most as long again for probes and the end.
        assert!(run.took >= Duration::from_secs(4) && run.took < Duration::from_secs(10), "{run:?}");
        let recorded = tunesmith_store::read(&folder.path().join("run.jsonl")).unwrap();
        assert_eq!((recorded.entries.len(), recorded.copies, recorded.conflicts.len()), (2000, 0, 0));
    }
}
