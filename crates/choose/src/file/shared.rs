//! A file of wisdom that several processes extend at the same time.

use super::{Flawed, WisdomError, WisdomFile, append, line, parse};
use crate::wisdom::{Attempt, Entry};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Maximum length of the lines that wait for a file that cannot be written. Later ones are lost.
const MOST_UNWRITTEN: usize = 1 << 20;

/// A file of wisdom that this process extends, and reads on where others extended it.
#[derive(Debug)]
pub(crate) struct SharedFile {
    path: PathBuf,
    /// The end of what was read.
    position: u64,
    /// The number of lines before `position`.
    lines: usize,
    /// The identity of the file that was read. Another program may replace it by a new one.
    identity: (u64, u64),
    /// The lines that could not be written yet.
    unwritten: String,
}

impl SharedFile {
    pub(crate) fn new(path: PathBuf) -> Self {
        Self { path, position: 0, lines: 0, identity: (0, 0), unwritten: String::new() }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns what the file has gained since the last call, our own lines among it. It is nothing
    /// if the file does not exist.
    ///
    /// # Errors
    /// The errors of [`read_wisdom`](super::read_wisdom).
    pub(crate) fn news(&mut self) -> Result<WisdomFile, WisdomError> {
        let io = |source| WisdomError::Io { path: self.path.clone(), source };
        match std::fs::metadata(&self.path) {
            Ok(there) if (there.dev(), there.ino()) == self.identity && there.len() == self.position => {
                return Ok(WisdomFile::default());
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(WisdomFile::default()),
            _ => {}
        }
        let file = tunesmith_files::open(&self.path).map_err(io)?;
        let metadata = file.metadata().map_err(io)?;
        let identity = (metadata.dev(), metadata.ino());
        if identity != self.identity || metadata.len() < self.position {
            (self.identity, self.position, self.lines) = (identity, 0, 0);
        }
        let bytes = read_from(&file, self.position).map_err(io)?;
        if self.position == 0 { self.read_whole(&bytes) } else { Ok(self.read_on(&bytes)) }
    }

    fn read_whole(&mut self, bytes: &[u8]) -> Result<WisdomFile, WisdomError> {
        // An empty file is one that another process is about to begin.
        if bytes.is_empty() {
            return Ok(WisdomFile::default());
        }
        let read = parse(&self.path, bytes)?;
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        // A last line without its end is read again when it has one: it then says the same or more.
        self.advance(&bytes[..whole]);
        Ok(read)
    }

    fn read_on(&mut self, bytes: &[u8]) -> WisdomFile {
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let mut news = WisdomFile::default();
        for (at, text) in bytes[..whole].split(|byte| *byte == b'\n').enumerate() {
            if text.trim_ascii().is_empty() {
                continue;
            }
            if let Err(reason) = line::read(text, &mut news.wisdom) {
                news.flawed.push(Flawed { line: self.lines + at + 1, reason });
            }
        }
        self.advance(&bytes[..whole]);
        news
    }

    fn advance(&mut self, read: &[u8]) {
        self.position += read.len() as u64;
        self.lines += read.iter().filter(|byte| **byte == b'\n').count();
    }

    /// Appends an entry, and everything that could not be written before.
    ///
    /// # Errors
    /// The disk refused, or the file is not a file of wisdom. The entry is written later.
    pub(crate) fn write_entry(&mut self, entry: &Entry) -> Result<(), WisdomError> {
        self.write(&line::entry(entry).to_string())
    }

    /// Appends an attempt, as [`write_entry`](Self::write_entry) appends an entry.
    ///
    /// # Errors
    /// As [`write_entry`](Self::write_entry).
    pub(crate) fn write_attempt(&mut self, attempt: &Attempt) -> Result<(), WisdomError> {
        self.write(&line::attempt(attempt).to_string())
    }

    fn write(&mut self, line: &str) -> Result<(), WisdomError> {
        if self.unwritten.len() < MOST_UNWRITTEN {
            self.unwritten.push_str(line);
            self.unwritten.push('\n');
        }
        append::append(&self.path, &self.unwritten)?;
        self.unwritten.clear();
        Ok(())
    }
}

fn read_from(mut file: &File, position: u64) -> std::io::Result<Vec<u8>> {
    file.seek(SeekFrom::Start(position))?;
    let mut bytes = Vec::new();
    file.take(tunesmith_files::DATA).read_to_end(&mut bytes)?;
    Ok(bytes)
}
