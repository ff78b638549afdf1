//! Describes the ends of processes.

use nix::sys::signal::Signal;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

/// Describes the end of a worker in the middle of a kernel, with its last printed output.
pub fn describe(status: ExitStatus, printed: &str) -> String {
    let (stray, printed) = take_stray_access(printed);
    let end = match status.signal() {
        Some(number) if stray.is_some() => {
            format!("{} ({})", stray.unwrap_or_default(), signal_name(number))
        }
        // The worker's runtime detects the overflow, reports it, and aborts.
        Some(_) if printed.contains("has overflowed its stack") => {
            "the kernel overflowed its stack; use less local data or recursion, or `static` data".to_owned()
        }
        Some(number) => format!("the kernel was killed by {}", signal(number)),
        None => format!("the kernel called exit({})", status.code().unwrap_or_default()),
    };
    let printed = printed.trim();
    if printed.is_empty() { end } else { format!("{end}\nIt printed last:\n{printed}") }
}

/// The beginning of the line that a worker prints when a kernel touches memory which nobody may
/// touch. The buffer follows.
pub(crate) const STRAY_ACCESS: &str = "the kernel accessed memory outside of";

/// Splits the report of a stray access from everything else that was printed.
fn take_stray_access(printed: &str) -> (Option<&str>, String) {
    let stray = printed.lines().rfind(|line| line.starts_with(STRAY_ACCESS));
    let rest = printed.lines().filter(|line| Some(*line) != stray).collect::<Vec<_>>().join("\n");
    (stray, rest)
}

fn signal_name(number: i32) -> String {
    Signal::try_from(number).map_or_else(|_| format!("signal {number}"), |signal| signal.to_string())
}

/// Returns the name of a signal and its usual meaning.
pub(crate) fn signal(number: i32) -> String {
    let name = signal_name(number);
    let meaning = match Signal::try_from(number) {
        Ok(Signal::SIGSEGV) => " (it read or wrote memory that is not its own)",
        Ok(Signal::SIGBUS) => " (it read or wrote memory that does not exist)",
        Ok(Signal::SIGABRT) => " (it called abort, or the C library found its memory damaged)",
        Ok(Signal::SIGFPE) => " (integer division by zero or overflow)",
        Ok(Signal::SIGILL) => " (an instruction that this processor does not have)",
        Ok(Signal::SIGXFSZ) => " (it wrote a file that is longer than it may be)",
        Ok(Signal::SIGKILL) => " (perhaps for want of memory)",
        _ => "",
    };
    format!("{name}{meaning}")
}

/// Says how a command failed, or returns `None` if it succeeded.
pub(crate) fn ended_badly(status: ExitStatus) -> Option<String> {
    match (status.code(), status.signal()) {
        (Some(0), _) => None,
        // A shell reports the signal of its program in this way.
        (Some(code @ 129..=192), _) => Some(format!("ended with status {code}, as after {}", signal(code - 128))),
        (Some(code), _) => Some(format!("ended with status {code}")),
        (None, Some(number)) => Some(format!("was killed by {}", signal(number))),
        (None, None) => Some(format!("ended oddly: {status}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_have_a_name_and_a_meaning() {
        let message = describe(ExitStatus::from_raw(11), "");
        assert_eq!(message, "the kernel was killed by SIGSEGV (it read or wrote memory that is not its own)");
        assert_eq!(describe(ExitStatus::from_raw(35), ""), "the kernel was killed by signal 35");
    }

    #[test]
    fn a_stray_access_is_told_with_its_buffer() {
        let printed =
            "hello\nthe kernel accessed memory outside of `c`, behind its end: at byte 9 of a buffer of 8 bytes\n";
        let end =
            "the kernel accessed memory outside of `c`, behind its end: at byte 9 of a buffer of 8 bytes (SIGSEGV)";
        assert_eq!(describe(ExitStatus::from_raw(11), printed), format!("{end}\nIt printed last:\nhello"));
    }

    #[test]
    fn an_exit_is_told_by_its_code() {
        assert_eq!(describe(ExitStatus::from_raw(3 << 8), "bye\n"), "the kernel called exit(3)\nIt printed last:\nbye");
        assert_eq!(describe(ExitStatus::from_raw(0), "\n"), "the kernel called exit(0)");
    }

    #[test]
    fn a_stack_overflow_is_told_from_an_abort() {
        let printed = "thread 'main' has overflowed its stack\nfatal runtime error: stack overflow";
        assert!(describe(ExitStatus::from_raw(6), printed).starts_with("the kernel overflowed its stack"));
    }
}
