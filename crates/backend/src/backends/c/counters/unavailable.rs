//! Explains missing counters and gives a remedy.

use crate::backends::Missing;
use nix::errno::Errno;
use std::io;

/// The file with Linux's setting of who may count events.
const PARANOID: &str = "/proc/sys/kernel/perf_event_paranoid";
/// The setting from which on a process may not even count its own user code.
const FORBIDS: i32 = 3;

/// Interprets an error of opening an event on this system.
pub(super) fn unavailable(error: &io::Error) -> Missing {
    let setting =
        tunesmith_files::read_text(PARANOID, tunesmith_files::TEXT).ok().and_then(|text| text.trim().parse().ok());
    let (reason, remedy) = explained(error, setting);
    Missing { backend: "counters of the processor".to_owned(), reason, remedy }
}

/// Returns the reason and the remedy for the error and the system's setting.
fn explained(error: &io::Error, setting: Option<i32>) -> (String, String) {
    let error_number = error.raw_os_error().map(Errno::from_raw);
    let (reason, remedy) = match (error_number, setting) {
        (Some(Errno::ENOENT | Errno::ENODEV | Errno::EOPNOTSUPP), _) => (
            "this machine shows no hardware counters (usual in virtual machines)".to_owned(),
            "run on the machine itself, or have the virtual machine given a virtual PMU",
        ),
        (Some(Errno::EACCES | Errno::EPERM), Some(setting)) if setting >= FORBIDS => (
            format!("kernel.perf_event_paranoid is {setting}, which forbids them"),
            "as root: sysctl kernel.perf_event_paranoid=2",
        ),
        (Some(Errno::EACCES | Errno::EPERM), _) => (
            "the system forbids perf_event_open (usual in containers)".to_owned(),
            "give the container CAP_PERFMON, or a seccomp profile that allows perf_event_open",
        ),
        (Some(Errno::ENOSYS), _) => {
            ("this kernel has no perf_event".to_owned(), "run on a Linux kernel with CONFIG_PERF_EVENTS")
        }
        _ => (format!("perf_event_open failed: {error}"), "see `man perf_event_open` for what the error means"),
    };
    (reason, remedy.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_error_has_its_reason_and_a_remedy() {
        let of = |errno: Errno, setting| explained(&io::Error::from_raw_os_error(errno as i32), setting);
        assert!(of(Errno::ENOENT, Some(2)).0.contains("no hardware counters"));
        let (reason, remedy) = of(Errno::EACCES, Some(4));
        assert!(reason.contains("perf_event_paranoid is 4") && remedy.contains("perf_event_paranoid=2"));
        assert!(of(Errno::EPERM, Some(2)).1.contains("CAP_PERFMON"));
        assert!(of(Errno::EPERM, None).1.contains("CAP_PERFMON"));
        assert!(of(Errno::ENOSYS, None).0.contains("no perf_event"));
        assert!(of(Errno::EMFILE, Some(2)).0.contains("Too many open files"));
    }
}
