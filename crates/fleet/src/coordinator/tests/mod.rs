//! Whole runs with scripted workers, each with one fault. Nothing is lost, nothing is counted twice,
//! the run ends, and a line names the fault.

mod compiling;
mod faults;
mod kinds;
mod rooms;
mod runs;

use super::*;
use crate::Token;
use crate::digest::digest_of;
use crate::lease::Terms;
use crate::secure::{Listening, Speaking, join};
use crate::start::WorkerProgram;
use crate::wire::{FROM_COORDINATOR, Introduction, PROTOCOL, Parcel, Readiness, hear, read_parcel, say, write_content};
use crate::worker::answer;
use std::collections::BTreeSet;
use std::net::TcpStream;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use tunesmith::{JournalOptions, Machine, Outcome, Problem, Search, Session, TuningTask, runner::RemoteDevice, tune};
use tunesmith_core::{Completion, Event as RunEvent, Measurement, Request, SystemClock};
use tunesmith_device::MOST_PARCEL;
use tunesmith_store::FleetReport;

const PROBLEM: &str = "[parameters]\nX = { range = '1..=60' }\n";
const DEVICE: &str = "synthetic:abs(X - 17) + 1";

/// The behaviour of a scripted worker.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Script {
    /// Answers everything.
    Good,
    /// Vanishes when it gets this lease.
    Dies(usize),
    /// Never answers from this lease on, and keeps its connection.
    Hangs(usize),
    /// Answers every lease twice.
    Twice,
    /// Answers this lease only after other workers have answered many.
    Late(usize),
    /// Reports at this lease that its disk is full.
    DiskFull(usize),
    /// Answers a lease that it never had.
    Unasked,
    /// Has another device.
    OtherDevice,
    /// Has a GPU whose highest clock is this many MHz.
    Gpu(u32),
    /// Speaks another version of the protocol.
    OtherProtocol,
    /// Does not know the token.
    WrongToken,
    /// Answers for another configuration.
    OtherConfiguration,
    /// Answers probes at once, its first evaluation after `begun`, and those that follow its third probe after
    /// `happened`.
    Patient,
    /// Answers its first evaluation once so many workers have one.
    Gathers(usize),
    /// Takes half as long again.
    Slow,
    /// Compiles everything.
    Compiles,
    /// Compiles, and says that nothing compiles.
    CompilesNothing,
    /// Compiles, and vanishes when it gets a lease.
    CompilerDies,
    /// Compiles, and never answers.
    CompilerHangs,
    /// Compiles, and sends another content than it announces.
    WrongDigest,
    /// Compiles, and announces more than anybody takes.
    TooMuch,
    /// Compiles, and answers a lease that it never had.
    CompiledUnasked,
    /// Compiles for another device.
    CompilesForAnother,
    /// Compiles on the processors that others measure.
    CompilesBeside,
}

impl Script {
    /// Returns true if the worker is turned away before it gets a lease.
    fn is_refused(self) -> bool {
        matches!(self, Self::OtherDevice | Self::OtherProtocol | Self::WrongToken)
            || matches!(self, Self::CompilesForAnother | Self::CompilesBeside)
    }

    fn role(self) -> WorkerRole {
        match self {
            Self::Compiles | Self::CompilesNothing | Self::CompilerDies | Self::CompilerHangs => WorkerRole::Compiles,
            Self::WrongDigest | Self::TooMuch | Self::CompiledUnasked => WorkerRole::Compiles,
            Self::CompilesForAnother | Self::CompilesBeside => WorkerRole::Compiles,
            _ => WorkerRole::Measures,
        }
    }

    /// Returns the words with which the worker comes. All are on one machine, and keep to processors of
    /// their own.
    fn introduction(self) -> Introduction {
        let cpus = match (self, self.role()) {
            (Self::CompilesBeside, _) => Vec::new(),
            (_, WorkerRole::Compiles) => vec![1],
            (_, WorkerRole::Measures) => vec![0],
        };
        Introduction {
            protocol: PROTOCOL + u32::from(self == Self::OtherProtocol),
            version: env!("CARGO_PKG_VERSION").to_string(),
            host: format!("{self:?}"),
            process: 1,
            role: self.role(),
            machine: "a machine".to_string(),
            cpus,
        }
    }
}

/// Something that others wait for, so that no test depends on who is faster.
#[derive(Clone, Default)]
struct Cue(Arc<(Mutex<bool>, Condvar)>);

impl Cue {
    fn given() -> Self {
        let cue = Self::default();
        cue.give();
        cue
    }

    fn give(&self) {
        *self.0.0.lock().unwrap() = true;
        self.0.1.notify_all();
    }

    /// Waits for the cue, for two minutes at most. Returns true if it was given.
    fn wait(&self) -> bool {
        let given = self.0.0.lock().unwrap();
        let most = Duration::from_secs(120);
        *self.0.1.wait_timeout_while(given, most, |given| !*given).unwrap().0
    }
}

/// The moments that workers wait for.
#[derive(Clone, Default)]
struct Cues {
    /// A good worker has a lease.
    begun: Cue,
    /// The fault has happened.
    happened: Cue,
    /// Number of workers that have an evaluation.
    gathered: Arc<AtomicUsize>,
    /// Number of leases that came with machine code.
    parcels: Arc<AtomicUsize>,
}

/// A problem in a folder, and how workers reach its coordinator.
struct Stage {
    folder: tempfile::TempDir,
    token: Token,
    problem: Problem,
    space: Space,
    /// The number of requests in flight, unless it follows the workers.
    room: Option<usize>,
}

fn terms() -> Terms {
    let short = Duration::from_millis(300);
    Terms { first: short, least: short, factor: 1, grace: Duration::ZERO, ..Terms::default() }
}

impl Stage {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("p.toml");
        std::fs::write(&path, PROBLEM).unwrap();
        let problem = Problem::load(&path, &[]).unwrap();
        let space = problem.space(&[]).unwrap().space;
        Self { folder, token: Token::fresh().unwrap(), problem, space, room: Some(4) }
    }

    fn fleet(&self, patience: Duration) -> Fleet {
        self.fleet_of(patience, false)
    }

    fn fleet_of(&self, patience: Duration, pools: bool) -> Fleet {
        Fleet::start(FleetOptions { patience, pools, ..self.options() }).unwrap()
    }

    fn fleet_with(&self, terms: Terms) -> Fleet {
        Fleet::start(FleetOptions { terms, ..self.options() }).unwrap()
    }

    fn options(&self) -> FleetOptions {
        FleetOptions {
            spec: FleetSpec::Listen("127.0.0.1:0".to_string()),
            token: self.token.clone(),
            problem: self.problem.source_file().path.clone(),
            sizes: Vec::new(),
            device: Some(DEVICE.to_string()),
            worker: WorkerProgram::default(),
            terms: terms(),
            patience: FleetOptions::PATIENCE,
            pools: false,
            interrupt: Interrupt::default(),
        }
    }

    fn journal(&self) -> PathBuf {
        self.folder.path().join("run.jsonl")
    }

    /// Tunes with `fleet`. Returns the outcome and the notes.
    fn tune(&self, fleet: Fleet, evaluations: u64, resume: bool) -> (Result<Outcome, tunesmith::Error>, String) {
        let journal = JournalOptions { out: Some(self.journal()), resume, ..JournalOptions::default() };
        self.tune_on(Box::new(fleet), evaluations, &journal)
    }

    fn tune_on(
        &self,
        device: Box<dyn RemoteDevice>,
        evaluations: u64,
        journal: &JournalOptions,
    ) -> (Result<Outcome, tunesmith::Error>, String) {
        let machine = Machine { device: Some(DEVICE.parse().unwrap()), ..Machine::default() };
        let stop = Some(format!("evaluations {evaluations}").parse().unwrap());
        let strategy = Some("random".parse().unwrap());
        let search = Search { stop, strategy, room: self.room, ..Search::default() };
        let mut notes = String::new();
        let mut observer = |event: &RunEvent<'_>| {
            if let RunEvent::Noted { text } = event {
                notes += text;
                notes.push('\n');
            }
        };
        let outcome = {
            let mut session = Session { remote: Some(device), ..Session::default() };
            session.observers.push(&mut observer);
            let task = TuningTask::new(&self.problem).machine(machine).search(search).journal(journal.clone());
            tune(&task, &mut session)
        };
        (outcome, notes)
    }

    /// Starts a scripted worker.
    fn worker(&self, port: u16, script: Script) -> thread::JoinHandle<()> {
        let cues = Cues { begun: Cue::given(), happened: Cue::given(), ..Cues::default() };
        self.worker_with(port, script, cues, Cue::given())
    }

    /// Starts a scripted worker that gives cues, and waits for them. It connects after `entry`.
    fn worker_with(&self, port: u16, script: Script, cues: Cues, entry: Cue) -> thread::JoinHandle<()> {
        let (token, problem, space) = (self.token.clone(), self.problem.digest(), self.space.clone());
        let token = if script == Script::WrongToken { Token::fresh().unwrap() } else { token };
        thread::spawn(move || {
            entry.wait();
            if script.is_refused() {
                cues.begun.wait();
            }
            let socket = TcpStream::connect(("127.0.0.1", port)).unwrap();
            let mut rest = socket.try_clone().unwrap();
            // A worker that is turned away ends in the middle of its script.
            if let Ok((listening, speaking)) = join(socket, &token, &SystemClock::new()) {
                let _ = play(script, listening, speaking, (&problem, &space), &cues);
            }
            if script.is_refused() {
                // The coordinator hangs up once it has told of the refusal.
                let _ = std::io::copy(&mut rest, &mut std::io::sink());
            }
            if !matches!(script, Script::Good | Script::Patient) {
                cues.happened.give();
            }
        })
    }

    /// Checks that every evaluation is in the journal once.
    fn check(&self, outcome: &Outcome, evaluations: u64) {
        assert_eq!(outcome.evaluations, evaluations);
        let recorded = tunesmith_store::read(&self.journal()).unwrap();
        let indices: BTreeSet<&String> = recorded.entries.iter().map(|entry| &entry.index).collect();
        assert_eq!(recorded.entries.len() as u64, evaluations);
        assert_eq!(indices.len(), recorded.entries.len(), "nothing counts twice");
        assert!(recorded.conflicts.is_empty() && recorded.copies == 0);
        for entry in recorded.entries.iter().filter(|entry| entry.status == "correct") {
            let x = entry.config["X"].as_f64().unwrap();
            assert_eq!(entry.times_ms, [(x - 17.0).abs() + 1.0]);
        }
    }
}

fn play(
    script: Script,
    mut listening: Listening,
    mut speaking: Speaking,
    (problem, space): (&str, &Space),
    cues: &Cues,
) -> Result<(), FleetError> {
    say(&mut speaking, &FromWorker::Join(script.introduction()))?;
    let FromCoordinator::Problem { .. } = hear(&mut listening, FROM_COORDINATOR)? else { return Ok(()) };
    say(&mut speaking, &FromWorker::Want { digests: Vec::new() })?;
    let (target, limits) = kinds::offered(script);
    say(&mut speaking, &FromWorker::Offer { target, limits })?;
    let (FromCoordinator::Begin { .. } | FromCoordinator::Compile { .. }) = hear(&mut listening, FROM_COORDINATOR)?
    else {
        return Ok(());
    };
    let is_other = matches!(script, Script::OtherDevice | Script::CompilesForAnother);
    let device = if is_other { "another device" } else { "a device" };
    let readiness = Readiness {
        identity: Map::from_iter([("device".to_string(), Json::from(device))]),
        problem: problem.to_string(),
        space: space.digest().to_string(),
        instructions: String::new(),
        room: 1,
    };
    say(&mut speaking, &FromWorker::Ready(readiness))?;
    if script.role() == WorkerRole::Compiles {
        return compiling::play(script, &mut listening, &mut speaking);
    }
    let (mut leases, mut evaluations, mut probes, mut kept) = (0, 0, 0, None);
    let mut has = BTreeSet::new();
    loop {
        let (job, attempt, task, parcel) = match hear(&mut listening, FROM_COORDINATOR)? {
            FromCoordinator::Lease { job, attempt, task, parcel, .. } => (job, attempt, task, parcel),
            FromCoordinator::Content { digest, bytes } => {
                read_parcel(&mut listening, &Parcel { digest: digest.clone(), bytes })?;
                assert!(has.insert(digest), "a parcel is sent once");
                continue;
            }
            _ => break,
        };
        if let Some(parcel) = parcel {
            assert!(has.contains(&parcel), "a parcel comes before its lease");
            cues.parcels.fetch_add(1, Ordering::SeqCst);
        }
        leases += 1;
        if matches!(script, Script::Good | Script::Gpu(_)) {
            cues.begun.give();
            cues.happened.wait();
        }
        let rank = task.config().parse::<u128>().unwrap();
        let rank = if script == Script::OtherConfiguration { (rank + 1) % 60 } else { rank };
        let config = space.id(rank).unwrap();
        let x = (rank + 1) as f64;
        let factor = if script == Script::Slow { 1.5 } else { 1.0 };
        match (script, &task) {
            (Script::Patient, Task::Evaluate { .. }) => {
                evaluations += 1;
                if evaluations == 1 {
                    cues.begun.wait();
                } else if probes >= 3 {
                    cues.happened.wait();
                }
            }
            (Script::Patient, _) => probes += 1,
            _ => {}
        }
        if let (Script::Gathers(all), Task::Evaluate { .. }) = (script, &task) {
            evaluations += 1;
            if evaluations == 1 && cues.gathered.fetch_add(1, Ordering::SeqCst) + 1 == all {
                cues.happened.give();
            }
            assert!(cues.happened.wait(), "{all} workers never had an evaluation each at once");
        }
        let measurement = Measurement { times_ms: vec![((x - 17.0).abs() + 1.0) * factor], ..Measurement::default() };
        let completion = Completion { measurement, ..Completion::default() };
        let answer = Box::new(answer(space, Request::timed(config), completion));
        let message = FromWorker::Answer { job, attempt, answer: answer.clone() };
        match script {
            Script::Dies(at) if leases == at => break,
            Script::Hangs(at) if leases >= at => {
                cues.happened.give();
                continue;
            }
            Script::Late(at) if leases == at => {
                thread::sleep(terms().first * 2);
                kept = Some(message);
            }
            Script::DiskFull(at) if leases == at => {
                say(&mut speaking, &FromWorker::Unable { reason: "No space left on device".to_string() })?;
            }
            Script::Unasked => say(&mut speaking, &FromWorker::Answer { job: job + 1000, attempt, answer })?,
            Script::Twice => {
                say(&mut speaking, &message)?;
                say(&mut speaking, &message)?;
            }
            _ => say(&mut speaking, &message)?,
        }
        if let Some(late) = kept.take() {
            say(&mut speaking, &late)?;
        }
    }
    speaking.hang_up();
    Ok(())
}

/// The number of looks after which a test gives up what it waits for: two minutes, because a busy machine may
/// stand still for one.
const LONG: usize = 24_000;

/// Gives a cue once the report says so.
fn when(report: &SharedReport, cue: &Cue, says: impl Fn(&FleetReport) -> bool) {
    for _ in 0..LONG {
        if report.read(&says) {
            break;
        }
        thread::sleep(Duration::from_millis(5));
    }
    cue.give();
}
