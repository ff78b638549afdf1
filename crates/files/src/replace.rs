//! Replaces a file in one step.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{Error, ErrorKind, Result, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Writes `contents` to the file at `path`, in one step: whoever reads it meanwhile, or finds it after the
/// disk was full or the process was killed, has either the whole old file or the whole new one. The file keeps
/// its permissions. A symbolic link stays, and the file that it names is replaced. A pipe or a device is
/// written to, never replaced.
///
/// # Errors
/// The path is wrong or the disk refused. The old file is then as it was. Nobody reads the pipe, or its reader
/// takes nothing for half a minute.
pub fn replace(path: &Path, contents: impl AsRef<[u8]>) -> Result<()> {
    let contents = contents.as_ref();
    let there = fs::metadata(path).ok();
    if there.as_ref().is_some_and(|there| !there.is_file()) {
        return stream(path, contents);
    }
    let path = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    let (new, mut file) = match create_beside(&path) {
        // Who may write the file, but not its folder, can only overwrite it.
        Err(error) if error.kind() == ErrorKind::PermissionDenied && there.is_some() => {
            return fs::write(path, contents);
        }
        created => created?,
    };
    let permissions = there.map(|there| there.permissions());
    let written = permissions.map_or(Ok(()), |permissions| file.set_permissions(permissions));
    let written = written.and_then(|()| file.write_all(contents)).and_then(|()| fs::rename(&new, &path));
    written.inspect_err(|_| drop(fs::remove_file(&new)))
}

/// Maximum time that the reader of a pipe takes nothing.
const PATIENCE: Duration = Duration::from_secs(30);

/// Time between two looks at a full pipe.
const PAUSE: Duration = Duration::from_millis(5);

/// Writes `contents` to a pipe or a device. Opening a pipe that nobody reads would wait for a reader for ever.
fn stream(path: &Path, mut contents: &[u8]) -> Result<()> {
    let opened = OpenOptions::new().write(true).custom_flags(libc::O_NONBLOCK).open(path);
    let mut file = opened.map_err(|error| match error.raw_os_error() {
        Some(libc::ENXIO) => Error::new(ErrorKind::InvalidInput, "it is a FIFO that nobody reads"),
        _ => error,
    })?;
    let mut waits = 0;
    while !contents.is_empty() {
        match file.write(contents) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(written) => (contents, waits) = (&contents[written..], 0),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) if error.kind() != ErrorKind::WouldBlock => return Err(error),
            Err(_) if PAUSE * waits >= PATIENCE => {
                return Err(Error::new(ErrorKind::TimedOut, "its reader takes nothing"));
            }
            Err(_) => {
                std::thread::sleep(PAUSE);
                waits += 1;
            }
        }
    }
    Ok(())
}

/// Creates a file beside `path` whose name no other writer has.
fn create_beside(path: &Path) -> Result<(PathBuf, File)> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    loop {
        let mut name = OsString::from(".");
        name.push(path.file_name().unwrap_or_default());
        name.push(format!(".{}-{}.new", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed)));
        let new = path.with_file_name(name);
        match OpenOptions::new().write(true).create_new(true).open(&new) {
            // A process with this number was killed here.
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            created => return created.map(|file| (new, file)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    fn names(folder: &Path) -> usize {
        fs::read_dir(folder).unwrap().count()
    }

    #[test]
    fn a_file_is_replaced_with_its_permissions_and_a_link_stays() {
        let folder = tempfile::tempdir().unwrap();
        let (path, link) = (folder.path().join("file"), folder.path().join("link"));
        replace(&path, "new").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        symlink("file", &link).unwrap();
        let mut open = File::open(&path).unwrap();
        replace(&link, "newer").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "newer");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        let mut old = String::new();
        std::io::Read::read_to_string(&mut open, &mut old).unwrap();
        assert_eq!(old, "new", "who reads it has the whole old file");
        assert_eq!(names(folder.path()), 2);
    }

    #[test]
    fn a_pipe_is_written_to_if_somebody_reads_it() {
        let folder = tempfile::tempdir().unwrap();
        let fifo = folder.path().join("fifo");
        nix::unistd::mkfifo(&fifo, nix::sys::stat::Mode::S_IRWXU).unwrap();
        assert_eq!(replace(&fifo, "x").unwrap_err().to_string(), "it is a FIFO that nobody reads");
        // More than a pipe holds.
        let contents = vec![7; 1 << 20];
        let reader = std::thread::spawn({
            let fifo = fifo.clone();
            move || fs::read(fifo).unwrap()
        });
        while replace(&fifo, &contents).is_err_and(|error| error.kind() == ErrorKind::InvalidInput) {
            std::thread::yield_now();
        }
        assert_eq!(reader.join().unwrap(), contents);
    }

    #[test]
    fn what_cannot_be_written_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(replace(&folder.path().join("no/file"), "x").unwrap_err().kind(), ErrorKind::NotFound);
        assert!(replace(folder.path(), "x").is_err(), "a folder");
        fs::create_dir(folder.path().join("sub")).unwrap();
        assert!(replace(Path::new("/dev/null"), "x").is_ok(), "a device is written to");
        assert_eq!(names(folder.path()), 1);
    }
}
