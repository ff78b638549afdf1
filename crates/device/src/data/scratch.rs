//! The temporary folder of one run.

use crate::error::ScratchError;
use nix::fcntl::{Flock, FlockArg};
use nix::sys::statvfs::{FsFlags, statvfs};
use std::fs::File;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

const PREFIX: &str = "tunesmith-";
const LOCK: &str = "in-use";
/// The lock until it is held.
const NEW_LOCK: &str = "locking";

/// A folder for prepared data and compiled kernels, removed when dropped. Folders that killed runs
/// left behind are removed when the next one is made: whoever uses a folder holds a lock on a file
/// in it, which ends with the process.
#[derive(Debug)]
pub(crate) struct Scratch {
    folder: TempDir,
    _lock: Flock<File>,
}

impl Scratch {
    /// Makes a folder with room for `bytes` where programs may be run from: in memory (`/dev/shm`)
    /// when possible, because every restored buffer is read from here, else where temporary files
    /// go.
    pub(crate) fn create(bytes: u64) -> Result<Self, ScratchError> {
        let parents = [PathBuf::from("/dev/shm"), std::env::temp_dir()];
        let parent = parents.iter().find(|parent| suits(parent, bytes));
        let parent = parent.ok_or_else(|| ScratchError::NoRoom { bytes, parents: parents.to_vec() })?;
        remove_stale(parent);
        let cannot = |source| ScratchError::Io { parent: parent.clone(), source };
        let folder = tempfile::Builder::new().prefix(PREFIX).tempdir_in(parent).map_err(cannot)?;
        // Locked before it has the name by which others find it: until then they would take the
        // folder for a stale one.
        let hidden = folder.path().join(NEW_LOCK);
        let file = File::create(&hidden).map_err(cannot)?;
        let lock = Flock::lock(file, FlockArg::LockExclusiveNonblock).map_err(|(_, error)| cannot(error.into()))?;
        std::fs::rename(hidden, folder.path().join(LOCK)).map_err(cannot)?;
        Ok(Self { folder, _lock: lock })
    }

    /// Returns the folder.
    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// Returns whether `parent` has room for `bytes` and some compiled kernels, and maps executable
/// files.
fn suits(parent: &Path, bytes: u64) -> bool {
    const KERNELS: u64 = 16 << 20;
    statvfs(parent).is_ok_and(|system| {
        let free = system.blocks_available() * system.fragment_size();
        !system.flags().contains(FsFlags::ST_NOEXEC) && free >= bytes.saturating_add(KERNELS)
    })
}

/// Removes the folders of runs that have ended without doing so. What cannot be removed is someone
/// else's.
fn remove_stale(parent: &Path) {
    let entries = std::fs::read_dir(parent).into_iter().flatten().flatten();
    for folder in entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(PREFIX)) {
        let lock = File::open(folder.path().join(LOCK)).ok();
        let free = lock.and_then(|file| Flock::lock(file, FlockArg::LockExclusiveNonblock).ok());
        if free.is_some() {
            let _ = std::fs::remove_dir_all(folder.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_goes_with_its_run_and_a_stale_one_with_the_next() {
        let parent = tempfile::tempdir().unwrap();
        let stale = parent.path().join("tunesmith-stale");
        let used = parent.path().join("tunesmith-used");
        let foreign = parent.path().join("foreign");
        for folder in [&stale, &used, &foreign] {
            std::fs::create_dir(folder).unwrap();
            std::fs::write(folder.join(LOCK), "").unwrap();
        }
        let file = File::open(used.join(LOCK)).unwrap();
        let new = parent.path().join("tunesmith-new");
        std::fs::create_dir(&new).unwrap();
        std::fs::write(new.join(NEW_LOCK), "").unwrap();
        let _in_use = Flock::lock(file, FlockArg::LockExclusiveNonblock).unwrap();

        remove_stale(parent.path());

        assert!(!stale.exists());
        assert!(used.exists() && foreign.exists() && new.exists());
    }

    #[test]
    fn a_dropped_scratch_leaves_nothing() {
        let scratch = Scratch::create(1).unwrap();
        let path = scratch.path().to_owned();
        assert!(path.exists());
        drop(scratch);
        assert!(!path.exists());
    }

    #[test]
    fn too_much_data_is_refused_with_advice() {
        let message = Scratch::create(u64::MAX / 2).unwrap_err().to_string();
        assert!(message.contains("MiB free; set TMPDIR"), "{message}");
    }
}
