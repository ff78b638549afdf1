//! The tuner's handle on a worker process.

use crate::error::DeviceError;
use crate::host::{self, POLL, WorkerCommand, was_not_entered};
use crate::worker::protocol::{Message, Request, Setup};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tunesmith_core::{Clock, Interrupt};

/// The number of bytes kept of a kernel's printed output: enough for a message of a sanitizer or an
/// assertion.
const KEPT: usize = 4 << 10;

/// A running worker with filled buffers.
pub(crate) struct Worker {
    child: Child,
    /// The worker's input. Closing it lets the worker end by itself.
    to: Option<ChildStdin>,
    from: Receiver<String>,
    printed: Arc<Mutex<Vec<u8>>>,
    /// Disconnects when all printed output has been read.
    printed_all: Receiver<()>,
    clock: Arc<dyn Clock>,
    /// The exit status, once the worker was waited for. From then on, its process id may belong to
    /// another process.
    status: Option<ExitStatus>,
    /// True if a job was sent already.
    pub(crate) used: bool,
}

/// The result of waiting for a worker.
#[derive(Debug)]
pub(crate) enum Waited {
    /// The worker sent a message.
    Message(Message),
    /// The worker ended. The text describes the end.
    Ended(String),
    /// The worker sent nothing in time.
    TimedOut,
    /// The run was interrupted.
    Interrupted,
}

impl Worker {
    /// Starts a worker and lets it fill its buffers, for at most `limit`. Returns `None` if
    /// interrupted.
    pub(crate) fn start(
        command: &WorkerCommand,
        setup: Setup,
        limit: Duration,
        clock: Arc<dyn Clock>,
        interrupt: &Interrupt,
    ) -> Result<Option<Self>, DeviceError> {
        let mut worker = Self::spawn(command, clock)?;
        // If the request cannot be written, the worker has ended. Waiting reports its end.
        let _ = worker.send(&Request::Prepare(setup));
        match worker.wait(limit, interrupt) {
            Waited::Message(Message::Ready) => Ok(Some(worker)),
            Waited::Message(Message::Unusable(reason)) => Err(unusable(reason)),
            Waited::Message(other) => Err(unusable(format!("speaks another protocol: {other:?}"))),
            Waited::Ended(how) => Err(unusable(format!(
                "ended before its first job; does the program call `worker::enter_if_worker()` in the first line of \
                 `main`? {how}"
            ))),
            Waited::TimedOut => Err(unusable(format!("did not get ready within {} s", limit.as_secs()))),
            Waited::Interrupted => Ok(None),
        }
    }

    /// Starts a worker without buffers.
    pub(crate) fn spawn(command: &WorkerCommand, clock: Arc<dyn Clock>) -> Result<Self, DeviceError> {
        if was_not_entered() {
            return Err(unusable("was not entered: call `worker::enter_if_worker()` in the first line of `main`"));
        }
        Self::start_process(command, clock).map_err(|error| unusable(format!("cannot be started: {error}")))
    }

    fn start_process(command: &WorkerCommand, clock: Arc<dyn Clock>) -> std::io::Result<Self> {
        let mut command = command.command()?;
        // A process group of its own: Ctrl-C on the terminal reaches only the tuner, and the tuner
        // can end everything that a kernel started together with the worker.
        command.process_group(0).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn()?;
        let missing = || std::io::Error::other("a pipe is missing");
        let to = child.stdin.take().ok_or_else(missing)?;
        let stdout = child.stdout.take().ok_or_else(missing)?;
        let stderr = child.stderr.take().ok_or_else(missing)?;
        let (said, from) = channel();
        let (all_read, printed_all) = channel();
        let printed = Arc::new(Mutex::new(Vec::new()));
        std::thread::spawn(move || read_messages(stdout, &said));
        let tail = Arc::clone(&printed);
        std::thread::spawn(move || read_printed(stderr, &tail, all_read));
        Ok(Self { child, to: Some(to), from, printed, printed_all, clock, status: None, used: false })
    }

    /// Sends a request. An error means that the worker has ended; [`wait`](Self::wait) describes
    /// the end.
    pub(crate) fn send(&mut self, request: &Request) -> std::io::Result<()> {
        let mut line = serde_json::to_vec(request)?;
        line.push(b'\n');
        self.used |= matches!(request, Request::Run(_) | Request::Compile(_));
        self.to.as_mut().map_or(Ok(()), |to| to.write_all(&line))
    }

    /// Waits for the next message for at most `limit`. Afterwards the worker is alive only if it
    /// sent a message.
    pub(crate) fn wait(&mut self, limit: Duration, interrupt: &Interrupt) -> Waited {
        let deadline = self.clock.now() + limit;
        loop {
            let left = deadline.saturating_sub(self.clock.now());
            match self.from.recv_timeout(left.min(POLL)) {
                Ok(line) => {
                    return match serde_json::from_str(&line) {
                        Ok(message) => Waited::Message(message),
                        Err(_) => self.ended(Some(&line)),
                    };
                }
                Err(RecvTimeoutError::Disconnected) => return self.ended(None),
                Err(RecvTimeoutError::Timeout) if interrupt.is_raised() => {
                    self.kill();
                    return Waited::Interrupted;
                }
                Err(RecvTimeoutError::Timeout) if left.is_zero() => {
                    self.kill();
                    return Waited::TimedOut;
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    /// Describes the end of a worker that closed its pipe or sent an invalid message.
    fn ended(&mut self, nonsense: Option<&str>) -> Waited {
        // The pipe closes when the process ends, and the exit status is set before that. Killing
        // the process now changes nothing, unless a kernel closed the pipe and runs on.
        let status = self.kill();
        let printed = self.take_printed();
        Waited::Ended(match (status, nonsense) {
            (_, Some(line)) => format!("the kernel wrote into the worker's pipe: {line}"),
            (Some(status), None) => host::describe(status, &printed),
            (None, None) => "the worker is gone".to_owned(),
        })
    }

    /// Ends the worker and everything it started, and waits for it.
    fn kill(&mut self) -> Option<ExitStatus> {
        if self.status.is_none() {
            if let Ok(group) = i32::try_from(self.child.id()) {
                // An error means that the group is empty.
                let _ = killpg(Pid::from_raw(group), Signal::SIGKILL);
            }
            self.status = self.child.wait().ok();
        }
        self.status
    }

    /// Returns the output printed since the last call.
    fn take_printed(&mut self) -> String {
        // The reader hangs up when it has read everything. A process that left the group may hold
        // the pipe open.
        let _ = self.printed_all.recv_timeout(POLL);
        let mut printed = self.printed.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&std::mem::take(&mut *printed)).into_owned()
    }

    /// Lets the worker and its launcher end by themselves. Ends them by force after `limit`.
    pub(crate) fn finish(mut self, limit: Duration) {
        self.to = None;
        let deadline = self.clock.now() + limit;
        while self.status.is_none() && self.clock.now() < deadline {
            // An error means that the process is gone.
            self.status = self.child.try_wait().unwrap_or_default();
            std::thread::sleep(if self.status.is_none() { POLL } else { Duration::ZERO });
        }
    }

    /// Returns the process id.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Discards the output printed so far, so that no later kernel is blamed for it.
    pub(crate) fn forget_printed(&mut self) {
        self.printed.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.kill();
    }
}

fn unusable(problem: impl Into<String>) -> DeviceError {
    DeviceError::Worker { problem: problem.into() }
}

fn read_messages(from: ChildStdout, said: &Sender<String>) {
    for line in BufReader::new(from).lines().map_while(Result::ok) {
        if said.send(line).is_err() {
            return;
        }
    }
}

/// Reads all printed output and keeps the end of it. Without the reading, a kernel that prints much
/// would block.
fn read_printed(mut from: ChildStderr, tail: &Mutex<Vec<u8>>, all_read: Sender<()>) {
    let mut piece = [0; 4096];
    while let Ok(length @ 1..) = from.read(&mut piece) {
        let mut tail = tail.lock().unwrap_or_else(PoisonError::into_inner);
        tail.extend(&piece[..length]);
        let surplus = tail.len().saturating_sub(KEPT);
        tail.drain(..surplus);
    }
    drop(all_read);
}
