//! Starts this program once more: as a worker, as a supervisor of a command, or as a guard of a
//! device's clock.

use crate::host::{Membership, Suspension};
use crate::sandbox::Confinement;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use tunesmith_core::Interrupt;
use tunesmith_power::guard::StartGuard;

/// The first argument of a worker.
pub const WORKER: &str = "--tunesmith-worker";

/// The first argument of a supervisor.
pub const SUPERVISOR: &str = "--tunesmith-supervisor";

/// The first argument of a guard of clocks and power limits.
pub const GUARD: &str = "--tunesmith-guard";

/// Returns true if this process was started as a worker, supervisor or guard but did not call
/// `enter_if_worker`. It must not start workers of its own.
pub fn was_not_entered() -> bool {
    std::env::args_os().nth(1).is_some_and(|argument| [WORKER, SUPERVISOR, GUARD].iter().any(|one| argument == *one))
}

/// The program that becomes a worker, and the command that runs it.
#[derive(Clone, Debug, Default)]
pub struct WorkerCommand {
    program: Option<PathBuf>,
    /// The program's own arguments, before those of a worker.
    arguments: Vec<String>,
    /// A command that runs the worker, with its arguments.
    under: Vec<String>,
    interrupt: Interrupt,
    /// The sandbox of user code in the worker.
    confinement: Option<Confinement>,
    /// The folder in which runs keep their files.
    temporary: Option<PathBuf>,
    /// The compilers among which the processes are counted.
    suspension: Option<Arc<Suspension>>,
}

/// The variable that makes PoCL keep each of its threads on a processor. Otherwise the system may
/// wake all of them on the processor that launched the kernel, and leave them there. The same
/// kernel then takes twice as long on two cores, in every run or in none.
const AFFINITY: &str = "POCL_AFFINITY";

/// Returns true if every processor is usable, by numbers from 0 on. PoCL gives up if it may not use
/// the processor that it chose.
fn sees_all_processors() -> bool {
    let read = |path| tunesmith_files::system_text(path).unwrap_or_default();
    let (status, online) = (read("/proc/self/status"), read("/sys/devices/system/cpu/online"));
    let allowed = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap_or_default().trim();
    allowed.starts_with('0') && !allowed.contains(',') && allowed == online.trim()
}

impl WorkerCommand {
    /// Returns the command of this program, which must call
    /// `tunesmith_device::worker::enter_if_worker`.
    pub fn current() -> Self {
        Self::default()
    }

    /// Returns the command of another program, which must call
    /// `tunesmith_device::worker::enter_if_worker`.
    pub fn program(path: impl Into<PathBuf>) -> Self {
        Self { program: Some(path.into()), ..Self::default() }
    }

    /// Returns the same command with arguments of the program's own. Those of a worker follow them,
    /// and the program must pass them to `tunesmith_device::worker::enter_with`. An interpreter
    /// becomes a worker in this way.
    ///
    /// ```
    /// use tunesmith_backend::host::WorkerCommand;
    ///
    /// let worker = WorkerCommand::program("/usr/bin/python3").arguments(["-c", "import worker; worker.enter()"]);
    /// # let _ = worker;
    /// ```
    #[must_use]
    pub fn arguments<S: Into<String>>(self, arguments: impl IntoIterator<Item = S>) -> Self {
        Self { arguments: arguments.into_iter().map(Into::into).collect(), ..self }
    }

    /// Returns the same worker. `interrupt` ends its answers to questions about devices, and what
    /// compilers are asked before a run.
    #[must_use]
    pub fn interrupted_by(&self, interrupt: &Interrupt) -> Self {
        Self { interrupt: interrupt.clone(), ..self.clone() }
    }

    /// Returns the same worker. Runs keep their data and programs in a folder beneath `folder`, which
    /// stands for the user's `TMPDIR`. `None` prefers shared memory to the usual place of temporary
    /// files. A folder without room, or one that forbids programs to run, is passed over.
    #[must_use]
    pub fn keeping_files_in(&self, folder: Option<PathBuf>) -> Self {
        Self { temporary: folder, ..self.clone() }
    }

    /// Returns the folder in which runs keep their files, if it was named.
    pub fn keeps_files_in(&self) -> Option<&Path> {
        self.temporary.as_deref()
    }

    /// Returns the interrupt of the run.
    pub fn interrupt(&self) -> &Interrupt {
        &self.interrupt
    }

    /// Returns the same worker, run by another command. That command must pass on standard input.
    /// It talks to the worker in ways of its own, so that the worker has no sandbox.
    pub fn under(&self, command: Vec<String>) -> Self {
        Self { under: command, confinement: None, ..self.clone() }
    }

    /// Returns the same worker for processes that compile. They stand still during the pauses of `suspension`.
    #[must_use]
    pub fn suspended_by(&self, suspension: &Arc<Suspension>) -> Self {
        Self { suspension: Some(Arc::clone(suspension)), ..self.clone() }
    }

    /// Counts a started process, which leads its group, among the compilers, if it is one.
    pub(crate) fn membership(&self, process: u32) -> Option<Membership> {
        self.suspension.as_ref().map(|suspension| suspension.add(process))
    }

    /// Returns the same worker, whose user code runs in a sandbox, if there is one.
    pub fn confined(&self, confinement: Option<Confinement>) -> Self {
        Self { confinement, ..self.clone() }
    }

    /// Returns the same worker with a folder for temporary files of its own. Without a sandbox, it
    /// shares the user's.
    pub fn with_temporary(&self, folder: &Path) -> Self {
        let confinement = self.confinement.clone();
        Self { confinement: confinement.map(|confinement| confinement.with_temporary(folder)), ..self.clone() }
    }

    /// Returns the same worker, whose sandbox allows kernels in C to write shared memory.
    pub fn sharing_memory(&self, shared_memory: bool) -> Self {
        let confinement = self.confinement.clone();
        Self {
            confinement: confinement.map(|confinement| confinement.with_shared_memory(shared_memory)),
            ..self.clone()
        }
    }

    /// Returns the sandbox of user code in the worker.
    pub fn confinement(&self) -> Option<&Confinement> {
        self.confinement.as_ref()
    }

    /// Returns true if this process starts the worker itself, without another command.
    pub fn is_direct(&self) -> bool {
        self.under.is_empty()
    }

    /// Returns the command for a worker of this process.
    pub(crate) fn command(&self) -> std::io::Result<Command> {
        let mut command = self.entered_with(WORKER)?;
        if sees_all_processors() {
            command.env(AFFINITY, "1");
        }
        if self.is_direct() {
            command.arg(std::process::id().to_string());
        }
        Ok(command)
    }

    /// Returns the command for a process that supervises a user's command.
    pub(crate) fn supervisor(&self) -> std::io::Result<Command> {
        self.entered_with(SUPERVISOR)
    }

    /// Returns the way to start a process that guards the clock and power of a device.
    pub fn guard(&self) -> StartGuard {
        let command = Self { confinement: None, under: Vec::new(), ..self.clone() };
        Arc::new(move || command.entered_with(GUARD))
    }

    fn entered_with(&self, marker: &str) -> std::io::Result<Command> {
        if let Some((first, arguments)) = self.under.split_first() {
            let program = self.program.clone().map_or_else(std::env::current_exe, Ok)?;
            let mut command = Command::new(first);
            command.args(arguments).arg(program).args(&self.arguments).arg(marker);
            return Ok(command);
        }
        let mut command = match &self.program {
            Some(program) => Command::new(program),
            None => {
                // The file that runs here, even if another build has replaced it, because its
                // messages may differ. The name is for readers of lists of processes.
                let mut command = Command::new("/proc/self/exe");
                command.arg0(std::env::current_exe()?);
                command
            }
        };
        command.args(&self.arguments).arg(marker);
        if let Some(confinement) = &self.confinement {
            command.env("TMPDIR", &confinement.temporary);
        }
        Ok(command)
    }
}
