//! The worker: connects to a coordinator and measures what it asks for.

use crate::bundle::{check, keep};
use crate::secure::{Listening, Speaking, join};
use crate::wire::{
    Answer, FROM_COORDINATOR, FileEntry, FoundTarget, FromCoordinator, FromWorker, PIECE, PROTOCOL, Task, hear,
    read_frame, say,
};
use crate::{FleetError, Token};
use serde_json::Value as Json;
use std::collections::BTreeMap;
use std::net::TcpStream;
use std::path::Path;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;
use tempfile::TempDir;
use tunesmith::{Error, Extras, Machine, Problem, Runner, device_for};
use tunesmith_core::{
    Completion, Confirmed, Depth, Evaluation, Evaluator, Failure, FailureKind, Interrupt, Measurement, Request, Spent,
    SystemClock,
};
use tunesmith_device::Device;
use tunesmith_space::{ConfigId, Space, Value};
use tunesmith_store::{Entry, Journal};

/// Time between looks at the interrupt.
const LOOK: Duration = Duration::from_millis(50);

/// The choices for a worker.
#[derive(Clone, Debug)]
pub struct WorkerOptions {
    /// The coordinator, as `HOST:PORT`.
    pub address: String,
    /// The secret of the run.
    pub token: Token,
    /// The processors to run on. Empty for all.
    pub cpus: Vec<usize>,
    /// A pause before each answer, to try a fleet out without a device that takes time.
    pub pause: Duration,
}

/// The work of a worker that has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Served {
    /// Number of leases answered.
    pub answers: u64,
    /// The reason why it ended.
    pub ending: ServedUntil,
}

/// The reason why a worker ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServedUntil {
    /// The run has ended.
    Over,
    /// The coordinator set the worker aside, for this reason.
    SetAside(String),
    /// The coordinator is gone.
    Gone(String),
    /// Somebody ended the worker.
    Interrupted,
}

/// A worker that has proved the token, and the folder of its own.
struct Joined {
    listening: Listening,
    speaking: Speaking,
    /// The problem's files. Dropping this removes them.
    folder: TempDir,
    problem: String,
    sizes: Vec<(String, Value)>,
    device: Option<String>,
}

/// Serves the coordinator until it ends the run or vanishes, or until `interrupt` is raised. Raises
/// `interrupt` itself when the coordinator is gone, so that a measurement ends at once. `tell` gets a
/// sentence about each stage.
///
/// # Errors
/// The coordinator cannot be reached, does not know the token or refuses this worker; or the device
/// fails.
pub fn work(
    options: &WorkerOptions,
    machine: &Machine,
    interrupt: &Interrupt,
    tell: &mut dyn FnMut(&str),
) -> Result<Served, FleetError> {
    pin(&options.cpus)?;
    let connect = |source| FleetError::Connect { address: options.address.clone(), source };
    let socket = TcpStream::connect(&options.address).map_err(connect)?;
    socket.set_nodelay(true)?;
    let (listening, mut speaking) = join(socket, &options.token, &SystemClock::new())?;
    tell(&format!("connected to {}", options.address));
    let served = serve(options, machine, interrupt, tell, (listening, speaking.clone()));
    if let Err(error) = &served {
        // The coordinator names this worker and the reason. It may be gone already.
        let _ = say(&mut speaking, &FromWorker::Unable { reason: error.to_string() });
    }
    speaking.hang_up();
    served
}

fn serve(
    options: &WorkerOptions,
    machine: &Machine,
    interrupt: &Interrupt,
    tell: &mut dyn FnMut(&str),
    (listening, speaking): (Listening, Speaking),
) -> Result<Served, FleetError> {
    let Joined { listening, mut speaking, folder, problem, sizes, device } = receive(listening, speaking)?;
    let problem = Problem::load(&folder.path().join(problem), &sizes).map_err(|error| failed(error.into()))?;
    let machine = with_device(machine, device)?;
    let device = device_for(&problem, &machine).map_err(failed)?;
    let limits = device.limits(&machine);
    let target = if let Device::Kernels(target) = &device { FoundTarget::of(target) } else { None };
    let named = limits.iter().map(|(name, value)| (name.clone(), Journal::value(value))).collect();
    say(&mut speaking, &FromWorker::Offer { target, limits: named })?;
    let (messages, gone) = listen(listening, interrupt);
    let mut desk = Desk { messages, gone, interrupt, options };
    let Some(FromCoordinator::Begin { counters, energy }) = desk.next()? else { return Ok(desk.ended(0)) };
    let space = problem.space(&limits).map_err(|error| failed(error.into()))?.space;
    let (extras, clock) = (Extras { counters, energy }, Arc::new(SystemClock::new()));
    let mut runner = Runner::open(&problem, &space, &device, &machine, extras, clock).map_err(failed)?;
    if !runner.prepare(interrupt).map_err(failed)? {
        return Ok(desk.ended(0));
    }
    let (identity, digest) = (runner.identity(), problem.digest());
    let name = identity.get("device").and_then(Json::as_str).unwrap_or_default().to_string();
    tell(&format!("ready: {} on {name}", problem.name));
    say(&mut speaking, &FromWorker::Ready { identity, problem: digest, space: space.digest().to_string() })?;
    desk.answer_all(runner.evaluator(), &space, &mut speaking)
}

fn failed(error: Error) -> FleetError {
    FleetError::Device(Box::new(error))
}

/// Returns the machine with the device that its user names, or else the coordinator's.
fn with_device(machine: &Machine, device: Option<String>) -> Result<Machine, FleetError> {
    let device = match (&machine.device, device) {
        (Some(own), _) => Some(own.clone()),
        (None, Some(named)) => Some(named.parse().map_err(|error: tunesmith::ChoiceError| failed(error.into()))?),
        (None, None) => None,
    };
    Ok(Machine { device, ..machine.clone() })
}

/// Runs this process on `cpus` alone, and with it all that it starts.
fn pin(cpus: &[usize]) -> Result<(), FleetError> {
    if cpus.is_empty() {
        return Ok(());
    }
    let wrong = |error: nix::Error| FleetError::Spec {
        text: format!("{cpus:?}"),
        reason: format!("these processors cannot be used: {error}"),
    };
    let mut set = nix::sched::CpuSet::new();
    cpus.iter().try_for_each(|cpu| set.set(*cpu)).map_err(wrong)?;
    nix::sched::sched_setaffinity(nix::unistd::Pid::from_raw(0), &set).map_err(wrong)
}

/// Says who this worker is, and receives the problem's files into a folder of its own.
fn receive(mut listening: Listening, mut speaking: Speaking) -> Result<Joined, FleetError> {
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default().trim().to_string();
    let version = env!("CARGO_PKG_VERSION").to_string();
    let process = std::process::id();
    say(&mut speaking, &FromWorker::Join { protocol: PROTOCOL, version, host, process })?;
    let (file, sizes, device, files) = match hear(&mut listening, FROM_COORDINATOR)? {
        FromCoordinator::Problem { file, sizes, device, files } => (file, sizes, device, files),
        FromCoordinator::End { reason } => return Err(FleetError::Refused(reason.unwrap_or_default())),
        _ => return Err(unexpected()),
    };
    check(&files)?;
    if !files.iter().any(|entry| entry.path == file) {
        return Err(FleetError::Protocol("the problem is not among its files".to_string()));
    }
    let folder = tempfile::Builder::new().prefix("tunesmith-worker-").tempdir()?;
    fetch(&mut listening, &mut speaking, &files, folder.path())?;
    let sizes = sizes.iter().filter_map(|(name, json)| Some((name.clone(), Journal::value_of(json)?))).collect();
    Ok(Joined { listening, speaking, folder, problem: file, sizes, device })
}

/// Fetches each content once, and writes it to every path that has it.
fn fetch(
    listening: &mut Listening,
    speaking: &mut Speaking,
    files: &[FileEntry],
    folder: &Path,
) -> Result<(), FleetError> {
    let wanted: BTreeMap<&str, u64> = files.iter().map(|file| (file.digest.as_str(), file.bytes)).collect();
    say(speaking, &FromWorker::Want { digests: wanted.keys().map(|digest| (*digest).to_string()).collect() })?;
    for _ in 0..wanted.len() {
        let (digest, bytes) = match hear(listening, FROM_COORDINATOR)? {
            FromCoordinator::Content { digest, bytes } => (digest, bytes),
            FromCoordinator::End { reason } => return Err(FleetError::Refused(reason.unwrap_or_default())),
            _ => return Err(unexpected()),
        };
        if wanted.get(digest.as_str()) != Some(&bytes) {
            return Err(FleetError::Protocol("a file came that was not asked for".to_string()));
        }
        let mut content = Vec::new();
        while (content.len() as u64) < bytes {
            let piece = read_frame(listening, PIECE.min((bytes - content.len() as u64) as usize))?;
            if piece.is_empty() {
                return Err(unexpected());
            }
            content.extend(piece);
        }
        files.iter().filter(|file| file.digest == digest).try_for_each(|file| keep(folder, file, &content))?;
    }
    Ok(())
}

fn unexpected() -> FleetError {
    FleetError::Protocol("a message came out of turn".to_string())
}

/// The reason why the coordinator is gone.
type Gone = Arc<Mutex<Option<ServedUntil>>>;

/// Starts the thread that listens to the coordinator. It raises `interrupt` when the coordinator ends
/// the run or vanishes.
fn listen(mut listening: Listening, interrupt: &Interrupt) -> (Receiver<FromCoordinator>, Gone) {
    let (heard, messages) = mpsc::channel();
    let gone = Gone::default();
    let (interrupt, end) = (interrupt.clone(), Arc::clone(&gone));
    thread::spawn(move || {
        let reason = loop {
            match hear(&mut listening, FROM_COORDINATOR) {
                Ok(FromCoordinator::End { reason: None }) => break ServedUntil::Over,
                Ok(FromCoordinator::End { reason: Some(reason) }) => break ServedUntil::SetAside(reason),
                Ok(message) => {
                    let _ = heard.send(message);
                }
                Err(error) => break ServedUntil::Gone(error.to_string()),
            }
        };
        *end.lock().unwrap_or_else(PoisonError::into_inner) = Some(reason);
        interrupt.raise();
    });
    (messages, gone)
}

/// A lease that this worker holds.
struct Held {
    job: u64,
    attempt: u32,
    task: Task,
    config: ConfigId,
    bar_ms: Option<f64>,
}

/// The messages that come in, and the wish to stop.
struct Desk<'a> {
    messages: Receiver<FromCoordinator>,
    gone: Gone,
    interrupt: &'a Interrupt,
    options: &'a WorkerOptions,
}

impl Desk<'_> {
    /// Waits for a message. Returns `None` if the worker is to end.
    fn next(&mut self) -> Result<Option<FromCoordinator>, FleetError> {
        while !self.interrupt.is_raised() {
            match self.messages.recv_timeout(LOOK) {
                Ok(message) => return Ok(Some(message)),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        Ok(None)
    }

    fn ended(&self, answers: u64) -> Served {
        let gone = self.gone.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Served { answers, ending: gone.unwrap_or(ServedUntil::Interrupted) }
    }

    /// Answers leases, the oldest first, until the worker is to end.
    fn answer_all(
        &mut self,
        evaluator: &mut dyn Evaluator,
        space: &Space,
        speaking: &mut Speaking,
    ) -> Result<Served, FleetError> {
        let (mut held, mut answers) = (std::collections::VecDeque::new(), 0);
        loop {
            // Takes all that waits, so that later configurations compile while this one is measured.
            while let Ok(message) = self.messages.try_recv() {
                held.push_back(begin(message, space, evaluator)?);
            }
            let lease = match held.pop_front() {
                Some(lease) => lease,
                None => match self.next()? {
                    Some(message) => begin(message, space, evaluator)?,
                    None => return Ok(self.ended(answers)),
                },
            };
            let Some(answer) = self.measure(&lease, evaluator, space)? else { return Ok(self.ended(answers)) };
            let Held { job, attempt, .. } = lease;
            say(speaking, &FromWorker::Answer { job, attempt, answer: Box::new(answer) })?;
            answers += 1;
        }
    }

    /// Does the work of a lease. Returns `None` if the worker is to end.
    fn measure(
        &self,
        lease: &Held,
        evaluator: &mut dyn Evaluator,
        space: &Space,
    ) -> Result<Option<Answer>, FleetError> {
        self.pause();
        let device = |error: tunesmith_core::Error| failed(error.into());
        let request = match lease.task {
            Task::Evaluate { profiled: true, .. } => Request::profiled(lease.config),
            _ => Request::timed(lease.config),
        };
        let completion = match &lease.task {
            Task::Evaluate { .. } => {
                evaluator.race(lease.bar_ms);
                evaluator.next(self.interrupt).map_err(device)?
            }
            Task::Resample { samples, .. } => {
                evaluator.resample(lease.config, *samples, self.interrupt).map_err(device)?
            }
            Task::Confirm { .. } => {
                let confirmed = evaluator.confirm(lease.config, self.interrupt).map_err(device)?;
                let Some(Confirmed { failure, launches, notes, spent }) = confirmed else { return Ok(None) };
                let completion = Completion { failure, spent, ..Completion::default() };
                return Ok(Some(Answer { launches, notes, ..answer(space, request, completion) }));
            }
        };
        Ok(completion.map(|completion| answer(space, request, completion)))
    }

    fn pause(&self) {
        let mut left = self.options.pause;
        while !left.is_zero() && !self.interrupt.is_raised() {
            let step = left.min(LOOK);
            thread::sleep(step);
            left -= step;
        }
    }
}

/// Takes a lease, and gives an evaluation to the device at once.
fn begin(message: FromCoordinator, space: &Space, evaluator: &mut dyn Evaluator) -> Result<Held, FleetError> {
    let FromCoordinator::Lease { job, attempt, task, bar_ms } = message else { return Err(unexpected()) };
    let config = task.config().parse().ok().and_then(|rank| space.id(rank));
    let config = config.ok_or_else(|| FleetError::Protocol("a lease names no configuration".to_string()))?;
    if let Task::Evaluate { profiled, .. } = &task {
        let depth = if *profiled { Depth::Profiled } else { Depth::Timed };
        evaluator.submit(Request { config, depth }).map_err(|error| failed(error.into()))?;
    }
    Ok(Held { job, attempt, task, config, bar_ms })
}

pub(crate) fn answer(space: &Space, request: Request, completion: Completion) -> Answer {
    let Completion { failure, measurement, spent, unprofiled, .. } = completion;
    let Spent { compile, run, verify } = spent;
    let (failure, measurement) = sendable(failure, measurement);
    let evaluation = Evaluation { request, failure, measurement, clock: Duration::ZERO, proposed: None };
    let spent = [compile, run, verify].map(|time| time.as_secs_f64());
    Answer { entry: Entry::new(space, &evaluation), spent, unprofiled, launches: 0, notes: Vec::new() }
}

/// Replaces a time that JSON cannot carry by the failure that it means.
fn sendable(failure: Option<Failure>, measurement: Measurement) -> (Option<Failure>, Measurement) {
    let finite = |values: &[f64]| values.iter().all(|value| value.is_finite());
    let lists = measurement.values.values().chain(measurement.parts_ms.values());
    if finite(&measurement.times_ms) && lists.clone().all(|list| finite(list)) {
        return (failure, measurement);
    }
    let wrong = measurement.times_ms.iter().find(|time| !time.is_finite()).copied();
    let reason = wrong.map_or("a value is not finite".to_string(), |time| format!("a sample took {time} ms"));
    (Some(failure.unwrap_or_else(|| Failure::new(FailureKind::Runtime, reason))), Measurement::default())
}
