//! Running a tool to its end, with a limit on its time and all it prints kept.

use crate::host::POLL;
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use std::io::{self, Read};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;
use tunesmith_core::{Clock, Interrupt};

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    /// By itself.
    Exited(ExitStatus),
    /// It was ended at its limit.
    TimedOut,
    /// It was ended because the run is to end.
    Cancelled,
}

/// Runs `command` in a process group of its own, which is ended as a whole at the `limit` or when
/// `cancel` is raised. Returns how it ended and what it printed on both outputs, at most 256 KiB of
/// it.
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
    // The command holds the pipe's other end; as long as it lives here, reading does not end.
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
        // An error means that nothing of the group is left.
        let _ = killpg(Pid::from_raw(group), Signal::SIGKILL);
    }
    let _ = child.wait();
}

/// Reads to the end, keeps the beginning (the first error of a compiler explains the others) and
/// sends it.
fn read_in_background(mut from: io::PipeReader) -> Receiver<String> {
    const KEPT: u64 = 256 << 10;
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut kept = Vec::new();
        let read = from.by_ref().take(KEPT).read_to_end(&mut kept).and_then(|_| io::copy(&mut from, &mut io::sink()));
        // An output that breaks off is as complete as it gets, and a receiver that is gone has no
        // use for it.
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
