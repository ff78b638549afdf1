//! The tuner's side. It starts a supervisor with a task, enforces the time limit, and receives the
//! command's end.

use crate::host::output::{Output, OutputReader};
use crate::host::supervisor::{CommandTask, News, ProcessReport};
use crate::host::system::LAST_WAIT;
use crate::host::{KeptProcessors, Membership, POLL, Suspension, WorkerCommand, was_not_entered};
use crate::sandbox::Confinement;
use nix::libc::SIGKILL;
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use std::io::{self, ErrorKind, PipeWriter, Read, Write};
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;
use tunesmith_core::{Clock, Interrupt, SystemClock};
use tunesmith_kernel::DeviceError;

/// Starts commands, each with a supervisor of its own.
#[derive(Clone)]
pub(crate) struct Launcher {
    worker: WorkerCommand,
    clock: Arc<dyn Clock>,
}

/// The destinations of a command's two outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Streams {
    /// Both outputs go to one log, in the order written.
    Together,
    /// The outputs stay apart: a result and remarks.
    Apart,
}

/// A command that was run.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) finish: Finish,
    /// The standard output. With [`Streams::Together`], both outputs.
    pub(crate) stdout: Output,
    /// The standard error.
    pub(crate) stderr: Output,
}

/// The end of a command.
#[derive(Debug)]
pub(crate) enum Finish {
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
pub(super) struct Group {
    child: Child,
    /// Its membership among the compilers, if the command compiles.
    membership: Option<Membership>,
    pub(super) control: UnixStream,
    /// Received bytes that have not been parsed.
    heard: Vec<u8>,
    /// The supervisor's status, after its end.
    status: Option<ExitStatus>,
}

/// The time in which a supervisor ends what a command left behind. It takes some milliseconds,
/// unless the command's processes fork faster than they are ended.
const PATIENCE: Duration = Duration::from_secs(5);

/// The most bytes of a supervisor's message. The longest gives the reason why a command could not be
/// started.
const MOST_OF_A_MESSAGE: usize = 64 << 10;

/// The number of times that a supervisor is started before the run ends. What keeps one from
/// starting, such as a limit of processes or a lack of memory, may pass.
const STARTS: usize = 3;

/// The pause before a supervisor is started once more. The next pause is four times as long.
const PAUSE: Duration = Duration::from_millis(50);

impl Launcher {
    /// Creates a launcher that starts supervisors in the same way as `worker` starts workers.
    ///
    /// # Errors
    /// This program was itself started as a worker, but did not call `enter_if_worker`.
    pub(crate) fn new(worker: WorkerCommand, clock: Arc<dyn Clock>) -> Result<Self, DeviceError> {
        if was_not_entered() {
            return Err(unusable("was not entered: call `worker::enter_if_worker()` in the first line of `main`"));
        }
        Ok(Self { worker, clock })
    }

    /// Returns the interrupt of the run.
    pub(crate) fn interrupt(&self) -> &Interrupt {
        self.worker.interrupt()
    }

    /// Returns the folder in which runs keep their files, if the user named one.
    pub(crate) fn keeps_files_in(&self) -> Option<&Path> {
        self.worker.keeps_files_in()
    }

    /// Returns a launcher whose commands run in a sandbox, if there is one.
    pub(crate) fn confined(self, confinement: Option<Confinement>) -> Self {
        Self { worker: self.worker.confined(confinement), ..self }
    }

    /// Returns a launcher of compilers, which stand still during the pauses of `suspension`. Pauses do not count as
    /// time.
    pub(crate) fn suspended_by(self, suspension: &Arc<Suspension>) -> Self {
        let clock = Arc::clone(suspension) as Arc<dyn Clock>;
        Self { worker: self.worker.suspended_by(suspension), clock }
    }

    /// Runs a task to its end, to its `limit`, or until `interrupt` is raised. Afterwards
    /// nothing that it started is left, in whatever group or session.
    ///
    /// # Errors
    /// The supervisor cannot be started, or the program does not act as a supervisor.
    pub(crate) fn run(
        &self,
        task: &CommandTask,
        streams: Streams,
        limit: Duration,
        interrupt: &Interrupt,
    ) -> Result<Ran, DeviceError> {
        // The command may bind this thread to other processors.
        let _processors = KeptProcessors::current();
        let mut pause = PAUSE;
        for _ in 1..STARTS {
            match self.try_run(task, streams, limit, interrupt) {
                // The command has not begun: a supervisor that fails later reports a `Finish`.
                Err(DeviceError::Worker { .. }) if !interrupt.is_raised() => std::thread::sleep(pause),
                ran => return ran,
            }
            pause *= 4;
        }
        self.try_run(task, streams, limit, interrupt)
    }

    fn try_run(
        &self,
        task: &CommandTask,
        streams: Streams,
        limit: Duration,
        interrupt: &Interrupt,
    ) -> Result<Ran, DeviceError> {
        let cannot = |error: io::Error| unusable(format!("cannot be started: {error}"));
        let (mut group, stdout, stderr) = self.start(streams).map_err(cannot)?;
        let line = self.line(task).map_err(cannot)?;
        // If the task cannot be written, the supervisor has ended. Waiting reports its end.
        let _ = group.control.write_all(&line);
        let finish = self.wait(&mut group, limit, interrupt)?;
        drop(group);
        let rest = stderr.map(OutputReader::finish).unwrap_or_default();
        Ok(Ran { finish, stdout: stdout.finish(), stderr: rest })
    }

    fn start(&self, streams: Streams) -> io::Result<(Group, OutputReader, Option<OutputReader>)> {
        let (stdout, to_stdout) = OutputReader::start()?;
        let (stderr, to_stderr) = match streams {
            Streams::Together => (None, to_stdout.try_clone()?),
            Streams::Apart => OutputReader::start().map(|(reading, writer)| (Some(reading), writer))?,
        };
        Ok((self.supervisor(to_stdout, to_stderr)?, stdout, stderr))
    }

    /// Starts a supervisor with these outputs.
    pub(super) fn supervisor(&self, to_stdout: PipeWriter, to_stderr: PipeWriter) -> io::Result<Group> {
        let (control, theirs) = UnixStream::pair()?;
        // A process group of its own: Ctrl-C on the terminal reaches only the tuner, and the tuner
        // can end everything that the command started.
        let mut command = self.worker.supervisor()?;
        command.process_group(0).stdin(Stdio::from(OwnedFd::from(theirs))).stdout(to_stdout).stderr(to_stderr);
        let child = command.spawn()?;
        let membership = self.worker.membership(child.id());
        Ok(Group { child, membership, control, heard: Vec::new(), status: None })
    }

    /// Returns the line that gives `task` to a supervisor, in the sandbox of the launcher.
    pub(super) fn line(&self, task: &CommandTask) -> io::Result<Vec<u8>> {
        let task = CommandTask { confinement: self.worker.confinement().cloned(), ..task.clone() };
        let mut line = serde_json::to_vec(&task)?;
        line.push(b'\n');
        Ok(line)
    }

    fn wait(&self, group: &mut Group, limit: Duration, interrupt: &Interrupt) -> Result<Finish, DeviceError> {
        let mut starting = false;
        let deadline = self.clock.now() + limit;
        loop {
            let left = deadline.saturating_sub(self.clock.now());
            match group.hear(left.min(POLL)) {
                Ok(Answered::News(News::Starting)) => starting = true,
                Ok(Answered::News(News::NoSandbox(reason))) => {
                    return Err(unusable(format!("cannot enter its sandbox: {reason}")));
                }
                Ok(Answered::News(News::NotStarted(reason))) => return Ok(Finish::NotStarted(reason)),
                Ok(Answered::News(News::Ended(report))) => return Ok(Finish::Ended(report)),
                Ok(Answered::Nothing) => {}
                Ok(Answered::End) | Err(_) => return group.torn(starting),
            }
            if interrupt.is_raised() {
                return Ok(Finish::Cancelled);
            }
            if left.is_zero() {
                return Ok(Finish::TimedOut);
            }
        }
    }
}

/// The result of listening for a moment.
pub(super) enum Answered {
    News(News),
    Nothing,
    End,
}

impl Group {
    /// Listens for at most `patience`.
    pub(super) fn hear(&mut self, patience: Duration) -> io::Result<Answered> {
        // A timeout of zero would disable the timeout.
        self.control.set_read_timeout(Some(patience.max(Duration::from_millis(1))))?;
        let mut piece = [0; 512];
        loop {
            if let Some(end) = self.heard.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.heard.drain(..=end).collect();
                return Ok(Answered::News(serde_json::from_slice(&line)?));
            }
            if self.heard.len() > MOST_OF_A_MESSAGE {
                return Err(ErrorKind::InvalidData.into());
            }
            match self.control.read(&mut piece) {
                Ok(0) => return Ok(Answered::End),
                Ok(length) => self.heard.extend(&piece[..length]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                    return Ok(Answered::Nothing);
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Interprets the end of a supervisor that did not report the end of its task.
    fn torn(&mut self, starting: bool) -> Result<Finish, DeviceError> {
        let status = self.end().map_err(|error| unusable(format!("cannot be waited for: {error}")))?;
        if starting {
            return Ok(Finish::Torn(status));
        }
        Err(unusable(format!(
            "ended before it started the command ({status}); does the program call `worker::enter_if_worker()` in the \
             first line of `main`?"
        )))
    }

    /// Ends the supervisor, which ends everything that the command left behind. Returns its status.
    fn end(&mut self) -> io::Result<ExitStatus> {
        if let Some(status) = self.status {
            return Ok(status);
        }
        self.membership = None;
        let _ = self.control.shutdown(Shutdown::Write);
        let clock = SystemClock::new();
        // Nobody else holds the other end, so that it closes when the supervisor ends.
        while clock.now() < PATIENCE && matches!(self.hear(PATIENCE.saturating_sub(clock.now())), Ok(Answered::News(_)))
        {
        }
        if let Ok(group) = i32::try_from(self.child.id()) {
            // Without a sandbox, a command can end or stop its supervisor. The group remains. The
            // supervisor was not waited for, so that its id still names the group. An error means
            // that the group is empty.
            let _ = killpg(Pid::from_raw(group), Signal::SIGKILL);
        }
        let status = await_end(&mut self.child, LAST_WAIT)?;
        self.status = Some(status);
        Ok(status)
    }
}

/// Waits for a process that was sent SIGKILL, for at most `limit`. One that waits for a device may take
/// longer. It is then left alone, because the signal ends it as soon as it can.
fn await_end(child: &mut Child, limit: Duration) -> io::Result<ExitStatus> {
    let clock = SystemClock::new();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if clock.now() >= limit {
            return Ok(ExitStatus::from_raw(SIGKILL));
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let _ = self.end();
    }
}

pub(super) fn unusable(problem: impl Into<String>) -> DeviceError {
    DeviceError::Worker { problem: problem.into() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    /// Returns a process that ends when its input does, and a group that takes it for a supervisor,
    /// with the supervisor's end of the connection.
    fn group() -> (Group, UnixStream) {
        let mut command = Command::new("cat");
        let child = command.process_group(0).stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        let (control, theirs) = UnixStream::pair().unwrap();
        (Group { child, membership: None, control, heard: Vec::new(), status: None }, theirs)
    }

    #[test]
    fn a_process_that_does_not_end_is_waited_for_no_longer_than_the_limit() {
        let (mut group, theirs) = group();
        drop(theirs);
        let status = await_end(&mut group.child, Duration::ZERO).unwrap();
        assert_eq!(status.signal(), Some(SIGKILL));
        assert_eq!(group.child.try_wait().unwrap(), None, "it lives on");
        assert_eq!(group.end().unwrap().signal(), Some(SIGKILL));
    }

    #[test]
    fn a_supervisor_that_says_too_much_is_not_listened_to() {
        let (mut group, mut theirs) = group();
        let writer = std::thread::spawn(move || while theirs.write_all(&[b'x'; 4096]).is_ok() {});
        let heard = loop {
            match group.hear(Duration::from_secs(1)) {
                Ok(Answered::Nothing) => {}
                heard => break heard,
            }
        };
        assert!(heard.is_err_and(|error| error.kind() == ErrorKind::InvalidData));
        drop(group);
        writer.join().unwrap();
    }
}
