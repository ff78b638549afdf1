//! Faults of the machine that are no configuration's fault: a full disk, a folder that is gone, no
//! descriptors left.

use std::io::{self, Write};
use std::os::unix::fs::symlink;
use std::path::Path;
use tunesmith_kernel::DeviceError;

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

/// The bytes that are written in an attempt after any failed compilation.
const LITTLE: usize = 4 << 10;

/// The bytes that are written in an attempt after a compiler complained: as many as a large library
/// takes.
const MUCH: usize = 8 << 20;

/// The bytes that are written at once.
const PIECE: usize = 1 << 20;

/// A source that any compiler for C or C++ compiles. Its library takes some MiB.
pub(crate) const PLAIN_SOURCE: &str = "char tunesmith_attempt[4 << 20] = {1};\n";

/// Writes a file into the folder of the run.
///
/// # Errors
/// The machine does not allow it ([`DeviceError::Machine`]).
pub(crate) fn write(path: &Path, contents: impl AsRef<[u8]>) -> Result<(), DeviceError> {
    tunesmith_files::write(path, contents)
        .map_err(|error| fault(&format!("`{}` cannot be written: {error}", path.display())))
}

/// Makes a symbolic link `link` in the folder of the run to `original`, in place of an older one.
///
/// # Errors
/// The machine does not allow it ([`DeviceError::Machine`]).
pub(crate) fn link(original: &Path, link: &Path) -> Result<(), DeviceError> {
    // Usually, none is there.
    let _ = std::fs::remove_file(link);
    let linked = std::path::absolute(original).and_then(|original| symlink(original, link));
    linked.map_err(|error| fault(&format!("the link `{}` cannot be made: {error}", link.display())))
}

/// Writes this many bytes into a file of `folder`, and removes it.
///
/// # Errors
/// The folder is gone, or has no room for them.
pub fn attempt_to_write(folder: &Path, bytes: usize) -> io::Result<()> {
    let mut file = tempfile::tempfile_in(folder)?;
    let piece = vec![0x5a; PIECE.min(bytes)];
    let mut left = bytes;
    while left > 0 {
        let length = left.min(piece.len());
        file.write_all(&piece[..length])?;
        left -= length;
    }
    Ok(())
}

/// Returns the machine's fault that made a compilation in `folder` fail with this log. Returns
/// `None` if the code is to blame.
///
/// A source can print whatever a compiler prints. So a complaint about the machine counts only if the
/// folder has no room, or if `compiles` finds that the compiler fails on [`PLAIN_SOURCE`] too.
pub(crate) fn of_compilation(log: &str, folder: &Path, compiles: impl FnOnce() -> bool) -> Option<DeviceError> {
    let complaint = complaint(log);
    let reason = match attempt_to_write(folder, if complaint.is_some() { MUCH } else { LITTLE }) {
        Err(error) => format!("`{}` cannot be written: {error}", folder.display()),
        Ok(()) => complaint.filter(|_| !compiles())?.to_owned(),
    };
    Some(fault(&format!("a configuration cannot be compiled: {reason}")))
}

/// Returns true if the compiler complains about the machine. Where nothing is wrong with the machine,
/// the fault may have passed, so that compiling again tells.
pub(crate) fn complains(log: &str) -> bool {
    complaint(log).is_some()
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
    let remedy = "see whether the disk is full, the folder was removed, or the system has no processes, descriptors or memory left";
    DeviceError::Machine { problem: format!("{problem}; {remedy}, and resume the run") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tunesmith_space::{ErrorClass, UserError as _};

    #[test]
    fn a_full_disk_is_told_from_a_wrong_source() {
        let folder = tempfile::tempdir().unwrap();
        for log in [
            "k.c:1:1: error: unknown type name\n",
            "k.c:3:2: error: #error No space left on device\n",
            "note: Cannot allocate memory for x\n",
        ] {
            assert!(of_compilation(log, folder.path(), || false).is_none(), "{log}");
        }
        let log = "k.c: In function f\nas: /tmp/x.o: final close failed: No space left on device\n";
        assert!(complains(log));
        let error = of_compilation(log, folder.path(), || false).unwrap();
        assert!(error.to_string().contains("final close failed: No space left on device; see whether"), "{error}");
        assert_eq!(error.class(), ErrorClass::Run);
    }

    #[test]
    fn a_source_that_prints_the_words_of_a_full_disk_is_to_blame() {
        let folder = tempfile::tempdir().unwrap();
        let log = "k.c:1:9: error: No space left on device\n";
        assert!(complains(log) && of_compilation(log, folder.path(), || true).is_none());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "the attempt leaves nothing");
    }

    #[test]
    fn a_folder_that_is_gone_explains_every_failure() {
        let folder = tempfile::tempdir().unwrap();
        let gone = folder.path().join("gone");
        assert!(matches!(of_compilation("anything", &gone, || true), Some(DeviceError::Machine { .. })));
        assert!(matches!(write(&gone.join("file"), "text"), Err(DeviceError::Machine { .. })));
        assert!(attempt_to_write(&gone, 0).is_err() && attempt_to_write(folder.path(), 3 * PIECE + 1).is_ok());
    }
}
