//! The temporary folder of one run.

use crate::error::ScratchError;
use nix::sys::statvfs::{FsFlags, statvfs};
use rustix::fs::{AtFlags, CWD, FileType, FlockOperation, Mode, OFlags, Stat, flock, fstat, openat, statat, unlinkat};
use rustix::io::Errno;
use rustix::process::geteuid;
use std::fs::{File, Permissions};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tunesmith_core::{Clock, SystemClock};
use tunesmith_files::remove_tree;

/// The folder of shared memory.
pub const SHARED_MEMORY: &str = "/dev/shm";

const PREFIX: &str = "tunesmith-";
const LOCK: &str = "in-use";
/// The name of the lock file until the lock is held.
const NEW_LOCK: &str = "locking";

/// The folders in which runs may keep their files, best first.
#[derive(Clone, Debug)]
pub struct Places(Vec<PathBuf>);

impl Places {
    /// Returns the folder that the user named (`TMPDIR`), memory (`/dev/shm`), because every restored
    /// buffer is read from there, and the usual place of temporary files.
    pub fn new(named: Option<&Path>) -> Self {
        let usual = [PathBuf::from(SHARED_MEMORY), std::env::temp_dir(), PathBuf::from("/tmp")];
        let mut places: Vec<PathBuf> = Vec::new();
        for place in named.map(Path::to_owned).into_iter().chain(usual) {
            if !places.contains(&place) {
                places.push(place);
            }
        }
        Self(places)
    }

    /// Returns the places that are not beneath `folder`.
    pub fn outside(&self, folder: &Path) -> Self {
        let is_outside = |place: &&PathBuf| !place.canonicalize().is_ok_and(|path| path.starts_with(folder));
        Self(self.0.iter().filter(is_outside).cloned().collect())
    }
}

/// A folder for prepared data and compiled kernels, or for the files of a problem, which only this user may enter.
/// Dropping this value removes it. Creating a folder also removes the folders that killed runs left behind. A run
/// holds a lock on a file in its folder, and the lock ends with the process.
#[derive(Debug)]
pub struct Scratch {
    path: PathBuf,
    /// The process that made the folder. A process that was forked from it leaves the folder alone.
    creator: u32,
    /// Closing this file unlocks it only if no other process has inherited it.
    _lock: File,
}

impl Scratch {
    /// Creates a folder with room for `bytes`, in the first of `places` that has the room, can be
    /// written, and allows programs to run.
    pub fn create(bytes: u64, places: &Places) -> Result<Self, ScratchError> {
        let mut refused = Vec::new();
        for parent in &places.0 {
            match Self::create_in(parent, bytes) {
                Ok(scratch) => return Ok(scratch),
                Err(reason) => refused.push((parent.clone(), reason)),
            }
        }
        Err(ScratchError::NoPlace { bytes, refused })
    }

    /// Creates a folder in `parent`, for files of unknown size.
    ///
    /// # Errors
    /// The folder cannot be made.
    pub fn beneath(parent: &Path) -> io::Result<Self> {
        remove_stale(parent);
        Self::make(parent)
    }

    fn create_in(parent: &Path, bytes: u64) -> Result<Self, String> {
        // Compilers and their options get the names of files beneath.
        if parent.to_str().is_none() {
            return Err("has a name that is no text".to_owned());
        }
        check_room(parent, bytes)?;
        remove_stale(parent);
        let made = Self::make(parent).and_then(|made| made.try_to_write().map(|()| made));
        made.map_err(|error| format!("cannot be written: {error}"))
    }

    fn make(parent: &Path) -> io::Result<Self> {
        let own = Permissions::from_mode(0o700);
        let folder = tempfile::Builder::new().prefix(PREFIX).permissions(own).tempdir_in(parent)?;
        // The file is locked before it gets its final name. Otherwise another run could take the
        // folder for a stale one.
        let hidden = folder.path().join(NEW_LOCK);
        let lock = tunesmith_files::create(&hidden)?;
        flock(&lock, FlockOperation::NonBlockingLockExclusive)?;
        std::fs::rename(hidden, folder.path().join(LOCK))?;
        Ok(Self { path: folder.keep(), creator: std::process::id(), _lock: lock })
    }

    /// Writes a file and removes it. A quota or a full disk shows only so.
    fn try_to_write(&self) -> io::Result<()> {
        let trial = self.path.join("trial");
        tunesmith_files::write(&trial, [0; 4096])?;
        std::fs::remove_file(&trial)
    }

    /// Returns the folder's path.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if self.creator == std::process::id() {
            // What remains belongs to another user, or a file system is mounted there. The next run
            // tries again.
            let _ = remove_tree(&self.path);
        }
    }
}

/// Returns true if `path` is the folder of a run.
pub fn is_scratch(path: &Path) -> bool {
    let is_named = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(PREFIX));
    is_named && path.join(LOCK).is_file()
}

/// Returns the reason if `parent` lacks room for `bytes` and some compiled kernels, or forbids
/// executable mappings.
fn check_room(parent: &Path, bytes: u64) -> Result<(), String> {
    const KERNELS: u64 = 16 << 20;
    let system = statvfs(parent).map_err(|error| format!("cannot be used: {}", io::Error::from(error)))?;
    let free = system.blocks_available() * system.fragment_size();
    if system.flags().contains(FsFlags::ST_NOEXEC) {
        return Err("does not allow programs to run (`noexec`)".to_owned());
    }
    if free < bytes.saturating_add(KERNELS) {
        return Err(format!("has {} MiB free", free >> 20));
    }
    Ok(())
}

/// Removes the folders of runs that ended without removing them.
fn remove_stale(parent: &Path) {
    let entries = std::fs::read_dir(parent).into_iter().flatten().flatten();
    for folder in entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(PREFIX)) {
        // A folder that cannot be opened or removed harms nobody.
        let _ = remove_if_stale(&folder.path());
    }
}

/// Removes the folder of a run if nobody holds its lock. Never waits, follows no link, and leaves
/// folders of other users.
fn remove_if_stale(path: &Path) -> io::Result<()> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let folder = openat(CWD, path, flags | OFlags::DIRECTORY, Mode::empty())?;
    let found = fstat(&folder)?;
    if found.st_uid != geteuid().as_raw() {
        return Ok(());
    }
    let Some((_lock, locked)) = take_lock(&folder, LOCK)? else { return remove_unfinished(path, &folder, &found) };
    // Meanwhile another run may have removed the folder and made one of the same name.
    let is_same = |one: Stat, other: &Stat| (one.st_dev, one.st_ino) == (other.st_dev, other.st_ino);
    let is_still = is_same(statat(CWD, path, AtFlags::SYMLINK_NOFOLLOW)?, &found)
        && is_same(statat(&folder, LOCK, AtFlags::SYMLINK_NOFOLLOW)?, &locked);
    if is_still { remove_tree(path) } else { Ok(()) }
}

/// Locks a regular file of `folder`. Returns `None` if there is none.
///
/// # Errors
/// Another process holds the lock.
fn take_lock(folder: &OwnedFd, name: &str) -> io::Result<Option<(OwnedFd, Stat)>> {
    // Opening a device can have an effect, so that it is looked at first.
    let is_file = |stat: &Stat| FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile;
    match statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(there) if is_file(&there) => {}
        Ok(_) | Err(Errno::NOENT) => return Ok(None),
        Err(error) => return Err(error.into()),
    }
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let lock: OwnedFd = openat(folder, name, flags, Mode::empty())?;
    let found = fstat(&lock)?;
    if !is_file(&found) {
        return Ok(None);
    }
    flock(&lock, FlockOperation::NonBlockingLockExclusive)?;
    Ok(Some((lock, found)))
}

/// Removes the folder of a run that was killed before it held its lock: one that nobody has changed for a minute, and
/// that holds nothing but the file that was to become the lock.
fn remove_unfinished(path: &Path, folder: &OwnedFd, found: &Stat) -> io::Result<()> {
    const PATIENCE: Duration = Duration::from_secs(60);
    let changed = Duration::from_secs(u64::try_from(found.st_mtime).unwrap_or_default());
    let names = std::fs::read_dir(path)?.map(|entry| Ok(entry?.file_name())).collect::<io::Result<Vec<_>>>()?;
    if SystemClock::new().unix() < changed + PATIENCE || names.iter().any(|name| name != NEW_LOCK) {
        return Ok(());
    }
    if let Some(_lock) = take_lock(folder, NEW_LOCK)? {
        unlinkat(folder, NEW_LOCK, AtFlags::empty())?;
    }
    // This fails if anything else has come meanwhile.
    std::fs::remove_dir(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use nix::sys::stat::Mode;
    use nix::unistd::mkfifo;
    use std::os::unix::fs::{chown, symlink};
    use std::sync::Barrier;

    /// Makes the folder of a run. Nobody holds its lock.
    fn stale(parent: &Path, name: &str) -> PathBuf {
        let folder = parent.join(name);
        std::fs::create_dir(&folder).unwrap();
        std::fs::write(folder.join(LOCK), "").unwrap();
        folder
    }

    #[test]
    fn a_folder_goes_with_its_run_and_a_stale_one_with_the_next() {
        let parent = tempfile::tempdir().unwrap();
        let names = ["tunesmith-stale", "tunesmith-used", "foreign"];
        let [stale, used, foreign] = names.map(|name| stale(parent.path(), name));
        let new = parent.path().join("tunesmith-new");
        std::fs::create_dir(&new).unwrap();
        std::fs::write(new.join(NEW_LOCK), "").unwrap();
        let in_use = File::open(used.join(LOCK)).unwrap();
        flock(&in_use, FlockOperation::NonBlockingLockExclusive).unwrap();

        remove_stale(parent.path());

        assert!(!stale.exists());
        assert!(used.exists() && foreign.exists() && new.exists());
    }

    #[test]
    fn a_folder_whose_run_was_killed_before_its_lock_goes_after_a_while() {
        let parent = tempfile::tempdir().unwrap();
        let made = |name: &str, files: &[&str], age: u64| {
            let folder = parent.path().join(name);
            std::fs::create_dir(&folder).unwrap();
            files.iter().for_each(|file| std::fs::write(folder.join(file), "").unwrap());
            let then = SystemClock::new().unix() - Duration::from_secs(age);
            File::open(&folder).unwrap().set_modified(std::time::UNIX_EPOCH + then).unwrap();
            folder
        };
        let gone = [made("tunesmith-empty", &[], 90), made("tunesmith-new", &[NEW_LOCK], 90)];
        let kept = [
            made("tunesmith-young", &[NEW_LOCK], 5),
            made("tunesmith-users", &["notes"], 90),
            made("tunesmith-both", &[NEW_LOCK, "notes"], 90),
            made("tunesmith-held", &[NEW_LOCK], 90),
        ];
        let lock = File::open(kept[3].join(NEW_LOCK)).unwrap();
        flock(&lock, FlockOperation::NonBlockingLockExclusive).unwrap();
        remove_stale(parent.path());
        assert_eq!(gone.map(|folder| folder.exists()), [false; 2]);
        assert!(
            kept.iter().all(|folder| folder.exists() && std::fs::read_dir(folder).unwrap().count() > 0),
            "{kept:?}"
        );
    }

    #[test]
    fn a_dropped_scratch_leaves_nothing() {
        let scratch = Scratch::create(1, &Places::new(None)).unwrap();
        let path = scratch.path().to_owned();
        assert!(path.exists());
        drop(scratch);
        assert!(!path.exists());
    }

    #[test]
    fn only_its_user_may_enter_a_scratch() {
        let scratch = Scratch::create(1, &Places::new(None)).unwrap();
        assert_eq!(std::fs::metadata(scratch.path()).unwrap().permissions().mode() & 0o777, 0o700);
    }

    #[test]
    fn the_folder_that_the_user_named_comes_first_if_it_can_be_used() {
        let named = tempfile::tempdir().unwrap();
        let scratch = Scratch::create(1, &Places::new(Some(named.path()))).unwrap();
        assert_eq!(scratch.path().parent(), Some(named.path()));
        let missing = named.path().join("missing");
        let elsewhere = Scratch::create(1, &Places::new(Some(&missing))).unwrap();
        assert_ne!(elsewhere.path().parent(), Some(missing.as_path()));
    }

    #[test]
    fn a_place_can_be_avoided_whatever_leads_to_it() {
        let parent = tempfile::tempdir().unwrap();
        let avoided = parent.path().canonicalize().unwrap().join("avoided");
        std::fs::create_dir(&avoided).unwrap();
        let link = parent.path().join("link");
        symlink(&avoided, &link).unwrap();
        let places = Places::new(Some(&link)).outside(&avoided);
        assert!(!places.0.contains(&link) && places.0.contains(&PathBuf::from(SHARED_MEMORY)));
    }

    #[test]
    fn too_much_data_is_refused_with_advice() {
        let places = Places::new(Some(Path::new("/no/such/folder")));
        let message = Scratch::create(u64::MAX / 2, &places).unwrap_err().to_string();
        assert!(message.contains("`/no/such/folder` cannot be used: No such file"), "{message}");
        assert!(message.contains("MiB free; set TMPDIR"), "{message}");
    }

    #[test]
    fn planted_fifos_links_and_folders_neither_stop_a_run_nor_go() {
        let parent = tempfile::tempdir().unwrap();
        let plant = |name: &str| {
            let folder = parent.path().join(name);
            std::fs::create_dir(&folder).unwrap();
            folder
        };
        let fifo = plant("tunesmith-fifo");
        mkfifo(&fifo.join(LOCK), Mode::S_IRWXU).unwrap();
        mkfifo(&parent.path().join("tunesmith-pipe"), Mode::S_IRWXU).unwrap();
        let device = plant("tunesmith-device");
        symlink("/dev/zero", device.join(LOCK)).unwrap();
        let nested = plant("tunesmith-nested");
        std::fs::create_dir(nested.join(LOCK)).unwrap();
        let target = stale(parent.path(), "target");
        symlink(&target, parent.path().join("tunesmith-link")).unwrap();

        let places = Places(vec![parent.path().to_owned()]);
        drop(Scratch::create(1, &places).unwrap());

        assert!(fifo.exists() && device.exists() && nested.exists() && target.join(LOCK).exists());
    }

    #[test]
    #[allow(clippy::print_stderr)] // tells why a test is skipped
    fn a_folder_of_another_user_stays() {
        if !geteuid().is_root() {
            eprintln!("skipped: only root can make a folder of another user");
            return;
        }
        let parent = tempfile::tempdir().unwrap();
        let foreign = stale(parent.path(), "tunesmith-foreign");
        chown(&foreign, Some(65534), Some(65534)).unwrap();
        remove_stale(parent.path());
        assert!(foreign.exists());
    }

    #[test]
    fn a_forked_process_neither_removes_the_folder_nor_gives_its_lock_away() {
        let parent = tempfile::tempdir().unwrap();
        let places = Places(vec![parent.path().to_owned()]);
        let scratch = Scratch::create(1, &places).unwrap();
        let creator = scratch.creator + 1;
        drop(Scratch { path: scratch.path.clone(), creator, _lock: scratch._lock.try_clone().unwrap() });
        remove_stale(parent.path());
        assert!(scratch.path().exists());
    }

    /// Folders come, go and are swept by fifty runs at once. Stale ones lie among them.
    #[test]
    fn fifty_runs_at_once_keep_their_folders() {
        let parent = tempfile::tempdir().unwrap();
        let places = Places(vec![parent.path().to_owned()]);
        let together = Barrier::new(50);
        std::thread::scope(|scope| {
            for run in 0..50 {
                let (places, together) = (&places, &together);
                scope.spawn(move || {
                    together.wait();
                    for round in 0..10 {
                        let scratch = Scratch::create(1, places).unwrap();
                        let file = scratch.path().join("data");
                        std::fs::write(&file, [run]).unwrap();
                        stale(&places.0[0], &format!("tunesmith-stale-{run}-{round}"));
                        remove_stale(&places.0[0]);
                        assert_eq!(std::fs::read(&file).unwrap(), [run], "run {run} lost its folder");
                    }
                });
            }
        });
        remove_stale(parent.path());
        assert_eq!(std::fs::read_dir(parent.path()).unwrap().count(), 0);
    }
}
