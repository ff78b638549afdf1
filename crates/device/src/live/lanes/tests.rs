use super::*;
use crate::worker::envelope::{Assembly, Envelope};
use crate::worker::protocol::{Message, Request, Setup};
use std::collections::VecDeque;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::ExitStatus;
use std::sync::Mutex;
use tunesmith_backend::host::{Packet, Process, Processes, Received, WorkerCommand};
use tunesmith_backend::{BackendMessage, SessionKind};
use tunesmith_core::ManualClock;
use tunesmith_kernel::measure::Policy;
use tunesmith_kernel::measure::limits::Reason;

/// The time that every worker says it took to load.
const TOOK: Duration = Duration::from_millis(5);

type Log = Arc<Mutex<Vec<(u32, &'static str)>>>;

/// Starts workers that only say what they are asked to do, with the ids 1, 2, ...
#[derive(Debug, Default)]
struct Scripted {
    log: Log,
    /// The worker that ends while it loads.
    ends: Option<u32>,
    /// The first worker that the system refuses to start.
    refused: Option<u32>,
}

#[derive(Debug)]
struct ScriptedProcess {
    id: u32,
    log: Log,
    ends: bool,
    request: Assembly,
    answers: VecDeque<Vec<u8>>,
    is_over: bool,
}

impl Processes for Scripted {
    fn start(&self, _: &WorkerCommand) -> io::Result<Box<dyn Process>> {
        let mut log = self.log.lock().unwrap();
        let id = 1 + log.iter().filter(|(_, what)| *what == "starts").count() as u32;
        if self.refused.is_some_and(|refused| id >= refused) {
            return Err(io::Error::other("the system has no process left"));
        }
        log.push((id, "starts"));
        let (log, ends) = (Arc::clone(&self.log), self.ends == Some(id));
        let (request, answers) = (Assembly::default(), VecDeque::new());
        Ok(Box::new(ScriptedProcess { id, log, ends, request, answers, is_over: false }))
    }

    fn nonce(&self) -> u64 {
        7
    }
}

impl Process for ScriptedProcess {
    fn id(&self) -> u32 {
        self.id
    }

    fn send(&mut self, packet: &[u8]) -> io::Result<()> {
        let Some(request) = self.request.add(packet) else { return Ok(()) };
        self.request = Assembly::default();
        let message = match serde_json::from_slice(&request)? {
            Request::Prepare(_) => Message::Ready,
            Request::Load(_) => {
                self.log.lock().unwrap().push((self.id, "loads"));
                self.is_over = self.ends;
                Message::Loaded { took: TOOK }
            }
            other => panic!("nobody asks for {other:?}"),
        };
        let envelope = Envelope::of(packet).unwrap();
        self.answers.extend(envelope.packets(&serde_json::to_vec(&message)?));
        Ok(())
    }

    fn receive(&mut self, _: Duration) -> Received {
        if self.is_over {
            return Received::Closed;
        }
        let Some(bytes) = self.answers.pop_front() else { return Received::Nothing };
        self.log.lock().unwrap().push((self.id, "answers"));
        Received::Packet(Packet { bytes, sender: self.id, descriptors: Vec::new() })
    }

    fn adopt(&mut self) -> bool {
        false
    }

    fn end_job(&mut self) {}

    fn forget_job(&mut self) {}

    fn end(&mut self, _: Duration) -> Option<ExitStatus> {
        Some(ExitStatus::from_raw(0))
    }

    fn memory(&self) -> Option<u64> {
        None
    }

    fn take_printed(&mut self) -> Vec<u8> {
        Vec::new()
    }
}

fn station(processes: &Arc<Scripted>, folder: &Path) -> Station {
    let session = SessionKind::of_driver(BackendMessage::new("opencl", &0));
    Station {
        processes: Arc::clone(processes) as Arc<dyn Processes>,
        command: WorkerCommand::current(),
        setup: Setup { session, arguments: Vec::new(), results: None, energy: None },
        device: "a device".to_owned(),
        bytes: 0,
        policy: Policy::default(),
        clock: Arc::new(ManualClock::default()),
        worker: None,
        had_worker: false,
        usual_changes: Arc::default(),
        folder: folder.to_owned(),
        results: None,
        suspension: None,
    }
}

/// Returns two lanes that loaded two builds.
fn loaded(processes: &Arc<Scripted>, builds: &[Arc<BuiltKernels>]) -> Lanes {
    let folder = tempfile::tempdir().unwrap();
    let mut lanes = Lanes::new(builds.len());
    for _ in builds {
        lanes.add(station(processes, folder.path()));
    }
    let limit = Limit { duration: Duration::from_secs(1), reason: Reason::Fixed };
    lanes.load(builds.to_vec(), &limit, &Interrupt::default()).unwrap();
    lanes
}

fn builds() -> Vec<Arc<BuiltKernels>> {
    (0..2).map(|_| Arc::default()).collect()
}

/// Returns the worker of the lane of `built`, and the time that loading took.
fn lane_of(lanes: &mut Lanes, built: &BuiltKernels) -> (Option<u32>, Duration) {
    let (station, took) = lanes.lane_of(built).unwrap();
    (station.worker.as_ref().map(|worker| worker.id()), took)
}

#[test]
fn every_worker_loads_before_the_first_is_waited_for() {
    let (processes, builds) = (Arc::new(Scripted::default()), builds());
    let mut lanes = loaded(&processes, &builds);
    let log = processes.log.lock().unwrap().clone();
    // The first answer of each is that it is ready.
    let wanted = [1, 2].map(|id| [(id, "starts"), (id, "answers"), (id, "loads")]).concat();
    assert_eq!(log, [wanted, vec![(1, "answers"), (2, "answers")]].concat());
    assert!(builds.iter().all(|built| lanes.has_loaded(built)));
    assert_eq!(lane_of(&mut lanes, &builds[1]), (Some(2), TOOK));
    assert_eq!(lane_of(&mut lanes, &builds[0]), (Some(1), TOOK));
    // What was measured once, and what was never loaded ahead, goes to the first lane.
    assert!(!lanes.has_loaded(&builds[1]));
    assert_eq!(lane_of(&mut lanes, &builds[1]), (Some(1), Duration::ZERO));
    assert_eq!(lane_of(&mut lanes, &BuiltKernels::default()), (Some(1), Duration::ZERO));
}

#[test]
fn a_worker_that_ends_while_it_loads_leaves_its_configuration_to_another_one() {
    let (processes, builds) = (Arc::new(Scripted { ends: Some(2), ..Scripted::default() }), builds());
    let mut lanes = loaded(&processes, &builds);
    assert!(lanes.has_loaded(&builds[0]) && !lanes.has_loaded(&builds[1]));
    assert_eq!(lane_of(&mut lanes, &builds[1]), (Some(1), Duration::ZERO));
    assert!(lanes.stations[1].worker.is_none());
}

#[test]
fn a_run_does_without_the_lanes_whose_workers_the_system_refuses() {
    let (processes, builds) = (Arc::new(Scripted { refused: Some(2), ..Scripted::default() }), builds());
    let mut lanes = loaded(&processes, &builds);
    assert_eq!((lanes.count(), lanes.most()), (1, 1));
    assert!(!lanes.has_loaded(&builds[1]));
    assert_eq!(lane_of(&mut lanes, &builds[0]), (Some(1), TOOK));
}

#[test]
fn lanes_share_the_changes_that_drivers_make() {
    let builds = builds();
    let lanes = loaded(&Arc::default(), &builds);
    *lanes.stations[0].usual_changes.lock().unwrap() = Some(vec!["Threads: +2".to_owned()]);
    assert!(lanes.stations[1].usual_changes.lock().unwrap().is_some());
}

#[test]
fn there_are_as_many_lanes_as_processors_and_memory_allow() {
    assert_eq!([1, 2, 64].map(|jobs| lanes(jobs, 1 << 20)), [1, 2, MOST]);
    assert_eq!([0, MOST_BYTES / 2, MOST_BYTES, MOST_BYTES + 1].map(|bytes| lanes(8, bytes)), [MOST, 3, 2, 1]);
}
