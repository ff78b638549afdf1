//! Runs a tool to its end, with a time limit. Keeps its output.

use crate::host::POLL;
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use std::io::{self, Read};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;
use tunesmith_core::{Clock, Interrupt};

/// The end of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    /// The command ended by itself.
    Exited(ExitStatus),
    /// The command was ended at its time limit.
    TimedOut,
    /// The command was ended because the run was interrupted.
    Cancelled,
}

/// Runs `command` in a process group of its own. The whole group is ended at `limit`, or when
/// `cancel` is raised. Returns the end of the command and the text of both outputs, at most 256 KiB
/// of it.
///
/// # Errors
/// The command cannot be started.
pub(super) fn run(
    mut command: Command,
    limit: Duration,
    clock: &dyn Clock,
    cancel: &Interrupt,
) -> io::Result<(Ended, String)> {
    let (reader, writer) = io::pipe()?;
    command.process_group(0).stdin(Stdio::null()).stdout(writer.try_clone()?).stderr(writer);
    let mut child = command.spawn()?;
    // The command value holds the pipe's other end. Reading does not end before it is dropped.
    drop(command);
    let output = read_in_background(reader);
    let deadline = clock.now() + limit;
    loop {
        let left = deadline.saturating_sub(clock.now());
        let outcome = match output.recv_timeout(left.min(POLL)) {
            Ok(text) => return Ok((Ended::Exited(child.wait()?), text)),
            Err(RecvTimeoutError::Disconnected) => return Ok((Ended::Exited(child.wait()?), String::new())),
            Err(RecvTimeoutError::Timeout) if cancel.is_raised() => Ended::Cancelled,
            Err(RecvTimeoutError::Timeout) if left.is_zero() => Ended::TimedOut,
            Err(RecvTimeoutError::Timeout) => continue,
        };
        end(&mut child);
        return Ok((outcome, output.recv_timeout(POLL).unwrap_or_default()));
    }
}

/// Ends the process group of `child` and waits for it.
fn end(child: &mut Child) {
    if let Ok(group) = i32::try_from(child.id()) {
        // An error means that the group is empty.
        let _ = killpg(Pid::from_raw(group), Signal::SIGKILL);
    }
    let _ = child.wait();
}

/// Reads to the end, and sends the beginning. The beginning matters because the first error of a
/// compiler explains the others.
fn read_in_background(mut from: io::PipeReader) -> Receiver<String> {
    const KEPT: u64 = 256 << 10;
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut kept = Vec::new();
        let read = from.by_ref().take(KEPT).read_to_end(&mut kept).and_then(|_| io::copy(&mut from, &mut io::sink()));
        // An output that breaks off is complete enough. A receiver that is gone does not need it.
        let (_, _) = (read, sender.send(String::from_utf8_lossy(&kept).into_owned()));
    });
    receiver
}

#[cfg(test)]
mod tests {
    use super::*;
    use tunesmith_core::SystemClock;

    fn shell(script: &str, limit: Duration, cancel: &Interrupt) -> (Ended, String) {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        run(command, limit, &SystemClock::new(), cancel).unwrap()
    }

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn both_outputs_are_kept_in_order() {
        let (ended, text) = shell("echo out; echo err >&2; exit 3", LONG, &Interrupt::default());
        assert!(matches!(ended, Ended::Exited(status) if status.code() == Some(3)));
        assert_eq!(text, "out\nerr\n");
    }

    #[test]
    fn a_command_that_does_not_end_is_ended_with_its_children() {
        let (ended, text) =
            shell("echo here; sleep 100 & sleep 100", Duration::from_millis(200), &Interrupt::default());
        assert_eq!((ended, text.as_str()), (Ended::TimedOut, "here\n"));
    }

    #[test]
    fn a_raised_interrupt_ends_the_command() {
        let cancel = Interrupt::default();
        cancel.raise();
        assert_eq!(shell("sleep 100", LONG, &cancel).0, Ended::Cancelled);
    }

    #[test]
    fn more_output_than_is_kept_does_not_block() {
        let (ended, text) = shell("head -c 1000000 /dev/zero", LONG, &Interrupt::default());
        assert!(matches!(ended, Ended::Exited(_)));
        assert_eq!(text.len(), 256 << 10);
    }
}
