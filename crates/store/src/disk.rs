//! The disk that journals lie on.

use std::fmt::Debug;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, BufRead, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// A disk. Journals touch files only through it, so that a simulation can let every access fail.
pub trait Disk {
    /// Creates the file at `path`. Fails with [`AlreadyExists`](io::ErrorKind::AlreadyExists) if
    /// there is one.
    fn create_new(&self, path: &Path) -> io::Result<Box<dyn DiskFile>>;

    /// Opens the file at `path`, which exists.
    fn open(&self, path: &Path) -> io::Result<Box<dyn DiskFile>>;
}

/// An open file that is read as a whole and written only at its end.
pub trait DiskFile: Debug + Send {
    /// Locks the file against other processes, until it is closed. Returns `false` if another
    /// process holds the lock.
    fn try_lock(&self) -> io::Result<bool>;

    /// Returns the content.
    fn read(&mut self) -> io::Result<Vec<u8>>;

    /// Returns a reader of the content from its beginning.
    fn lines(&mut self) -> io::Result<Box<dyn BufRead + '_>> {
        Ok(Box::new(io::Cursor::new(self.read()?)))
    }

    /// Creates another file on the same disk, like [`Disk::create_new`].
    fn create_beside(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        let _ = path;
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Writes all of `bytes` at the end. The bytes then survive the death of this process. After an
    /// error, the file may hold any part of them.
    fn append(&mut self, bytes: &[u8]) -> io::Result<()>;

    /// Makes everything appended so far survive the death of the machine, too.
    fn sync(&mut self) -> io::Result<()>;

    /// Cuts the file off after `length` bytes.
    fn truncate(&mut self, length: u64) -> io::Result<()>;

    /// Returns the length of the file, or `None` if the file at its path is another one or missing.
    fn length_at_path(&self) -> io::Result<Option<u64>>;
}

/// The disk of the operating system.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemDisk;

/// A file of the operating system.
#[derive(Debug)]
struct SystemFile {
    path: PathBuf,
    file: File,
    /// True once the entry of the file in its folder is synced.
    is_entered: bool,
}

impl SystemDisk {
    fn open_with(options: &mut OpenOptions, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        let file = tunesmith_files::open_with(options.read(true).append(true), path)?;
        Ok(Box::new(SystemFile { path: path.to_path_buf(), file, is_entered: false }))
    }
}

impl Disk for SystemDisk {
    fn create_new(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        Self::open_with(OpenOptions::new().create_new(true), path)
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        Self::open_with(&mut OpenOptions::new(), path)
    }
}

impl DiskFile for SystemFile {
    fn try_lock(&self) -> io::Result<bool> {
        match self.file.try_lock() {
            Ok(()) => Ok(true),
            Err(TryLockError::WouldBlock) => Ok(false),
            Err(TryLockError::Error(source)) => Err(source),
        }
    }

    fn read(&mut self) -> io::Result<Vec<u8>> {
        let mut content = Vec::new();
        self.file.seek(SeekFrom::Start(0))?;
        self.file.read_to_end(&mut content)?;
        Ok(content)
    }

    fn lines(&mut self) -> io::Result<Box<dyn BufRead + '_>> {
        self.file.seek(SeekFrom::Start(0))?;
        Ok(Box::new(io::BufReader::with_capacity(1 << 18, &self.file)))
    }

    fn create_beside(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        SystemDisk.create_new(path)
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.file.sync_data()?;
        if !self.is_entered {
            let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty());
            let synced = File::open(folder.unwrap_or(Path::new("."))).and_then(|folder| folder.sync_all());
            // Some file systems cannot sync a folder, and a folder need not be readable.
            let cannot = {
                use io::ErrorKind::{InvalidInput, PermissionDenied, Unsupported};
                [InvalidInput, PermissionDenied, Unsupported]
            };
            synced.or_else(|error| if cannot.contains(&error.kind()) { Ok(()) } else { Err(error) })?;
            self.is_entered = true;
        }
        Ok(())
    }

    fn truncate(&mut self, length: u64) -> io::Result<()> {
        self.file.set_len(length)
    }

    fn length_at_path(&self) -> io::Result<Option<u64>> {
        let own = self.file.metadata()?;
        match fs::metadata(&self.path) {
            Ok(found) => Ok(((found.dev(), found.ino()) == (own.dev(), own.ino())).then_some(own.len())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_was_deleted_or_replaced_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.jsonl");
        let mut file = SystemDisk.create_new(&path).unwrap();
        file.append(b"line\n").unwrap();
        assert_eq!(file.length_at_path().unwrap(), Some(5));
        fs::remove_file(&path).unwrap();
        assert_eq!(file.length_at_path().unwrap(), None);
        fs::write(&path, "other\n").unwrap();
        assert_eq!(file.length_at_path().unwrap(), None);
    }

    #[test]
    fn appending_goes_on_behind_what_a_cut_left() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.jsonl");
        fs::write(&path, "one\ntwo\nthr").unwrap();
        let mut file = SystemDisk.open(&path).unwrap();
        assert_eq!(file.read().unwrap(), b"one\ntwo\nthr");
        file.truncate(8).unwrap();
        file.append(b"three\n").unwrap();
        assert_eq!(file.read().unwrap(), b"one\ntwo\nthree\n");
        file.sync().unwrap();
    }
}
