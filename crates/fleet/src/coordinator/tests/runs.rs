//! The traces of a run, and its continuation after an end.

use super::*;
use crate::hall::NoMoreEvents;
use crate::{ServedUntil, WorkerOptions, work};
use std::net::TcpListener;
use tunesmith_store::WorkerRole;

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
    let of_journal = FleetReport::recorded(&recorded).unwrap();
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

/// An entrance of which a thread fails once the journal has so many lines.
struct Failing {
    door: Door,
    journal: PathBuf,
    lines: usize,
    has_failed: bool,
}

impl Entrance for Failing {
    fn now(&self) -> Duration {
        self.door.now()
    }

    fn next(&mut self, most: Duration) -> Result<Option<Event>, NoMoreEvents> {
        let text = std::fs::read_to_string(&self.journal).unwrap_or_default();
        if !self.has_failed && text.lines().count() >= self.lines {
            self.has_failed = true;
            return Ok(Some(Event::Broken("the thread that hears a worker failed: 3 is odd; this is a bug".into())));
        }
        self.door.next(most)
    }

    fn port(&self) -> u16 {
        self.door.port()
    }

    fn close(&self) {
        self.door.close();
    }
}

#[test]
fn a_panic_of_a_thread_ends_the_run_with_its_message_and_the_run_can_be_resumed() {
    let stage = Stage::new();
    let options = stage.options();
    let subject =
        Subject { bundle: Bundle::of(&options.problem).unwrap(), sizes: Map::new(), device: options.device.clone() };
    let door = Door::open("127.0.0.1:0", options.token.clone(), subject).unwrap();
    let door = Failing { door, journal: stage.journal(), lines: 9, has_failed: false };
    let fleet = Fleet::behind(Box::new(door), Crew::default(), options);
    let worker = stage.worker(fleet.port(), Script::Good);
    let (outcome, _) = stage.tune(fleet, 30, false);
    let error = outcome.unwrap_err().to_string();
    assert!(error.contains("the thread that hears a worker failed: 3 is odd; this is a bug"), "{error}");
    worker.join().unwrap();
    assert!(tunesmith_store::read(&stage.journal()).unwrap().entries.len() >= 8);
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
        role: WorkerRole::Measures,
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
