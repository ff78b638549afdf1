//! Whole runs with scripted workers, each with one fault. Nothing is lost, nothing is counted twice,
//! the run ends, and a line names the fault.

use super::*;
use crate::secure::{Listening, Speaking, join};
use crate::wire::{FROM_COORDINATOR, PROTOCOL, hear, say};
use crate::worker::answer;
use crate::{ServedUntil, WorkerOptions, work};
use std::collections::BTreeSet;
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use tunesmith::{JournalOptions, Machine, Outcome, Problem, RemoteDevice, Search, Session, tune};
use tunesmith_core::{Completion, Event as RunEvent, Measurement, Request, SystemClock};
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
    /// Speaks another version of the protocol.
    OtherProtocol,
    /// Does not know the token.
    WrongToken,
    /// Answers for another configuration.
    OtherConfiguration,
    /// Answers probes at once, its first evaluation after `begun`, and others after `happened`.
    Patient,
    /// Takes half as long again.
    Slow,
}

impl Script {
    /// Returns true if the worker is turned away before it gets a lease.
    fn is_refused(self) -> bool {
        matches!(self, Self::OtherDevice | Self::OtherProtocol | Self::WrongToken)
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

    fn wait(&self) {
        let given = self.0.0.lock().unwrap();
        let most = Duration::from_secs(30);
        drop(self.0.1.wait_timeout_while(given, most, |given| !*given).unwrap());
    }
}

/// The moments that workers wait for.
#[derive(Clone, Default)]
struct Cues {
    /// A good worker has a lease.
    begun: Cue,
    /// The fault has happened.
    happened: Cue,
}

/// A problem in a folder, and how workers reach its coordinator.
struct Stage {
    folder: tempfile::TempDir,
    token: Token,
    problem: Problem,
    space: Space,
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
        Self { folder, token: Token::fresh().unwrap(), problem, space }
    }

    fn fleet(&self, patience: Duration) -> Fleet {
        self.fleet_of(patience, false)
    }

    fn fleet_of(&self, patience: Duration, pools: bool) -> Fleet {
        let worker = WorkerProgram::default();
        Fleet::start(FleetOptions {
            spec: FleetSpec::Listen("127.0.0.1:0".to_string()),
            token: self.token.clone(),
            problem: self.problem.source_file.path.clone(),
            sizes: Vec::new(),
            device: Some(DEVICE.to_string()),
            worker,
            terms: terms(),
            patience,
            is_timed: true,
            pools,
        })
        .unwrap()
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
        let search = Search { stop, strategy, room: Some(4), ..Search::default() };
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
            tune(&self.problem, &machine, &search, journal, &mut session)
        };
        (outcome, notes)
    }

    /// Starts a scripted worker.
    fn worker(&self, port: u16, script: Script) -> thread::JoinHandle<()> {
        let cues = Cues { begun: Cue::given(), happened: Cue::given() };
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
    let protocol = PROTOCOL + u32::from(script == Script::OtherProtocol);
    let (version, host) = (env!("CARGO_PKG_VERSION").to_string(), format!("{script:?}"));
    say(&mut speaking, &FromWorker::Join { protocol, version, host, process: 1 })?;
    let FromCoordinator::Problem { .. } = hear(&mut listening, FROM_COORDINATOR)? else { return Ok(()) };
    say(&mut speaking, &FromWorker::Want { digests: Vec::new() })?;
    say(&mut speaking, &FromWorker::Offer { target: None, limits: Map::new() })?;
    let FromCoordinator::Begin { .. } = hear(&mut listening, FROM_COORDINATOR)? else { return Ok(()) };
    let device = if script == Script::OtherDevice { "another device" } else { "a device" };
    let identity = Map::from_iter([("device".to_string(), Json::from(device))]);
    say(
        &mut speaking,
        &FromWorker::Ready { identity, problem: problem.to_string(), space: space.digest().to_string() },
    )?;
    let (mut leases, mut evaluations, mut kept) = (0, 0, None);
    while let FromCoordinator::Lease { job, attempt, task, .. } = hear(&mut listening, FROM_COORDINATOR)? {
        leases += 1;
        if script == Script::Good {
            cues.begun.give();
            cues.happened.wait();
        }
        let rank = task.config().parse::<u128>().unwrap();
        let rank = if script == Script::OtherConfiguration { (rank + 1) % 60 } else { rank };
        let config = space.id(rank).unwrap();
        let x = (rank + 1) as f64;
        let factor = if script == Script::Slow { 1.5 } else { 1.0 };
        if let (Script::Patient, Task::Evaluate { .. }) = (script, &task) {
            evaluations += 1;
            if evaluations == 1 { &cues.begun } else { &cues.happened }.wait();
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

/// Runs 30 evaluations with these workers. The first is there before the others come.
#[track_caller]
fn run_with(scripts: &[Script], expected: &[&str]) -> String {
    let stage = Stage::new();
    let fleet = stage.fleet(FleetOptions::PATIENCE);
    let port = fleet.port();
    let cues = Cues::default();
    if scripts.iter().all(|script| *script == Script::Good) {
        cues.happened.give();
    }
    let mut workers = Vec::new();
    for script in scripts {
        // Good workers are not there yet when another has its fault.
        let waits =
            *script == Script::Good && scripts.iter().any(|other| *other != Script::Good && !other.is_refused());
        let entry = if waits { cues.happened.clone() } else { Cue::given() };
        workers.push(stage.worker_with(port, *script, cues.clone(), entry));
    }
    let (outcome, notes) = stage.tune(fleet, 30, false);
    stage.check(&outcome.unwrap(), 30);
    for part in expected {
        assert_eq!(notes.lines().filter(|line| line.contains(part)).count(), 1, "{part}:\n{notes}");
    }
    workers.into_iter().for_each(|worker| worker.join().unwrap());
    notes
}

#[test]
fn several_workers_share_a_run() {
    run_with(&[Script::Good, Script::Good, Script::Good], &[]);
}

#[test]
fn a_worker_that_is_killed_loses_nothing() {
    run_with(&[Script::Good, Script::Dies(3)], &["(Dies(3), process 1) left"]);
}

#[test]
fn a_worker_that_hangs_loses_nothing() {
    let notes = run_with(&[Script::Good, Script::Hangs(2)], &[]);
    assert!(notes.contains("(Hangs(2), process 1) did not answer lease"), "{notes}");
}

#[test]
fn a_worker_cut_off_for_longer_than_its_lease_may_come_back() {
    run_with(&[Script::Late(2)], &["(Late(2), process 1) did not answer lease"]);
}

#[test]
fn the_same_answer_twice_counts_once_and_is_kept() {
    let stage = Stage::new();
    let fleet = stage.fleet(FleetOptions::PATIENCE);
    let worker = stage.worker(fleet.port(), Script::Twice);
    let (outcome, notes) = stage.tune(fleet, 30, false);
    stage.check(&outcome.unwrap(), 30);
    let recorded = tunesmith_store::read(&stage.journal()).unwrap();
    assert!(recorded.seconds >= 25, "{} second answers", recorded.seconds);
    assert!(notes.contains("a second time; the first answer counts"));
    let text = std::fs::read_to_string(stage.journal()).unwrap();
    assert!(text.lines().any(|line| line.starts_with("{\"second\":\"worker 1 (Twice")), "{text}");
    worker.join().unwrap();
}

#[test]
fn a_worker_whose_disk_is_full_is_set_aside() {
    run_with(&[Script::Good, Script::DiskFull(2)], &["is set aside: No space left on device"]);
}

#[test]
fn a_worker_that_answers_what_it_was_not_asked_is_set_aside() {
    run_with(&[Script::Good, Script::Unasked], &["is set aside: it answered lease"]);
}

#[test]
fn a_worker_of_another_protocol_is_refused() {
    run_with(&[Script::Good, Script::OtherProtocol], &["it speaks version 2 of the protocol"]);
}

#[test]
fn a_peer_with_another_token_is_refused() {
    run_with(&[Script::Good, Script::WrongToken], &["was refused: the token cannot be used: wrong token"]);
}

#[test]
fn a_worker_with_another_device_is_set_aside() {
    let notes = run_with(&[Script::Good, Script::OtherDevice], &["times of both cannot be compared"]);
    assert!(notes.contains("its device is another device, not a device"), "{notes}");
}

/// Gives a cue once the report says so.
fn when(report: &SharedReport, cue: &Cue, says: impl Fn(&FleetReport) -> bool) {
    for _ in 0..6000 {
        if report.read(&says) {
            break;
        }
        thread::sleep(Duration::from_millis(5));
    }
    cue.give();
}

#[test]
fn a_worker_that_is_slower_than_the_others_is_set_aside_and_named() {
    let stage = Stage::new();
    let fleet = stage.fleet(FleetOptions::PATIENCE);
    let (port, report, cues, entry) = (fleet.port(), fleet.report(), Cues::default(), Cue::default());
    let mut workers: Vec<_> =
        (0..4).map(|_| stage.worker_with(port, Script::Patient, cues.clone(), Cue::given())).collect();
    workers.push(stage.worker_with(port, Script::Slow, cues.clone(), entry.clone()));
    let (watched, begun) = (report.clone(), cues.begun.clone());
    let directing = thread::spawn(move || {
        when(&watched, &begun, |report| report.workers.len() == 4);
        when(&watched, &entry, |report| report.workers.iter().all(|worker| worker.checks >= 3));
    });
    let (outcome, notes) = stage.tune(fleet, 30, false);
    stage.check(&outcome.unwrap(), 30);
    workers.into_iter().for_each(|worker| worker.join().unwrap());
    directing.join().unwrap();
    let line = "(Slow, process 1) is set aside: it takes 50 % more time than the others for the same configuration";
    assert_eq!(notes.lines().filter(|note| note.contains(line)).count(), 1, "{notes}");
    assert_eq!(notes.lines().filter(|note| note.contains("set aside")).count(), 1, "{notes}");
    let slow = report.now().workers.into_iter().find(|worker| worker.name.contains("Slow")).unwrap();
    assert_eq!((slow.state, slow.level, slow.evaluations), (WorkerState::SetAside, Some(1.5), 0));
}

#[test]
fn workers_of_another_kind_wait_for_a_run_of_their_own() {
    let stage = Stage::new();
    let fleet = stage.fleet_of(FleetOptions::PATIENCE, true);
    let (port, report, cues) = (fleet.port(), fleet.report(), Cues::default());
    let mut pools = crate::Pools::new(fleet);
    // The first worker goes on once two of another kind are there.
    let scripts = [Script::Good, Script::OtherDevice, Script::OtherDevice];
    let workers = scripts.map(|script| {
        let own = Cues { begun: cues.begun.clone(), happened: cues.happened.clone() };
        let happened = if script == Script::Good { own.happened } else { Cue::default() };
        stage.worker_with(port, script, Cues { happened, ..own }, Cue::given())
    });
    let (watched, happened) = (report.clone(), cues.happened.clone());
    let directing = thread::spawn(move || {
        for _ in 0..6000 {
            if watched.others() == 2 {
                break;
            }
            thread::sleep(Duration::from_millis(5));
        }
        happened.give();
    });
    let journal = |name: &str| {
        let out = Some(stage.folder.path().join(name));
        JournalOptions { out, ..JournalOptions::default() }
    };
    let (outcome, notes) = stage.tune_on(pools.next_run().unwrap(), 30, &journal("run.jsonl"));
    stage.check(&outcome.unwrap(), 30);
    assert_eq!(notes.lines().filter(|line| line.contains("waits for a pool of its own: its device is")).count(), 2);
    assert_eq!(report.now().workers.len(), 1);
    let (outcome, notes) = stage.tune_on(pools.next_run().unwrap(), 30, &journal("other.jsonl"));
    assert_eq!(outcome.unwrap().evaluations, 30, "{notes}");
    assert_eq!(report.now().workers.len(), 2, "the second pool has both workers of its kind");
    let recorded = tunesmith_store::read(&stage.folder.path().join("other.jsonl")).unwrap();
    assert_eq!(recorded.header.identity["device"], "another device");
    assert!(recorded.entries.iter().all(|entry| entry.worker.as_ref().is_some_and(|by| by.contains("OtherDevice"))));
    assert!(pools.next_run().is_none(), "nobody is left");
    drop(pools);
    workers.into_iter().for_each(|worker| worker.join().unwrap());
    directing.join().unwrap();
}

#[test]
fn the_journal_says_which_worker_measured_and_its_state_lies_beside_it() {
    let stage = Stage::new();
    let fleet = stage.fleet(FleetOptions::PATIENCE);
    let report = fleet.report();
    report.keep_beside(&stage.journal());
    let worker = stage.worker(fleet.port(), Script::Good);
    let (outcome, _) = stage.tune(fleet, 30, false);
    stage.check(&outcome.unwrap(), 30);
    worker.join().unwrap();
    let recorded = tunesmith_store::read(&stage.journal()).unwrap();
    let is_named = |entry: &tunesmith_store::Entry| entry.worker.as_deref() == Some("worker 1 (Good, process 1)");
    assert!(recorded.entries.iter().all(|entry| is_named(entry) && entry.took.is_some()));
    let of_journal = FleetReport::of(&recorded).unwrap();
    // The final and the probes of the reference come besides.
    assert!(of_journal.workers.len() == 1 && of_journal.workers[0].evaluations >= 30, "{of_journal:?}");
    let status = crate::status(&stage.journal()).unwrap().unwrap();
    assert!(status.has_state && status.report == report.now(), "{status:?}");
    let [worker] = status.report.workers.as_slice() else { panic!("{status:?}") };
    assert_eq!((worker.evaluations >= 30, worker.state, worker.holds), (true, WorkerState::Ended, 0));
    let text = std::fs::read_to_string(FleetReport::beside(&stage.journal())).unwrap();
    assert!(!text.contains(stage.token.secret()));
    std::fs::remove_file(FleetReport::beside(&stage.journal())).unwrap();
    assert!(!crate::status(&stage.journal()).unwrap().unwrap().has_state);
}

#[test]
fn a_configuration_that_no_worker_survives_is_a_failure_and_the_run_ends() {
    let stage = Stage::new();
    let fleet = stage.fleet(FleetOptions::PATIENCE);
    let port = fleet.port();
    let workers: Vec<_> = (0..3).map(|_| stage.worker(port, Script::Dies(1))).collect();
    let good = stage.worker(port, Script::Good);
    let (outcome, _) = stage.tune(fleet, 30, false);
    stage.check(&outcome.unwrap(), 30);
    workers.into_iter().chain([good]).for_each(|worker| worker.join().unwrap());
}

#[test]
fn an_answer_for_another_configuration_is_no_measurement() {
    let stage = Stage::new();
    let fleet = stage.fleet(FleetOptions::PATIENCE);
    let port = fleet.port();
    let workers = [Script::Good, Script::OtherConfiguration].map(|script| stage.worker(port, script));
    let (outcome, notes) = stage.tune(fleet, 30, false);
    stage.check(&outcome.unwrap(), 30);
    assert!(!notes.contains("OtherConfiguration") || notes.contains("it answered for another configuration"));
    workers.into_iter().for_each(|worker| worker.join().unwrap());
}

#[test]
fn without_workers_a_run_ends_and_can_be_resumed() {
    let stage = Stage::new();
    let fleet = stage.fleet(Duration::from_millis(200));
    let worker = stage.worker(fleet.port(), Script::Dies(10));
    let (outcome, _) = stage.tune(fleet, 30, false);
    let error = outcome.unwrap_err().to_string();
    assert!(error.contains("no worker is left") && error.contains("--resume"), "{error}");
    worker.join().unwrap();
    let fleet = stage.fleet(FleetOptions::PATIENCE);
    let worker = stage.worker(fleet.port(), Script::Good);
    let (outcome, _) = stage.tune(fleet, 30, true);
    stage.check(&outcome.unwrap(), 30);
    worker.join().unwrap();
}

/// A journal cut at any byte is what a coordinator leaves that is killed at that moment.
#[test]
fn a_coordinator_killed_at_fifty_moments_continues_with_new_workers() {
    let stage = Stage::new();
    let fleet = stage.fleet(FleetOptions::PATIENCE);
    let workers = [Script::Good, Script::Good].map(|script| stage.worker(fleet.port(), script));
    let (outcome, _) = stage.tune(fleet, 30, false);
    stage.check(&outcome.unwrap(), 30);
    workers.into_iter().for_each(|worker| worker.join().unwrap());
    let whole = std::fs::read(stage.journal()).unwrap();
    let header = whole.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    for moment in 0..50 {
        let cut = header + (moment * 7919 + 13) % (whole.len() - header);
        std::fs::write(stage.journal(), &whole[..cut]).unwrap();
        let fleet = stage.fleet(FleetOptions::PATIENCE);
        let worker = stage.worker(fleet.port(), Script::Good);
        let (outcome, notes) = stage.tune(fleet, 30, true);
        stage.check(&outcome.unwrap_or_else(|error| panic!("cut at {cut}: {error}\n{notes}")), 30);
        worker.join().unwrap();
    }
}

/// Passes bytes on in small pieces with a delay, until it is told to stop passing anything.
fn slow_proxy(to: u16) -> u16 {
    use std::io::{Read, Write};
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        let (near, _) = listener.accept().unwrap();
        let far = TcpStream::connect(("127.0.0.1", to)).unwrap();
        let pass = |mut from: TcpStream, mut to: TcpStream| {
            thread::spawn(move || {
                let mut bytes = [0; 700];
                while let Ok(length @ 1..) = from.read(&mut bytes) {
                    thread::sleep(Duration::from_millis(2));
                    if to.write_all(&bytes[..length]).is_err() {
                        break;
                    }
                }
                let _ = to.shutdown(std::net::Shutdown::Both);
            })
        };
        let back = pass(far.try_clone().unwrap(), near.try_clone().unwrap());
        pass(near, far).join().unwrap();
        back.join().unwrap();
    });
    port
}

#[test]
fn real_workers_over_a_slow_network_find_what_one_device_finds() {
    let stage = Stage::new();
    std::fs::write(stage.folder.path().join("data.bin"), vec![7; 300_000]).unwrap();
    let fleet = stage.fleet(FleetOptions::PATIENCE);
    let port = slow_proxy(fleet.port());
    let options = WorkerOptions {
        address: format!("127.0.0.1:{port}"),
        token: stage.token.clone(),
        cpus: Vec::new(),
        pause: Duration::ZERO,
    };
    let serving = thread::spawn(move || work(&options, &Machine::default(), &Interrupt::default(), &mut |_| {}));
    let (outcome, _) = stage.tune(fleet, 60, false);
    let outcome = outcome.unwrap();
    stage.check(&outcome, 60);
    assert_eq!(outcome.best.unwrap().arguments(), "X=17");
    let served = serving.join().unwrap().unwrap();
    assert!(served.answers >= 60, "{served:?}");
    assert!(matches!(served.ending, ServedUntil::Over | ServedUntil::Gone(_)), "{served:?}");
}
