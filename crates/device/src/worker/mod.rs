//! The process in which kernels run, and how the tuner deals with it.
//!
//! A kernel may crash, hang, leak or overwrite anything; in a process of its own that costs one configuration. The
//! worker is the same executable as the tuner, entered by [`enter_if_worker`], the first line of `main`.

pub(crate) mod ask;
mod buffers;
pub(crate) mod ending;
pub(crate) mod layout;
pub(crate) mod process;
mod profile;
pub(crate) mod protocol;
mod sequence;
mod serve;
mod watch;

use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

/// The first argument of a worker.
const MARKER: &str = "--tunesmith-worker";

/// Serves as a worker, or supervises a command, and never returns when this process was started for that; does nothing
/// otherwise. Has to be the first line of `main` of every program that tunes, unless it names another program as the worker.
///
/// ```no_run
/// tunesmith_device::worker::enter_if_worker(); // and then the program proper
/// ```
pub fn enter_if_worker() {
    let mut arguments = std::env::args().skip(1);
    match arguments.next().as_deref() {
        Some(MARKER) => serve::serve(arguments.next().and_then(|parent| parent.parse().ok())),
        Some(crate::command::MARKER) => crate::command::supervise(),
        _ => {}
    }
}

/// Whether this process was started as a worker and did not enter: then it must not start workers of its own.
pub(crate) fn was_not_entered() -> bool {
    std::env::args_os().nth(1).is_some_and(|argument| argument == MARKER || argument == crate::command::MARKER)
}

/// How a worker is started.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorkerCommand {
    program: Option<PathBuf>,
    /// A command that runs the worker, with its arguments.
    under: Vec<String>,
}

/// Makes PoCL keep each of its threads on a processor. Otherwise the system may wake all of them on the one where the launch came
/// from, and leave them there: the same kernel then takes twice as long on two cores, in every run or in none.
const AFFINITY: &str = "POCL_AFFINITY";

/// Whether every processor can be used, by numbers from 0 on: PoCL gives up where it may not use the one it chose.
fn sees_all_processors() -> bool {
    let read = |path| std::fs::read_to_string(path).unwrap_or_default();
    let (status, online) = (read("/proc/self/status"), read("/sys/devices/system/cpu/online"));
    let allowed = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap_or_default().trim();
    allowed.starts_with('0') && !allowed.contains(',') && allowed == online.trim()
}

impl WorkerCommand {
    /// This very program, which calls [`enter_if_worker`].
    pub fn current() -> Self {
        Self::default()
    }

    /// Another program, which calls [`enter_if_worker`].
    pub fn program(path: impl Into<PathBuf>) -> Self {
        Self { program: Some(path.into()), under: Vec::new() }
    }

    /// The same worker, run by another command, which passes on what it reads and writes.
    pub(crate) fn under(&self, command: Vec<String>) -> Self {
        Self { under: command, ..self.clone() }
    }

    /// The command for a worker of this process.
    fn command(&self) -> std::io::Result<Command> {
        let mut command = self.entered_with(MARKER)?;
        if sees_all_processors() {
            command.env(AFFINITY, "1");
        }
        if self.under.is_empty() {
            command.arg(std::process::id().to_string());
        }
        Ok(command)
    }

    /// The command for a process that supervises a command of the user's.
    pub(crate) fn supervisor(&self) -> std::io::Result<Command> {
        self.entered_with(crate::command::MARKER)
    }

    fn entered_with(&self, marker: &str) -> std::io::Result<Command> {
        if let Some((first, arguments)) = self.under.split_first() {
            let program = self.program.clone().map_or_else(std::env::current_exe, Ok)?;
            let mut command = Command::new(first);
            command.args(arguments).arg(program).arg(marker);
            return Ok(command);
        }
        let mut command = match &self.program {
            Some(program) => Command::new(program),
            None => {
                // The very file that runs here, even when it was replaced by another build meanwhile, whose messages
                // may be others; the name is for whoever lists processes.
                let mut command = Command::new("/proc/self/exe");
                command.arg0(std::env::current_exe()?);
                command
            }
        };
        command.arg(marker);
        Ok(command)
    }
}
