//! Faults of the machine that are no configuration's fault: a full disk, a folder that is gone, no
//! descriptors left.

use crate::error::DeviceError;
use std::path::Path;

/// The system's messages for want of room, descriptors or memory. Compilers end a line with them.
const WANTS: [&str; 8] = [
    "No space left on device",
    "Disk quota exceeded",
    "Too many open files",
    "Too many open files in system",
    "Cannot allocate memory",
    "Resource temporarily unavailable",
    "Read-only file system",
    "Input/output error",
];

/// Writes a file into the folder of the run.
///
/// # Errors
/// The machine does not allow it ([`DeviceError::Machine`]).
pub(crate) fn write(path: &Path, contents: impl AsRef<[u8]>) -> Result<(), DeviceError> {
    std::fs::write(path, contents).map_err(|error| fault(&format!("`{}` cannot be written: {error}", path.display())))
}

/// Returns the machine's fault that made a compilation in `folder` fail with this log. Returns
/// `None` if the code is to blame.
pub(crate) fn of_compilation(log: &str, folder: &Path) -> Option<DeviceError> {
    let trial = folder.join("trial");
    let written = std::fs::write(&trial, [0; 4096]);
    // A file that is not there needs no removal.
    let _ = std::fs::remove_file(&trial);
    let reason = match written {
        Err(error) => format!("`{}` cannot be written: {error}", folder.display()),
        Ok(()) => complaint(log)?.to_owned(),
    };
    Some(fault(&format!("a configuration cannot be compiled: {reason}")))
}

/// Returns the first line in which the compiler complains about the machine. A message that the
/// source itself asks for is none.
fn complaint(log: &str) -> Option<&str> {
    // Rust's messages add the number of the error.
    let ends = |line: &str, want: &str| {
        line.trim_end().ends_with(want) || line.split_once(want).is_some_and(|(_, rest)| rest.starts_with(" (os error"))
    };
    let wants = |line: &&str| WANTS.iter().any(|want| ends(line, want)) && !line.contains("#error");
    log.lines().find(wants).map(str::trim)
}

fn fault(problem: &str) -> DeviceError {
    let remedy =
        "see whether the disk is full, the folder was removed, or the system has no descriptors or memory left";
    DeviceError::Machine { problem: format!("{problem}; {remedy}, and resume the run") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_told_from_a_wrong_source() {
        let folder = tempfile::tempdir().unwrap();
        for log in [
            "k.c:1:1: error: unknown type name\n",
            "k.c:3:2: error: #error No space left on device\n",
            "note: Cannot allocate memory for x\n",
        ] {
            assert!(of_compilation(log, folder.path()).is_none(), "{log}");
        }
        let log = "k.c: In function f\nas: /tmp/x.o: final close failed: No space left on device\n";
        let error = of_compilation(log, folder.path()).unwrap();
        assert!(error.to_string().contains("final close failed: No space left on device; see whether"), "{error}");
        assert!(!error.is_request());
    }

    #[test]
    fn a_folder_that_is_gone_explains_every_failure() {
        let folder = tempfile::tempdir().unwrap();
        let gone = folder.path().join("gone");
        assert!(matches!(of_compilation("anything", &gone), Some(DeviceError::Machine { .. })));
        assert!(matches!(write(&gone.join("file"), "text"), Err(DeviceError::Machine { .. })));
    }
}
