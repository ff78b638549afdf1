//! The program of the user, as a command.

use std::path::Path;
use std::time::Duration;
use tunesmith_backend::host::Companion;
use tunesmith_device::Machine;
use tunesmith_kernel::DeviceError;

/// A command that proposes configurations, and how long a search waits for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProposeCommand {
    /// The command, as a user types it in a shell.
    pub command: String,
    /// Maximum time to wait for an answer at a turn of the command.
    pub patience: Duration,
}

impl ProposeCommand {
    /// The patience if the user names none: enough for the start of a script, and little beside a
    /// run. It is waited for in full once, until the command answers again.
    pub const PATIENCE: Duration = Duration::from_millis(100);

    /// Returns the command with the usual patience.
    pub fn new(command: impl Into<String>) -> Self {
        Self { command: command.into(), patience: Self::PATIENCE }
    }

    /// Starts the command by `sh` in the working folder.
    ///
    /// # Errors
    /// Its supervisor cannot be started. That the command itself fails is heard in the conversation.
    pub fn start(&self, machine: &Machine) -> Result<Companion, DeviceError> {
        let words = ["/bin/sh", "-c", &self.command].map(str::to_string).into();
        let folder = std::path::absolute(".").unwrap_or_else(|_| Path::new("/").to_path_buf());
        Companion::start(&machine.worker, machine.sandbox.as_ref(), words, &folder)
    }
}
