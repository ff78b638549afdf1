//! Short commands of an engine. Each has a limit of time, and is ended with all that it started.

use super::transcript::Transcript;
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::Duration;
use tunesmith_core::{Clock, Interrupt, SystemClock};

/// Time between looks at a command that runs.
const LOOK: Duration = Duration::from_millis(10);

/// The end of a command.
pub(super) enum Answer {
    /// It ended by itself and said this.
    Ended(ExitStatus, Transcript),
    /// It did not end in time, and said this. It is ended.
    Late(Transcript),
    Interrupted,
}

/// Runs a command that heads a group of processes, until it ends, `limit` is over or `interrupt` is raised.
///
/// # Errors
/// The command cannot be started.
pub(super) fn ask(command: &mut Command, limit: Duration, interrupt: &Interrupt) -> io::Result<Answer> {
    let clock = SystemClock::new();
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    let mut child = command.spawn()?;
    let mut said = Transcript::of(&mut child).inspect_err(|_| end(&mut child))?;
    loop {
        let ended = child.try_wait()?;
        said.read(|_| {});
        if let Some(status) = ended {
            said.read_end();
            return Ok(Answer::Ended(status, said));
        }
        if clock.now() >= limit || interrupt.is_raised() {
            end(&mut child);
            said.read_end();
            return Ok(if interrupt.is_raised() { Answer::Interrupted } else { Answer::Late(said) });
        }
        thread::sleep(LOOK);
    }
}

/// Kills a process that heads a group, and the group.
pub(super) fn end(child: &mut Child) {
    let _ = killpg(Pid::from_raw(i32::try_from(child.id()).unwrap_or(i32::MAX)), Signal::SIGKILL);
    let _ = child.kill();
    let _ = child.wait();
}
