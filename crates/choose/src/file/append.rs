//! Appends to a file of wisdom that other processes read and write at the same time.

use super::header::{FORMAT, WISDOM_VERSION, header};
use super::{WisdomError, line};
use crate::wisdom::Entry;
use serde_json::Value as Json;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::Path;

/// Appends `entries` to the file at `path` in our format. Creates the file if it does not exist.
///
/// Any number of processes may append at once: each holds the file's lock while it writes all of
/// its lines. If a killed process left the last line without its end, the line is ended first, so
/// that no other line is lost. Blocks while another process writes, which takes microseconds.
///
/// # Errors
/// The disk refused, or the file is not a file of wisdom.
pub fn append_wisdom(path: &Path, entries: &[Entry]) -> Result<(), WisdomError> {
    append(path, &entries.iter().map(|entry| format!("{}\n", line::entry(entry))).collect::<String>())
}

/// Appends `lines` of our format, as [`append_wisdom`] does.
pub(super) fn append(path: &Path, lines: &str) -> Result<(), WisdomError> {
    let io = |source| WisdomError::Io { path: path.to_path_buf(), source };
    let mut options = OpenOptions::new();
    let mut file = tunesmith_files::open_with(options.read(true).append(true).create(true), path).map_err(io)?;
    // Closing the file releases the lock, on every way out of this function.
    file.lock().map_err(io)?;
    let mut text = match Existing::of(&file).map_err(io)? {
        Existing::Nothing => format!("{}\n", header()),
        Existing::Wisdom { is_torn } => {
            if is_torn {
                "\n".to_string()
            } else {
                String::new()
            }
        }
        Existing::Later(version) => return Err(WisdomError::version(path, version)),
        Existing::Other => return Err(WisdomError::foreign(path, "its first line is not the header of our format")),
    };
    text.push_str(lines);
    file.write_all(text.as_bytes()).map_err(io)
}

/// The content that the file has already.
enum Existing {
    Nothing,
    Wisdom {
        /// True if the last line has no end.
        is_torn: bool,
    },
    Later(u64),
    Other,
}

impl Existing {
    fn of(mut file: &File) -> std::io::Result<Self> {
        if file.seek(SeekFrom::End(0))? == 0 {
            return Ok(Self::Nothing);
        }
        file.seek(SeekFrom::End(-1))?;
        let mut last = [0];
        file.read_exact(&mut last)?;
        file.seek(SeekFrom::Start(0))?;
        let mut first = Vec::new();
        // A header is short. A longer first line is not a header.
        BufReader::new(file).take(4096).read_until(b'\n', &mut first)?;
        let header: Json = serde_json::from_slice(&first).unwrap_or_default();
        if header.get("format").and_then(Json::as_str) != Some(FORMAT) {
            return Ok(Self::Other);
        }
        Ok(match header.get("version").and_then(Json::as_u64) {
            Some(version) if version <= WISDOM_VERSION => Self::Wisdom { is_torn: last != *b"\n" },
            version => Self::Later(version.unwrap_or(0)),
        })
    }
}
