//! A disk in memory that fails as disks do.

use super::world::World;
use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tunesmith_store::{Disk, DiskFile};

/// The disk. Clones share its files.
#[derive(Clone, Debug)]
pub(super) struct MemoryDisk {
    world: Arc<World>,
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    files: BTreeMap<PathBuf, Arc<Mutex<Content>>>,
    ills: Ills,
    accesses: u64,
    /// Number of requests for the status of a file.
    asked: u64,
}

/// The faults of a disk. Accesses are counted from 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Ills {
    /// Every access with a number divisible by this fails.
    pub(super) every: Option<u64>,
    /// This access fails.
    pub(super) at: Option<u64>,
    /// A failing write leaves a part of its bytes behind.
    pub(super) tears: bool,
    /// The disk holds no more bytes than this.
    pub(super) room: Option<usize>,
    /// Before the status of a file is asked for the given time, someone else treats it so.
    pub(super) meddling: Option<(u64, Meddling)>,
}

/// A deed of someone else to the open files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meddling {
    /// He deletes them.
    Deletes,
    /// He cuts them in the middle.
    Cuts,
}

#[derive(Debug, Default)]
struct Content {
    bytes: Vec<u8>,
    is_locked: bool,
    /// Number of bytes that survive a loss of power.
    synced: usize,
}

/// A file whatever its path. Two values are equal if they are the same file.
#[derive(Clone, Debug)]
pub(super) struct SameFile(Arc<Mutex<Content>>);

impl PartialEq for SameFile {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// An open file.
#[derive(Debug)]
struct OpenFile {
    path: PathBuf,
    disk: MemoryDisk,
    content: Arc<Mutex<Content>>,
    owns_lock: Mutex<bool>,
}

impl MemoryDisk {
    /// Creates an empty disk.
    pub(super) fn new(world: &Arc<World>) -> Self {
        Self { world: Arc::clone(world), state: Arc::default() }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives the disk other faults, and counts its accesses from 1 again.
    pub(super) fn ail(&self, ills: Ills) {
        let mut state = self.lock();
        (state.ills, state.accesses, state.asked) = (ills, 0, 0);
    }

    /// Returns the number of accesses since the disk got its faults.
    pub(super) fn accesses(&self) -> u64 {
        self.lock().accesses
    }

    /// Returns the content of a file. Nothing fails, and no step is taken: this is the eye of the
    /// checks.
    pub(super) fn look(&self, path: &Path) -> Option<Vec<u8>> {
        let state = self.lock();
        Some(locked(state.files.get(path)?).bytes.clone())
    }

    /// Calls `look` with the content of a file from byte `from` on.
    pub(super) fn look_from<T>(&self, path: &Path, from: usize, look: impl FnOnce(&[u8]) -> T) -> Option<T> {
        let state = self.lock();
        Some(look(locked(state.files.get(path)?).bytes.get(from..)?))
    }

    /// Returns the file that now has this path. A new file may come to the path of a deleted one.
    pub(super) fn file(&self, path: &Path) -> Option<SameFile> {
        self.lock().files.get(path).map(|content| SameFile(Arc::clone(content)))
    }

    /// Returns the paths of all files.
    pub(super) fn paths(&self) -> Vec<PathBuf> {
        self.lock().files.keys().cloned().collect()
    }

    /// Loses power: of what was not synced, a part is left.
    pub(super) fn lose_power(&self) {
        let share = usize::try_from(self.world.throw(|dice| dice.below(101))).unwrap_or_default();
        for file in self.lock().files.values() {
            let mut content = locked(file);
            let synced = content.synced.min(content.bytes.len());
            let left = synced + (content.bytes.len() - synced) * share / 100;
            content.bytes.truncate(left);
            content.synced = left;
        }
    }

    /// Takes an access. Fails if it is one that fails.
    fn access(&self, what: &str) -> io::Result<()> {
        self.world.step(what);
        let mut state = self.lock();
        state.accesses += 1;
        let number = state.accesses;
        let fails = state.ills.at == Some(number) || state.ills.every.is_some_and(|every| number.is_multiple_of(every));
        if fails && !std::thread::panicking() {
            self.world.tell(|| format!("the disk fails to {what}, access {number}"));
            return Err(io::Error::other("input/output error"));
        }
        Ok(())
    }

    /// Lets someone else treat the files, if it is time.
    fn meddle(&self) {
        let mut state = self.lock();
        state.asked += 1;
        match state.ills.meddling.filter(|(at, _)| *at == state.asked) {
            Some((_, Meddling::Deletes)) => state.files.clear(),
            Some((_, Meddling::Cuts)) => state.files.values().for_each(|file| {
                let mut content = locked(file);
                let half = content.bytes.len() / 2;
                content.bytes.truncate(half);
            }),
            None => {}
        }
    }

    /// Writes what fits. The tuner may die between the first and the last byte.
    fn write(&self, content: &Mutex<Content>, bytes: &[u8]) -> io::Result<()> {
        let failed = self.access("write").err();
        let ills = self.lock().ills;
        let used: usize = self.lock().files.values().map(|file| locked(file).bytes.len()).sum();
        let fits = ills.room.map_or(bytes.len(), |room| room.saturating_sub(used).min(bytes.len()));
        let part = fits * usize::try_from(self.world.throw(|dice| dice.below(101))).unwrap_or_default() / 100;
        let written = match &failed {
            None => fits,
            Some(_) if ills.tears => part,
            Some(_) => 0,
        };
        let first = part.min(written);
        locked(content).bytes.extend(&bytes[..first]);
        self.world.step("write on");
        locked(content).bytes.extend(&bytes[first..written]);
        self.world.step("have written");
        match failed {
            Some(error) => Err(error),
            None if written < bytes.len() => Err(ErrorKind::StorageFull.into()),
            None => Ok(()),
        }
    }

    fn opened(&self, path: &Path, content: Arc<Mutex<Content>>) -> Box<dyn DiskFile> {
        Box::new(OpenFile { path: path.to_path_buf(), disk: self.clone(), content, owns_lock: Mutex::new(false) })
    }
}

fn locked(content: &Mutex<Content>) -> MutexGuard<'_, Content> {
    content.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Disk for MemoryDisk {
    fn create_new(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        self.access("create")?;
        let content = Arc::<Mutex<Content>>::default();
        if self.lock().files.contains_key(path) {
            return Err(ErrorKind::AlreadyExists.into());
        }
        self.lock().files.insert(path.to_path_buf(), Arc::clone(&content));
        Ok(self.opened(path, content))
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        self.access("open")?;
        let content = self.lock().files.get(path).cloned().ok_or(ErrorKind::NotFound)?;
        Ok(self.opened(path, content))
    }
}

impl DiskFile for OpenFile {
    fn try_lock(&self) -> io::Result<bool> {
        self.disk.access("lock")?;
        let mut content = locked(&self.content);
        if content.is_locked {
            return Ok(false);
        }
        content.is_locked = true;
        *self.owns_lock.lock().unwrap_or_else(PoisonError::into_inner) = true;
        Ok(true)
    }

    fn read(&mut self) -> io::Result<Vec<u8>> {
        self.disk.access("read")?;
        Ok(locked(&self.content).bytes.clone())
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.disk.write(&self.content, bytes)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.disk.access("sync")?;
        let mut content = locked(&self.content);
        content.synced = content.bytes.len();
        Ok(())
    }

    fn truncate(&mut self, length: u64) -> io::Result<()> {
        self.disk.access("truncate")?;
        locked(&self.content).bytes.truncate(usize::try_from(length).unwrap_or(usize::MAX));
        Ok(())
    }

    fn create_beside(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        self.disk.create_new(path)
    }

    fn length_at_path(&self) -> io::Result<Option<u64>> {
        self.disk.access("status")?;
        self.disk.meddle();
        let found = self.disk.lock().files.get(&self.path).cloned();
        let own = found.filter(|found| Arc::ptr_eq(found, &self.content));
        Ok(own.map(|content| locked(&content).bytes.len() as u64))
    }
}

impl Drop for OpenFile {
    fn drop(&mut self) {
        if *self.owns_lock.lock().unwrap_or_else(PoisonError::into_inner) {
            locked(&self.content).is_locked = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;
    use tunesmith_core::{Evaluation, Measurement, Request, Store};
    use tunesmith_space::{Parameter, Space, Values};
    use tunesmith_store::Journal;

    #[test]
    fn a_loss_of_power_leaves_what_was_synced_and_a_journal_that_continues() {
        let values = Values::list(0..20_i64);
        let space = Space::builder().parameter(Parameter::new("X", values).unwrap()).build().unwrap();
        let evaluation = |rank: u128| Evaluation {
            request: Request::timed(space.id(rank).unwrap()),
            failure: None,
            measurement: Measurement { times_ms: vec![1.0], ..Measurement::default() },
            clock: Duration::from_secs(1),
            proposed: None,
        };
        let (header, path) = (Journal::header(&space), Path::new("run.jsonl"));
        let mut left = Vec::new();
        for seed in 0..40 {
            let disk = MemoryDisk::new(&World::new(seed, false));
            let mut journal = Journal::create_on(&disk, path, &header, &space).unwrap();
            (0..5).for_each(|rank| journal.append(&evaluation(rank)).unwrap());
            journal.sync().unwrap();
            (5..9).for_each(|rank| journal.append(&evaluation(rank)).unwrap());
            drop(journal);
            disk.lose_power();
            let (_, resumed) = Journal::resume_on(&disk, path, &header, &space).unwrap();
            left.push(resumed.evaluations.len());
        }
        assert!(left.iter().all(|left| (5..=9).contains(left)) && left.iter().any(|left| *left < 9), "{left:?}");
    }
}
