//! The files that a kernel is compiled from. They must stay as they were when the run read them: otherwise its journal
//! would hold the times of two kernels.

use crate::backends::compiling::IncludedFile;
use std::fs::Metadata;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use tunesmith_files::TEXT;
use tunesmith_kernel::DeviceError;
use tunesmith_kernel::data::Fields;

/// Files as they were read.
#[derive(Debug, Default)]
pub(crate) struct SourceFiles(Mutex<Vec<SourceFile>>);

#[derive(Debug)]
struct SourceFile {
    path: PathBuf,
    /// The most bytes that are read.
    most: u64,
    stamp: Stamp,
    digest: String,
}

/// The properties by which a file that was not written again is known without reading it.
#[derive(Debug, PartialEq, Eq)]
struct Stamp([i64; 5]);

impl Stamp {
    fn of(path: &Path) -> io::Result<Self> {
        let found: Metadata = std::fs::metadata(path)?;
        let (length, inode) = (found.len().cast_signed(), found.ino().cast_signed());
        Ok(Self([found.dev().cast_signed(), inode, length, found.mtime(), found.mtime_nsec()]))
    }
}

impl SourceFiles {
    /// Reads a file and remembers it.
    ///
    /// # Errors
    /// The file cannot be read.
    pub(crate) fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.read_up_to(path, TEXT)
    }

    /// Reads a file of at most `most` bytes, and remembers it.
    ///
    /// # Errors
    /// The file cannot be read.
    pub(crate) fn read_up_to(&self, path: &Path, most: u64) -> io::Result<Vec<u8>> {
        // Before the file is read: it may change meanwhile.
        let stamp = Stamp::of(path)?;
        let content = tunesmith_files::read(path, most)?;
        let file = SourceFile { path: path.to_owned(), most, stamp, digest: digest(&content) };
        let mut files = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        files.retain(|known| known.path != path);
        files.push(file);
        Ok(content)
    }

    /// Returns true if the file was read before, under this path or another one.
    pub(crate) fn knows(&self, path: &Path) -> bool {
        let stamp = Stamp::of(path).ok();
        let files = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        files.iter().any(|known| known.path == path || stamp.as_ref() == Some(&known.stamp))
    }

    /// Reads the files that texts include, directly or indirectly and under whatever condition, as far as they are
    /// found: in the folder of the file that includes them, or in one of `folders`. Each text comes with its folder.
    /// Returns paths and contents, each once.
    pub(crate) fn read_included(&self, texts: Vec<(String, PathBuf)>, folders: &[&Path]) -> Vec<(PathBuf, String)> {
        let (mut waiting, mut found) = (texts, Vec::<(PathBuf, String)>::new());
        while let Some((text, own)) = waiting.pop() {
            for name in text.lines().filter_map(|line| IncludedFile::read(line)?.name()) {
                let places = std::iter::once(own.as_path()).chain(folders.iter().copied());
                let path = places.map(|folder| folder.join(name)).find(|path| path.is_file());
                let Some(path) = path.filter(|path| found.iter().all(|(known, _)| known != path)) else { continue };
                let content = self.read(&path).ok().and_then(|content| String::from_utf8(content).ok());
                if let Some(content) = content {
                    let folder = path.parent().unwrap_or(Path::new(".")).to_owned();
                    waiting.push((content.clone(), folder));
                    found.push((path, content));
                }
            }
        }
        found
    }

    /// Refuses to go on if a file has another content than when it was read. `name` is the name that the user gave to a
    /// path. Costs one question about each file to the system; only what was written again is read.
    ///
    /// # Errors
    /// A file has changed.
    pub(crate) fn require_unchanged(&self, name: impl Fn(&Path) -> String) -> Result<(), DeviceError> {
        let mut files = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for file in files.iter_mut() {
            let now = Stamp::of(&file.path).ok();
            if now.as_ref() == Some(&file.stamp) {
                continue;
            }
            let content = tunesmith_files::read(&file.path, file.most);
            match (content, now) {
                (Ok(content), Some(now)) if digest(&content) == file.digest => file.stamp = now,
                _ => return Err(DeviceError::Machine { problem: changed(&name(&file.path)) }),
            }
        }
        Ok(())
    }
}

fn digest(content: &[u8]) -> String {
    let mut hash = Fields::default();
    hash.add(content);
    hash.digest()
}

fn changed(name: &str) -> String {
    format!(
        "`{name}` changed during the run, whose journal holds measurements of the file as it was; start a new run, or \
         restore the file and resume this one"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_content_is_noticed_and_the_same_content_written_again_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let (path, other) = (folder.path().join("k.c"), folder.path().join("other"));
        std::fs::write(&path, "int a;").unwrap();
        let files = SourceFiles::default();
        let check = || files.require_unchanged(|path| path.display().to_string());
        assert_eq!(files.read(&path).unwrap(), b"int a;");
        assert!(check().is_ok());
        // As an editor does that saves without a change.
        std::fs::write(&other, "int a;").unwrap();
        std::fs::rename(&other, &path).unwrap();
        assert!(check().is_ok() && check().is_ok());
        std::fs::write(&path, "int b;").unwrap();
        let error = check().unwrap_err().to_string();
        assert!(error.contains("k.c` changed during the run"), "{error}");
        std::fs::write(&path, "int a;").unwrap();
        assert!(check().is_ok());
        std::fs::remove_file(&path).unwrap();
        assert!(check().is_err());
    }
}
