//! The tuner's side. It starts a supervisor with a task, enforces the time limit, and receives the
//! command's end.

use crate::backends::command::output::{Output, OutputReader};
use crate::backends::command::supervisor::{CommandTask, News, ProcessReport};
use crate::error::DeviceError;
use crate::host::POLL;
use crate::host::{WorkerCommand, was_not_entered};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Child, ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;
use tunesmith_core::{Clock, Interrupt};

/// Starts commands, each with a supervisor of its own.
#[derive(Clone)]
pub(super) struct Launcher {
    worker: WorkerCommand,
    clock: Arc<dyn Clock>,
}

/// The destinations of a command's two outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Streams {
    /// Both outputs go to one log, in the order written.
    Together,
    /// The outputs stay apart: a result and remarks.
    Apart,
}

/// A command that was run.
#[derive(Debug)]
pub(super) struct Ran {
    pub(super) finish: Finish,
    /// The standard output. With [`Streams::Together`], both outputs.
    pub(super) stdout: Output,
    /// The standard error.
    pub(super) stderr: Output,
}

/// The end of a command.
#[derive(Debug)]
pub(super) enum Finish {
    /// The command ended by itself.
    Ended(ProcessReport),
    /// The command could not be started. The text gives the reason.
    NotStarted(String),
    /// The command ended its own supervisor.
    Torn(ExitStatus),
    /// The command was ended at its time limit.
    TimedOut,
    /// The command was ended because the run was interrupted.
    Cancelled,
}

/// A supervisor and its process group.
struct Group {
    child: Child,
    control: UnixStream,
    /// Received bytes that have not been parsed.
    heard: Vec<u8>,
}

impl Launcher {
    /// Creates a launcher that starts supervisors in the same way as `worker` starts workers.
    ///
    /// # Errors
    /// This program was itself started as a worker, but did not call `enter_if_worker`.
    pub(super) fn new(worker: WorkerCommand, clock: Arc<dyn Clock>) -> Result<Self, DeviceError> {
        if was_not_entered() {
            return Err(unusable("was not entered: call `worker::enter_if_worker()` in the first line of `main`"));
        }
        Ok(Self { worker, clock })
    }

    /// Runs a task to its end, to its `limit`, or until `interrupt` is raised. Afterwards its
    /// process group is empty.
    ///
    /// # Errors
    /// The supervisor cannot be started, or the program does not act as a supervisor.
    pub(super) fn run(
        &self,
        task: &CommandTask,
        streams: Streams,
        limit: Duration,
        interrupt: &Interrupt,
    ) -> Result<Ran, DeviceError> {
        let cannot = |error: io::Error| unusable(format!("cannot be started: {error}"));
        let (mut group, stdout, stderr) = self.start(streams).map_err(cannot)?;
        let mut line = serde_json::to_vec(task).map_err(|error| cannot(error.into()))?;
        line.push(b'\n');
        // If the task cannot be written, the supervisor has ended. Waiting reports its end.
        let _ = group.control.write_all(&line);
        let finish = self.wait(&mut group, limit, interrupt)?;
        drop(group);
        let rest = stderr.map(OutputReader::finish).unwrap_or_default();
        Ok(Ran { finish, stdout: stdout.finish(), stderr: rest })
    }

    fn start(&self, streams: Streams) -> io::Result<(Group, OutputReader, Option<OutputReader>)> {
        let (control, theirs) = UnixStream::pair()?;
        let (stdout, to_stdout) = OutputReader::start()?;
        let (stderr, to_stderr) = match streams {
            Streams::Together => (None, to_stdout.try_clone()?),
            Streams::Apart => OutputReader::start().map(|(reading, writer)| (Some(reading), writer))?,
        };
        // A process group of its own: Ctrl-C on the terminal reaches only the tuner, and the tuner
        // can end everything that the command started.
        let mut command = self.worker.supervisor()?;
        command.process_group(0).stdin(Stdio::from(OwnedFd::from(theirs))).stdout(to_stdout).stderr(to_stderr);
        let child = command.spawn()?;
        Ok((Group { child, control, heard: Vec::new() }, stdout, stderr))
    }

    fn wait(&self, group: &mut Group, limit: Duration, interrupt: &Interrupt) -> Result<Finish, DeviceError> {
        let mut starting = false;
        let deadline = self.clock.now() + limit;
        loop {
            let left = deadline.saturating_sub(self.clock.now());
            match group.hear(left.min(POLL)) {
                Ok(Heard::News(News::Starting)) => starting = true,
                Ok(Heard::News(News::NotStarted(reason))) => return Ok(Finish::NotStarted(reason)),
                Ok(Heard::News(News::Ended(report))) => return Ok(Finish::Ended(report)),
                Ok(Heard::Nothing) if interrupt.is_raised() => return Ok(Finish::Cancelled),
                Ok(Heard::Nothing) if left.is_zero() => return Ok(Finish::TimedOut),
                Ok(Heard::Nothing) => {}
                Ok(Heard::End) | Err(_) => return group.torn(starting),
            }
        }
    }
}

/// The result of listening for a moment.
enum Heard {
    News(News),
    Nothing,
    End,
}

impl Group {
    /// Listens for at most `patience`.
    fn hear(&mut self, patience: Duration) -> io::Result<Heard> {
        // A timeout of zero would disable the timeout.
        self.control.set_read_timeout(Some(patience.max(Duration::from_millis(1))))?;
        let mut piece = [0; 512];
        loop {
            if let Some(end) = self.heard.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.heard.drain(..=end).collect();
                return Ok(Heard::News(serde_json::from_slice(&line)?));
            }
            match self.control.read(&mut piece) {
                Ok(0) => return Ok(Heard::End),
                Ok(length) => self.heard.extend(&piece[..length]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                    return Ok(Heard::Nothing);
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Interprets the end of a supervisor that did not report the end of its task.
    fn torn(&mut self, starting: bool) -> Result<Finish, DeviceError> {
        let status = self.child.wait().map_err(|error| unusable(format!("cannot be waited for: {error}")))?;
        if starting {
            return Ok(Finish::Torn(status));
        }
        Err(unusable(format!(
            "ended before it started the command ({status}); does the program call `worker::enter_if_worker()` in the \
             first line of `main`?"
        )))
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if let Ok(group) = i32::try_from(self.child.id()) {
            // The supervisor was not waited for, or its group still has members. Its process id
            // therefore still names the group. An error means that the group is empty.
            let _ = killpg(Pid::from_raw(group), Signal::SIGKILL);
        }
        let _ = self.child.wait();
    }
}

fn unusable(problem: impl Into<String>) -> DeviceError {
    DeviceError::Worker { problem: problem.into() }
}
