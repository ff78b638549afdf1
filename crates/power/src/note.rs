//! The file of a device that is being steered: a lock against other runs, and a note of what must be
//! reset.
//!
//! The guard holds the lock as long as it lives. The system releases it when the guard ends, however
//! it ends. A note in a file without a lock is therefore left over from a guard that was killed.

use crate::device::ManagedDevice;
use rustix::process::geteuid;
use serde::{Deserialize, Serialize};
use std::fs::{self, DirBuilder, File, OpenOptions, Permissions, TryLockError};
use std::io::{self, ErrorKind, Read, Seek, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// A note: what to reset, and on which device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Note {
    pub(crate) device: ManagedDevice,
    /// The start of the machine since which the note holds. A later start has reset everything.
    pub(crate) boot: String,
    /// The process id of the guard that wrote the note.
    pub(crate) guard: u32,
    pub(crate) restore: Restore,
}

/// The way back to the state before a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Restore {
    /// True if the clock must be reset.
    pub(crate) clock: bool,
    /// The limit of power in watts that must be set again.
    pub(crate) power_limit_w: Option<f64>,
}

/// The file of one device, locked by this process.
#[derive(Debug)]
pub(crate) struct Claim {
    file: File,
    path: PathBuf,
}

/// The result of claiming a device.
#[derive(Debug)]
pub(crate) enum Claimed {
    /// The device is this process's. A note is left over from a guard that was killed.
    Free(Claim, Option<Note>),
    /// Another process steers the device.
    Held(Option<Note>),
}

/// Returns the folder of the files of all devices and users.
pub fn default_folder() -> PathBuf {
    // Where everybody may create files, the folder is gone after a restart of the machine, as are
    // the settings.
    let locks = Path::new("/run/lock");
    let is_everybodys = fs::metadata(locks).is_ok_and(|found| found.is_dir() && found.mode() & 0o002 != 0);
    if is_everybodys { locks.join("tunesmith") } else { PathBuf::from("/tmp/tunesmith-locks") }
}

/// Returns the name of this start of the machine. Empty if the system does not tell.
pub(crate) fn boot() -> String {
    tunesmith_files::system_text("/proc/sys/kernel/random/boot_id").unwrap_or_default().trim().to_owned()
}

/// Creates the folder, in which every user may create files and nobody may remove those of others.
fn create(folder: &Path) -> io::Result<()> {
    match DirBuilder::new().mode(0o1777).create(folder) {
        // The process's mask has taken rights away.
        Ok(()) => fs::set_permissions(folder, Permissions::from_mode(0o1777)),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    }
}

/// Maximum length of a note.
const MOST: u64 = 1 << 16;

/// Opens a file of the folder. A link that another user put there is not followed.
fn open(path: &Path, create: bool) -> io::Result<File> {
    tunesmith_files::open_in_shared(OpenOptions::new().read(true).write(true).create(create).mode(0o644), path)
}

/// Returns the note in a file. Only this user's notes and the administrator's count.
fn read(file: &mut File) -> Option<Note> {
    let owner = file.metadata().ok()?.uid();
    let mut text = String::new();
    file.rewind().ok()?;
    file.take(MOST).read_to_string(&mut text).ok()?;
    // A note that was cut while it was written belongs to a guard that had set nothing yet.
    let note: Note = serde_json::from_str(&text).ok()?;
    ((owner == geteuid().as_raw() || owner == 0) && note.boot == boot()).then_some(note)
}

/// Claims a device.
///
/// # Errors
/// The folder or the file cannot be written.
pub(crate) fn claim(folder: &Path, device: &ManagedDevice) -> io::Result<Claimed> {
    create(folder)?;
    claim_file(&folder.join(device.file_name()), true)
}

fn claim_file(path: &Path, create: bool) -> io::Result<Claimed> {
    loop {
        let mut file = open(path, create)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(Claimed::Held(read(&mut file))),
            Err(TryLockError::Error(error)) => return Err(error),
        }
        // The last owner may have removed the file after it was opened here. Its successor is another.
        let is_there = fs::symlink_metadata(path)
            .is_ok_and(|there| file.metadata().is_ok_and(|own| (own.dev(), own.ino()) == (there.dev(), there.ino())));
        if is_there {
            let note = read(&mut file);
            return Ok(Claimed::Free(Claim { file, path: path.to_owned() }, note));
        }
        if !create && !path.exists() {
            return Err(ErrorKind::NotFound.into());
        }
    }
}

impl Claim {
    /// Writes the note. It is on disk when this returns.
    pub(crate) fn write(&mut self, note: &Note) -> io::Result<()> {
        let text = serde_json::to_vec(note)?;
        self.file.set_len(0)?;
        self.file.rewind()?;
        self.file.write_all(&text)?;
        self.file.sync_all()
    }

    /// Removes the file, and gives the device back.
    pub(crate) fn release(self) {
        // A file that cannot be removed is emptied at least.
        if fs::remove_file(&self.path).is_err() {
            let _ = self.file.set_len(0);
        }
    }
}

/// Claims every device with a note that a killed guard left over.
pub(crate) fn left_over(folder: &Path) -> Vec<(Claim, Note)> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let claim = |path: PathBuf| match claim_file(&path, false).ok()? {
        Claimed::Free(claim, Some(note)) => Some((claim, note)),
        Claimed::Free(_, None) | Claimed::Held(_) => None,
    };
    paths.filter_map(claim).collect()
}

/// Returns true if the folder has a note. It costs no more than listing the folder.
pub(crate) fn any(folder: &Path) -> bool {
    let is_note =
        |entry: io::Result<fs::DirEntry>| entry.is_ok_and(|entry| entry.metadata().is_ok_and(|it| it.len() > 0));
    fs::read_dir(folder).is_ok_and(|mut entries| entries.any(is_note))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::Library;

    fn device() -> ManagedDevice {
        ManagedDevice { library: Library::Nvml, address: "0000:3B:00.0".to_owned(), name: "A GPU".to_owned() }
    }

    fn note() -> Note {
        let restore = Restore { clock: true, power_limit_w: Some(250.0) };
        Note { device: device(), boot: boot(), guard: 17, restore }
    }

    fn free(claimed: Claimed) -> (Claim, Option<Note>) {
        match claimed {
            Claimed::Free(claim, note) => (claim, note),
            Claimed::Held(note) => panic!("held: {note:?}"),
        }
    }

    #[test]
    fn a_device_is_claimed_once_and_free_again_afterwards() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("locks");
        let (mut claim_of_one, before) = free(claim(&folder, &device()).unwrap());
        assert_eq!(before, None);
        claim_of_one.write(&note()).unwrap();
        assert!(matches!(claim(&folder, &device()).unwrap(), Claimed::Held(Some(note)) if note.guard == 17));
        assert!(left_over(&folder).is_empty(), "its owner lives");
        claim_of_one.release();
        assert!(!any(&folder));
        free(claim(&folder, &device()).unwrap());
    }

    #[test]
    fn a_note_without_its_owner_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let (mut claimed, _) = free(claim(folder.path(), &device()).unwrap());
        claimed.write(&note()).unwrap();
        drop(claimed);
        assert!(any(folder.path()));
        let found = left_over(folder.path());
        assert_eq!(found.iter().map(|(_, note)| note.clone()).collect::<Vec<_>>(), [note()]);
        drop(found);
        assert_eq!(free(claim(folder.path(), &device()).unwrap()).1, Some(note()));
    }

    #[test]
    fn a_note_of_an_earlier_start_of_the_machine_and_a_cut_one_do_not_count() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(device().file_name());
        let old = Note { boot: "another".to_owned(), ..note() };
        let whole = serde_json::to_string(&note()).unwrap();
        for text in [serde_json::to_string(&old).unwrap(), whole[..whole.len() / 2].to_owned(), String::new()] {
            fs::write(&path, text).unwrap();
            assert!(left_over(folder.path()).is_empty());
            assert_eq!(free(claim(folder.path(), &device()).unwrap()).1, None);
        }
    }

    #[test]
    fn a_link_in_place_of_the_file_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("precious");
        fs::write(&target, "kept").unwrap();
        std::os::unix::fs::symlink(&target, folder.path().join(device().file_name())).unwrap();
        assert!(claim(folder.path(), &device()).is_err());
        assert_eq!(fs::read_to_string(target).unwrap(), "kept");
    }
}
