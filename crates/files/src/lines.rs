//! Files that grow line by line.

use crate::{open_with, read_text};
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Result, Write as _};
use std::path::{Path, PathBuf};

/// A file to which whole lines are added. A program that is killed leaves at most one line that was
/// cut short, and the next one to open the file drops it.
#[derive(Debug)]
pub struct LineFile {
    path: PathBuf,
    file: File,
}

impl LineFile {
    /// Opens the file at `path`, or creates it. Returns it with its complete lines, a text of at
    /// most `most` bytes.
    ///
    /// # Errors
    /// As [`read_text`](crate::read_text) and [`open_with`](crate::open_with). A missing file is no
    /// error.
    pub fn open(path: &Path, most: u64) -> Result<(Self, String)> {
        let mut text = match read_text(path, most) {
            Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
            text => text?,
        };
        text.truncate(text.rfind('\n').map_or(0, |end| end + 1));
        let file = open_with(OpenOptions::new().create(true).append(true), path)?;
        file.set_len(text.len() as u64)?;
        Ok((Self { path: path.to_owned(), file }, text))
    }

    /// Returns the path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Adds `line`, which has no line break.
    ///
    /// # Errors
    /// The disk failed.
    pub fn append(&mut self, line: &str) -> Result<()> {
        self.file.write_all(format!("{line}\n").as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DATA;

    #[test]
    fn a_line_that_was_cut_short_is_dropped_and_others_follow_the_complete_ones() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lines");
        let (mut file, text) = LineFile::open(&path, DATA).unwrap();
        assert_eq!(text, "");
        file.append("one").unwrap();
        file.append("two").unwrap();
        std::fs::write(&path, "one\ntw").unwrap();
        let (mut file, text) = LineFile::open(&path, DATA).unwrap();
        assert_eq!(text, "one\n");
        file.append("three").unwrap();
        assert_eq!(std::fs::read_to_string(file.path()).unwrap(), "one\nthree\n");
    }

    #[test]
    fn a_fifo_is_refused_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lines");
        nix::unistd::mkfifo(&path, nix::sys::stat::Mode::S_IRWXU).unwrap();
        assert_eq!(LineFile::open(&path, DATA).unwrap_err().kind(), ErrorKind::InvalidInput);
    }
}
