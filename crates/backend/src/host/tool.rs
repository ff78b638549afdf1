//! Programs of the system that compile, such as `gcc` and `nvcc`.

use crate::host::{CommandTask, Finish, Input, Launcher, MemoryLimit, Streams, WorkerCommand};
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;
use tunesmith_core::{Clock, Interrupt};
use tunesmith_kernel::DeviceError;

/// A program with its fixed arguments.
#[derive(Clone)]
pub struct Tool {
    words: Vec<String>,
    /// Runs it under a supervisor, so that it ends with the tuner.
    launcher: Launcher,
}

/// The end of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The program cannot be started. Its output is the reason.
    NotStarted,
    /// The program ended by itself.
    Exited(ExitStatus),
    /// The program was ended at its time limit.
    TimedOut,
    /// The program was ended because the run was interrupted.
    Cancelled,
}

/// The bytes that are kept of the output of a program that failed. The beginning matters because the
/// first error explains the others.
const KEPT: usize = 256 << 10;

/// Time limit for a question to a program. It answers at once or never.
const QUESTION_LIMIT: Duration = Duration::from_secs(20);

impl Tool {
    /// Creates the program of a command. Supervisors are started as `worker` says, whose interrupt
    /// ends questions.
    ///
    /// # Errors
    /// The system gives no supervisor.
    pub fn new(words: Vec<String>, worker: &WorkerCommand, clock: Arc<dyn Clock>) -> Result<Self, DeviceError> {
        Ok(Self { words, launcher: Launcher::new(worker.clone(), clock)? })
    }

    /// Returns the words of a command with further `arguments`.
    pub(crate) fn words(&self, arguments: &[String]) -> Vec<String> {
        self.words.iter().chain(arguments).cloned().collect()
    }

    /// Runs the program with `arguments`. Returns its end and both outputs: of a success, all lines that
    /// are [kept](crate::host::Output).
    ///
    /// # Errors
    /// The supervisor cannot be started.
    pub(crate) fn run(
        &self,
        arguments: &[String],
        limit: Duration,
        cancel: &Interrupt,
    ) -> Result<(Ended, String), DeviceError> {
        let task = CommandTask {
            words: self.words(arguments),
            // The messages are parsed here. Users, too, search the web for their English form.
            environment: vec![("LC_ALL".to_owned(), "C".to_owned())],
            folder: PathBuf::from("."),
            input: Input::Nothing,
            memory: MemoryLimit::Quota,
            confinement: None,
        };
        let ran = self.launcher.run(&task, Streams::Together, limit, cancel)?;
        let ended = match ran.finish {
            Finish::Ended(report) => Ended::Exited(ExitStatus::from_raw(report.status)),
            Finish::Torn(status) => Ended::Exited(status),
            Finish::NotStarted(reason) => return Ok((Ended::NotStarted, reason)),
            Finish::TimedOut => Ended::TimedOut,
            Finish::Cancelled => Ended::Cancelled,
        };
        // What a successful program says is read to its end: the last lines may be those that matter.
        let is_success = matches!(ended, Ended::Exited(status) if status.success());
        Ok((ended, if is_success { ran.stdout.whole_lines() } else { ran.stdout.first(KEPT) }))
    }

    /// Asks the program for its version. Returns the first line of its answer, or its end and what it says instead.
    ///
    /// # Errors
    /// The supervisor cannot be started.
    pub fn version(&self) -> Result<Result<String, (Ended, String)>, DeviceError> {
        let (ended, said) = self.ask(&["--version".to_owned()])?;
        Ok(match ended {
            Ended::Exited(status) if status.success() => Ok(first_line(&said)),
            _ => Err((ended, said)),
        })
    }

    /// Asks the program a question that it answers at once, such as `--version`.
    ///
    /// # Errors
    /// The supervisor cannot be started.
    pub(crate) fn ask(&self, arguments: &[String]) -> Result<(Ended, String), DeviceError> {
        self.run(arguments, QUESTION_LIMIT, self.launcher.interrupt())
    }
}

/// Returns the first line that is not empty.
fn first_line(text: &str) -> String {
    text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default().to_owned()
}
