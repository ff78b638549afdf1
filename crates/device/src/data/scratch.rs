//! The temporary folder of one run.

use crate::error::ScratchError;
use nix::fcntl::{Flock, FlockArg};
use nix::sys::statvfs::{FsFlags, statvfs};
use std::fs::File;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

const PREFIX: &str = "tunesmith-";
const LOCK: &str = "in-use";
/// The name of the lock file until the lock is held.
const NEW_LOCK: &str = "locking";

/// A folder for prepared data and compiled kernels. Dropping this value removes it. Creating a
/// folder also removes the folders that killed runs left behind. A run holds a lock on a file in
/// its folder, and the lock ends with the process.
#[derive(Debug)]
pub(crate) struct Scratch {
    folder: TempDir,
    _lock: Flock<File>,
}

impl Scratch {
    /// Creates a folder with room for `bytes`, on a file system that allows programs to run.
    /// Prefers memory (`/dev/shm`), because every restored buffer is read from here, to the usual
    /// place of temporary files.
    pub(crate) fn create(bytes: u64) -> Result<Self, ScratchError> {
        let parents = [PathBuf::from("/dev/shm"), std::env::temp_dir()];
        let parent = parents.iter().find(|parent| suits(parent, bytes));
        let parent = parent.ok_or_else(|| ScratchError::NoRoom { bytes, parents: parents.to_vec() })?;
        remove_stale(parent);
        let cannot = |source| ScratchError::Io { parent: parent.clone(), source };
        let folder = tempfile::Builder::new().prefix(PREFIX).tempdir_in(parent).map_err(cannot)?;
        // The file is locked before it gets its final name. Otherwise another run could take the
        // folder for a stale one.
        let hidden = folder.path().join(NEW_LOCK);
        let file = File::create(&hidden).map_err(cannot)?;
        let lock = Flock::lock(file, FlockArg::LockExclusiveNonblock).map_err(|(_, error)| cannot(error.into()))?;
        std::fs::rename(hidden, folder.path().join(LOCK)).map_err(cannot)?;
        Ok(Self { folder, _lock: lock })
    }

    /// Returns the folder's path.
    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// Returns true if `parent` has room for `bytes` and some compiled kernels, and allows executable
/// mappings.
fn suits(parent: &Path, bytes: u64) -> bool {
    const KERNELS: u64 = 16 << 20;
    statvfs(parent).is_ok_and(|system| {
        let free = system.blocks_available() * system.fragment_size();
        !system.flags().contains(FsFlags::ST_NOEXEC) && free >= bytes.saturating_add(KERNELS)
    })
}

/// Removes the folders of runs that ended without removing them. A folder that cannot be removed
/// belongs to someone else.
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
