//! Copies entries of the problem's folder.

use super::is_missing;
use super::scan::Kind;
use rustix::fs::ioctl_ficlone;
use std::fs::{File, FileTimes, Metadata, OpenOptions, Permissions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// The age of compiled files in seconds after 1970: the year 1980. They are older than their sources,
/// so that `make` makes them again. The problem's folder may hold those of another configuration.
const OLD: Duration = Duration::from_secs(315_532_800);

/// Copies `from` to `to`. `moved` returns the target of an absolute link in the copy. An entry that
/// no longer exists is left out.
///
/// # Errors
/// The entry cannot be copied, for example because the disk is full.
pub(super) fn copy(kind: &Kind, from: &Path, to: &Path, moved: impl Fn(&Path) -> PathBuf) -> io::Result<()> {
    let copied = match kind {
        Kind::Folder => copy_folder(from, to),
        Kind::File { is_compiled } => copy_file(from, to, *is_compiled),
        Kind::LargeFile => clone_file(from, to).or_else(|_| link(from, to)),
        Kind::Symlink => match std::fs::read_link(from) {
            // A file has taken the place of the link.
            Err(error) if error.kind() == ErrorKind::InvalidInput => copy_file(from, to, false),
            target => target.and_then(|target| symlink(moved(&target), to)),
        },
        Kind::Link => link(from, to),
    };
    match copied {
        // Files come and go in a user's folder.
        Err(error) if is_missing(&error) && std::fs::symlink_metadata(from).is_err() => Ok(()),
        Err(error) if is_missing(&error) && to.parent().is_none_or(|parent| !parent.exists()) => Ok(()),
        Err(error) => Err(io::Error::new(error.kind(), format!("{}: {error}", from.display()))),
        Ok(()) => Ok(()),
    }
}

/// Makes a folder that its user may write, whatever the original's mode.
fn copy_folder(from: &Path, to: &Path) -> io::Result<()> {
    let mode = std::fs::metadata(from)?.permissions().mode() & 0o777;
    std::fs::create_dir(to)?;
    std::fs::set_permissions(to, Permissions::from_mode(mode | 0o700))
}

fn copy_file(from: &Path, to: &Path, is_compiled: bool) -> io::Result<()> {
    let mut source = match tunesmith_files::open(from) {
        // A file that nobody may read can be named all the same.
        Err(error) if error.kind() == ErrorKind::PermissionDenied => return link(from, to),
        opened => opened?,
    };
    let metadata = source.metadata()?;
    let mut copy = create(to)?;
    io::copy(&mut source, &mut copy)?;
    finish(&copy, &metadata, is_compiled)
}

/// Shares the bytes of a file with its copy, until one of them is written. Few file systems can.
fn clone_file(from: &Path, to: &Path) -> io::Result<()> {
    let source = tunesmith_files::open(from)?;
    let copy = create(to)?;
    let cloned = ioctl_ficlone(&copy, &source).map_err(io::Error::from);
    let cloned = cloned.and_then(|()| finish(&copy, &source.metadata()?, false));
    if cloned.is_err() {
        std::fs::remove_file(to)?;
    }
    cloned
}

fn create(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}

/// Gives a copy the mode and the time of its original.
fn finish(copy: &File, original: &Metadata, is_compiled: bool) -> io::Result<()> {
    let modified = if is_compiled { SystemTime::UNIX_EPOCH + OLD } else { original.modified()? };
    copy.set_times(FileTimes::new().set_accessed(modified).set_modified(modified))?;
    copy.set_permissions(Permissions::from_mode(original.permissions().mode() & 0o777))
}

fn link(from: &Path, to: &Path) -> io::Result<()> {
    symlink(from, to)
}
