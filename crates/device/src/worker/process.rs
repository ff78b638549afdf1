//! The tuner's handle on a worker process.

use crate::worker::envelope::{Assembly, Envelope};
use crate::worker::protocol::{Message, Request, Setup};
use crate::worker::speaker::{Speaker, forged};
use crate::worker::zygote::MUTE;
use nix::libc::SIGKILL;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;
use tunesmith_backend::host::{self, POLL, Packet, Process, Processes, Received, WorkerCommand, was_not_entered};
use tunesmith_core::{Clock, Interrupt};
use tunesmith_kernel::DeviceError;

/// The time in which a worker must notice that its job's process has ended, and in which it ends
/// everything that this process left behind.
const CLEANING: Duration = Duration::from_secs(10);

/// The fault of a tuner that cannot receive the connection of a job's process.
const NO_DESCRIPTOR: &str =
    "the tuner has no descriptor left for a configuration's process; raise `ulimit -n`, and resume the run";

/// A running worker with filled buffers.
pub(crate) struct Worker {
    process: Box<dyn Process>,
    processes: Arc<dyn Processes>,
    clock: Arc<dyn Clock>,
    /// The process that sends the worker's messages. `None` until the first message, if a program
    /// runs the worker.
    worker: Option<u32>,
    /// The process that the worker forked for the present job.
    job: Option<u32>,
    /// The envelope of the present job. Messages in any other are dropped.
    envelope: Envelope,
    /// The message that arrives from the worker.
    message: Assembly,
    /// The message that arrives from the job's process. A half of one must not spoil the worker's.
    job_message: Assembly,
    /// The number of packets that were dropped during the present job.
    dropped: usize,
    /// The worker as it speaks about jobs. `None` while it has no session for them.
    speaker: Option<Speaker>,
    /// True if the present request is a job, in which the user's code runs.
    runs: bool,
    /// True if the job's process has sent a message.
    job_spoke: bool,
    /// The status of the present job's process, once it has ended.
    job_status: Option<ExitStatus>,
    is_over: bool,
    /// True if a job was sent already.
    used: bool,
    /// True if a job was sent before the present one.
    was_used: bool,
    /// True if the present job runs in a process of its own.
    is_apart: bool,
    /// The changes that the present job left in the worker's process.
    changes: Vec<String>,
    /// The worker's own memory in bytes after its first job.
    first_memory: Option<u64>,
}

/// The growth in bytes of a worker's own memory after which it is replaced. PoCL keeps some hundred
/// KiB of every program that it compiles.
const GROWTH: u64 = 128 << 20;

/// The result of waiting for a worker.
#[derive(Debug)]
pub(crate) enum Waited {
    /// The worker sent a message.
    Message(Message),
    /// The worker ended, or the process that it forked for the job. The text describes the end.
    Ended(String),
    /// The job sent what no job sends, and was ended. The text names the message.
    Forged(String),
    /// The worker sent nothing in time.
    TimedOut,
    /// The run was interrupted.
    Interrupted,
}

impl Worker {
    /// Starts a worker and lets it fill its buffers, for at most `limit`. Returns `None` if
    /// interrupted.
    pub(crate) fn start(
        processes: &Arc<dyn Processes>,
        command: &WorkerCommand,
        setup: Setup,
        limit: Duration,
        clock: Arc<dyn Clock>,
        interrupt: &Interrupt,
    ) -> Result<Option<Self>, DeviceError> {
        let mut worker = Self::spawn(processes, command, clock)?;
        worker.speaker = Some(Speaker::worker(&setup.session));
        // If the request cannot be written, the worker has ended. Waiting reports its end.
        let _ = worker.send(&Request::Prepare(setup));
        match worker.wait(limit, interrupt) {
            Waited::Message(Message::Ready) => Ok(Some(worker)),
            Waited::Message(Message::Unusable(reason)) => Err(unusable(reason)),
            Waited::Message(other) => Err(unusable(format!("speaks another protocol: {other:?}"))),
            Waited::Ended(how) | Waited::Forged(how) => Err(unusable(format!(
                "ended before its first job; does the program call `worker::enter_if_worker()` in the first line of \
                 `main`? {how}"
            ))),
            Waited::TimedOut => Err(unusable(format!("did not get ready within {} s", limit.as_secs()))),
            Waited::Interrupted => Ok(None),
        }
    }

    /// Starts a worker without buffers.
    pub(crate) fn spawn(
        processes: &Arc<dyn Processes>,
        command: &WorkerCommand,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, DeviceError> {
        if was_not_entered() {
            return Err(unusable("was not entered: call `worker::enter_if_worker()` in the first line of `main`"));
        }
        let process = processes.start(command).map_err(|error| unusable(format!("cannot be started: {error}")))?;
        let worker = command.is_direct().then(|| process.id());
        let mut started = Self {
            process,
            processes: Arc::clone(processes),
            clock,
            worker,
            job: None,
            envelope: Envelope::default(),
            message: Assembly::default(),
            job_message: Assembly::default(),
            dropped: 0,
            speaker: None,
            runs: false,
            job_spoke: false,
            job_status: None,
            is_over: false,
            used: false,
            was_used: false,
            is_apart: false,
            changes: Vec::new(),
            first_memory: None,
        };
        if let Some(confinement) = command.confinement() {
            // If the request cannot be written, the worker has ended. The next one will find out.
            let _ = started.send(&Request::Confine(confinement.clone()));
        }
        Ok(started)
    }

    /// Begins a job with a request. An error means that the worker has ended; [`wait`](Self::wait)
    /// describes the end.
    pub(crate) fn send(&mut self, request: &Request) -> std::io::Result<()> {
        (self.was_used, self.is_apart) = (self.used, false);
        self.used |= matches!(request, Request::Run(_) | Request::Compile(_));
        (self.runs, self.job_spoke) = (matches!(request, Request::Run(_)), false);
        if self.job.is_some() {
            // A kernel that forged the end of its job may run on, and hold the next one.
            self.process.end_job();
        }
        self.process.forget_job();
        self.changes.clear();
        (self.job, self.job_status) = (None, None);
        (self.message, self.job_message, self.dropped) = (Assembly::default(), Assembly::default(), 0);
        self.envelope = Envelope { job: self.envelope.job + 1, nonce: self.processes.nonce() };
        self.forget_printed();
        self.answer(request)
    }

    /// Sends a further request of the present job.
    pub(crate) fn answer(&mut self, request: &Request) -> std::io::Result<()> {
        let packets = self.envelope.packets(&serde_json::to_vec(request)?);
        packets.iter().try_for_each(|packet| self.process.send(packet))
    }

    /// Waits for the next message for at most `limit`. Afterwards the worker is
    /// [usable](Self::is_usable) if it sent a message, or if its job ran in a process of its own.
    pub(crate) fn wait(&mut self, limit: Duration, interrupt: &Interrupt) -> Waited {
        let deadline = self.clock.now() + limit;
        loop {
            let left = deadline.saturating_sub(self.clock.now());
            match self.process.receive(left.min(POLL)) {
                Received::Packet(packet) => match self.open(&packet) {
                    Some(Ok(message)) => return Waited::Message(message),
                    Some(Err(end)) => return end,
                    None => {}
                },
                Received::JobClosed => return self.job_closed(),
                Received::Closed => return self.ended(),
                Received::Nothing => {}
            }
            if interrupt.is_raised() {
                self.stop();
                return Waited::Interrupted;
            }
            if left.is_zero() {
                self.stop();
                return Waited::TimedOut;
            }
        }
    }

    /// Returns the message whose last packet this is, or the end that it reports. Drops packets
    /// that are not about the present job, or not from the process that runs it. Ends a job that
    /// sends what no job says.
    fn open(&mut self, packet: &Packet) -> Option<Result<Message, Waited>> {
        let is_own = [self.worker, self.job].into_iter().flatten().any(|known| known == packet.sender);
        let envelope = Envelope::of(&packet.bytes);
        if envelope != Some(self.envelope) || !(is_own || self.worker.is_none()) {
            // The worker's last word on an earlier job is only late.
            let is_late = is_own && envelope.is_some_and(|envelope| envelope.job < self.envelope.job);
            self.dropped += usize::from(!is_late);
            return None;
        }
        let worker = *self.worker.get_or_insert(packet.sender);
        let from_worker = packet.sender == worker;
        let assembly = if from_worker { &mut self.message } else { &mut self.job_message };
        let message = assembly.add(&packet.bytes)?;
        let message = match self.read(&message, from_worker) {
            Ok(message) => message,
            Err(end) => {
                self.stop();
                return Some(Err(end));
            }
        };
        match message {
            Message::Forked(id) if from_worker => {
                if !self.process.adopt() {
                    self.end();
                    return Some(Ok(Message::Machine(NO_DESCRIPTOR.to_owned())));
                }
                self.job = Some(id);
                self.is_apart = true;
                None
            }
            Message::JobEnded(status) if from_worker => {
                (self.job, self.job_status) = (None, Some(ExitStatus::from_raw(status)));
                self.process.forget_job();
                Some(Err(self.describe(ExitStatus::from_raw(status))))
            }
            Message::Changed(changes) => {
                self.changes = changes;
                None
            }
            Message::Forked(_) | Message::JobEnded(_) => None,
            message => Some(Ok(message)),
        }
    }

    /// Reads a message. About a job, each process may say only what its part in the job is.
    fn read(&mut self, message: &[u8], from_worker: bool) -> Result<Message, Waited> {
        let other = || Waited::Ended("its worker speaks another protocol".to_owned());
        let speaker = match self.speaker {
            _ if !self.runs => return serde_json::from_slice(message).map_err(|_| other()),
            worker if from_worker => worker,
            _ => Some(Speaker::Job { is_first: !std::mem::replace(&mut self.job_spoke, true) }),
        };
        let Ok(message) = serde_json::from_slice::<Message>(message) else {
            return Err(Waited::Forged(forged("what is no message")));
        };
        if speaker.is_some_and(|speaker| speaker.may_say(&message)) {
            Ok(message)
        } else {
            Err(Waited::Forged(forged(&format!("`{}`", message.kind()))))
        }
    }

    /// Returns the end of a job's process that closed its connection. The worker reports its
    /// status. A process that closed its connection and runs on is ended.
    fn job_closed(&mut self) -> Waited {
        let start = self.clock.now();
        let mut is_ended = false;
        while self.clock.now() < start + CLEANING {
            match self.process.receive(POLL) {
                Received::Packet(packet) => {
                    if let Some(Err(end)) = self.open(&packet) {
                        let by_force = self.job_status.and_then(|status| status.signal()) == Some(SIGKILL);
                        return if is_ended && by_force { self.closed() } else { end };
                    }
                }
                Received::Closed => return self.ended(),
                Received::JobClosed | Received::Nothing => {}
            }
            if !is_ended && self.clock.now() >= start + POLL && !self.process.is_job_ending() {
                is_ended = true;
                self.process.end_job();
            }
        }
        self.end();
        self.closed()
    }

    /// Describes a job's process that closed its connection.
    fn closed(&mut self) -> Waited {
        Waited::Ended(self.remark("the kernel closed the descriptors of its process".to_owned()))
    }

    /// Describes the end of a worker that closed its connection.
    fn ended(&mut self) -> Waited {
        // This process runs no job. If it forked one, an earlier job may still have ended it.
        self.is_apart = false;
        // The connection closes when the process ends, and the exit status is set before that.
        // Ending the process now changes nothing, unless a kernel closed the connection and runs
        // on.
        self.is_over = true;
        match self.process.end(Duration::ZERO) {
            Some(status) => self.describe(status),
            None => Waited::Ended("the worker is gone".to_owned()),
        }
    }

    fn describe(&mut self, status: ExitStatus) -> Waited {
        if self.is_apart && status.code() == Some(MUTE) {
            return self.closed();
        }
        let printed = self.take_printed();
        let how = host::describe(status, &printed);
        Waited::Ended(self.remark(how))
    }

    /// Adds the number of dropped packets to the description of an end.
    fn remark(&self, how: String) -> String {
        if self.dropped == 0 {
            return how;
        }
        let (end, printed) = how.split_once('\n').map_or((how.as_str(), None), |(end, rest)| (end, Some(rest)));
        let end = format!("{end}; it wrote into the worker's connection");
        printed.map_or(end.clone(), |printed| format!("{end}\n{printed}"))
    }

    /// Ends the present job: its process, if the worker forked one, or else the worker.
    pub(crate) fn stop(&mut self) {
        // The worker reports the end of a job's process, and of what it left.
        if self.job.is_some() {
            self.process.end_job();
        } else {
            self.end();
        }
    }

    /// Waits until nothing of the present job is left, if it has a process of its own. Ends a process
    /// that does not end.
    pub(crate) fn finish_job(&mut self) {
        if self.job.is_some() {
            self.job_closed();
        }
    }

    fn end(&mut self) {
        self.is_over = true;
        // A worker that forks ends everything that its jobs left behind, and then itself.
        let patience = if self.speaker == Some(Speaker::Forker) { CLEANING } else { Duration::ZERO };
        self.process.end(patience);
    }

    /// Returns true if the worker can run another job.
    pub(crate) fn is_usable(&self) -> bool {
        !self.is_over
    }

    /// Returns true if the user's code of an earlier job ran in the process that runs, or ran, the
    /// present job. The end of this process then proves nothing about the present job.
    pub(crate) fn is_tainted(&self) -> bool {
        self.was_used && !self.is_apart
    }

    /// Returns the changes that the present job left in the worker's process. Returns `None` if it
    /// left none, or if its process has ended.
    pub(crate) fn changes(&self) -> Option<&[String]> {
        Some(self.changes.as_slice()).filter(|changes| !changes.is_empty())
    }

    /// Returns true if the worker's own memory has grown since its first job, by more than the
    /// buffers of `bytes` bytes explain. Drivers keep something of every program. To be called after
    /// every job.
    pub(crate) fn is_worn(&mut self, bytes: u64) -> bool {
        let Some(memory) = self.process.memory() else { return false };
        let first = *self.first_memory.get_or_insert(memory);
        memory > first.saturating_add(GROWTH).saturating_add(bytes)
    }

    /// Returns true if the present job is the worker's first one.
    pub(crate) fn is_new(&self) -> bool {
        !self.was_used
    }

    /// Returns the output printed since the last call.
    fn take_printed(&mut self) -> String {
        String::from_utf8_lossy(&self.process.take_printed()).into_owned()
    }

    /// Lets the worker and its launcher end by themselves. Ends them by force after `limit`.
    pub(crate) fn finish(mut self, limit: Duration) {
        self.is_over = true;
        self.process.end(limit);
    }

    /// Returns the process id.
    pub(crate) fn id(&self) -> u32 {
        self.process.id()
    }

    /// Discards the output printed so far, so that no later kernel is blamed for it.
    fn forget_printed(&mut self) {
        self.process.take_printed();
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        if !self.is_over {
            self.end();
        }
    }
}

fn unusable(problem: impl Into<String>) -> DeviceError {
    DeviceError::Worker { problem: problem.into() }
}
