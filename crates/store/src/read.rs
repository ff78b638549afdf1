//! Reading journals.

use crate::{Entry, FORMAT_VERSION, Header, StoreError};
use std::fs;
use std::path::Path;

/// A journal as it stands on disk.
#[derive(Clone, Debug, PartialEq)]
pub struct Recorded {
    /// Its first line.
    pub header: Header,
    /// Its evaluations, in the order made.
    pub entries: Vec<Entry>,
    /// Its length in bytes without a last line that was cut short.
    pub complete_bytes: u64,
}

/// Reads the journal at `path`.
///
/// A last line without its end is dropped: its run was killed while writing it. Anything else that is no journal
/// line is an error naming the line.
pub fn read(path: &Path) -> Result<Recorded, StoreError> {
    let text = fs::read(path).map_err(|source| StoreError::Io { path: path.to_path_buf(), source })?;
    let complete = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    let mut lines = text[..complete].split(|byte| *byte == b'\n').enumerate().filter(|(_, line)| !line.is_empty());
    let fail = |line: usize, reason: String| StoreError::Line { path: path.to_path_buf(), line: line + 1, reason };

    let (at, line) = lines.next().ok_or_else(|| fail(0, "the header is missing; this is no journal".to_string()))?;
    let header = parse_header(path, line).map_err(|error| error.unwrap_or_else(|reason| fail(at, reason)))?;
    let entries: Result<Vec<Entry>, StoreError> =
        lines.map(|(at, line)| serde_json::from_slice(line).map_err(|error| fail(at, error.to_string()))).collect();
    Ok(Recorded { header, entries: entries?, complete_bytes: complete as u64 })
}

/// The header, or either a finished error or the reason why the line is none.
fn parse_header(path: &Path, line: &[u8]) -> Result<Header, Result<StoreError, String>> {
    let json: serde_json::Value = serde_json::from_slice(line).map_err(|error| Err(format!("no journal: {error}")))?;
    // The version first: the header of a later version may not parse as ours.
    let format = json.get("format").and_then(serde_json::Value::as_u64);
    match format.and_then(|format| u32::try_from(format).ok()) {
        None => Err(Err("no journal: the first line has no format version".to_string())),
        Some(found) if found > FORMAT_VERSION => {
            Err(Ok(StoreError::Version { path: path.to_path_buf(), found, known: FORMAT_VERSION }))
        }
        Some(_) => serde_json::from_value(json).map_err(|error| Err(format!("header: {error}"))),
    }
}
