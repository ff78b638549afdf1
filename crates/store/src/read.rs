//! Reads journals.

use crate::{Again, Entry, FORMAT_VERSION, Header, StoreError, VerdictLine};
use serde::Deserialize;
use std::fs;
use std::path::Path;

/// The content of a journal.
#[derive(Clone, Debug, PartialEq)]
pub struct Recorded {
    /// Its first line.
    pub header: Header,
    /// Its evaluations, in the order made.
    pub entries: Vec<Entry>,
    /// The later measurements, in the order made.
    pub again: Vec<Again>,
    /// Number of [`again`](Self::again) lines before the last evaluation. A final among them is
    /// outdated.
    pub again_before_last: usize,
    /// The verdict, if a final re-measurement follows the last evaluation.
    pub verdict: Option<VerdictLine>,
    /// Its length in bytes without a last line that was cut short.
    pub complete_bytes: u64,
}

/// Reads the journal at `path`.
///
/// Drops a last line without its end: its run was killed while writing it. Any other line that is
/// not a journal's is an error that names the line.
pub fn read(path: &Path) -> Result<Recorded, StoreError> {
    let text = fs::read(path).map_err(|source| StoreError::Io { path: path.to_path_buf(), source })?;
    parse(path, &text)
}

/// Returns the journal in `text`, the content of `path`.
pub(crate) fn parse(path: &Path, text: &[u8]) -> Result<Recorded, StoreError> {
    let complete = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    let mut lines = text[..complete].split(|byte| *byte == b'\n').enumerate().filter(|(_, line)| !line.is_empty());
    let fail = |line: usize, reason: String| StoreError::Line { path: path.to_path_buf(), line: line + 1, reason };

    let (at, line) = lines.next().ok_or_else(|| fail(0, "the header is missing; this is no journal".to_string()))?;
    let header = parse_header(path, line).map_err(|error| error.unwrap_or_else(|reason| fail(at, reason)))?;
    let mut recorded = Recorded {
        header,
        entries: Vec::new(),
        again: Vec::new(),
        again_before_last: 0,
        verdict: None,
        complete_bytes: complete as u64,
    };
    for (at, line) in lines {
        recorded.add(line, at + 1).map_err(|error| fail(at, error.to_string()))?;
    }
    Ok(recorded)
}

/// The keys that tell the kinds of lines apart.
#[derive(Deserialize)]
struct Kind {
    again: Option<String>,
    winner: Option<String>,
}

impl Recorded {
    fn add(&mut self, text: &[u8], line: usize) -> Result<(), serde_json::Error> {
        let kind: Kind = serde_json::from_slice(text)?;
        if kind.winner.is_some() {
            self.verdict = Some(serde_json::from_slice(text)?);
        } else if kind.again.is_some() {
            let again: Again = serde_json::from_slice(text)?;
            self.again.push(Again { entry: Entry { line, ..again.entry }, ..again });
        } else {
            self.entries.push(Entry { line, ..serde_json::from_slice(text)? });
            self.again_before_last = self.again.len();
            self.verdict = None;
        }
        Ok(())
    }

    /// Returns the later measurements that are still valid: those of the reference, and the final
    /// re-measurement after the last evaluation.
    pub fn current(&self) -> impl Iterator<Item = &Again> {
        let is_current = |(at, again): &(usize, &Again)| *at >= self.again_before_last || again.again == REFERENCE;
        self.again.iter().enumerate().filter(is_current).map(|(_, again)| again)
    }
}

/// The word of [`Role::Reference`](tunesmith_core::Role::Reference).
const REFERENCE: &str = "reference";

/// Returns the header. Fails with either a complete error or the reason why the line is not a
/// header.
fn parse_header(path: &Path, line: &[u8]) -> Result<Header, Result<StoreError, String>> {
    let json: serde_json::Value = serde_json::from_slice(line)
        .map_err(|error| Err(format!("no journal, which `tunesmith tune` writes (.jsonl): {error}")))?;
    // Checks the version first: the header of a later version may not parse as ours.
    let format = json.get("format").and_then(serde_json::Value::as_u64);
    match format.and_then(|format| u32::try_from(format).ok()) {
        None => Err(Err("no journal: the first line has no format version".to_string())),
        Some(found) if found > FORMAT_VERSION => {
            Err(Ok(StoreError::Version { path: path.to_path_buf(), found, known: FORMAT_VERSION }))
        }
        Some(_) => serde_json::from_value(json).map_err(|error| Err(format!("header: {error}"))),
    }
}
