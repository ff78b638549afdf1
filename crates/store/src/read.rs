//! Reads journals.

use crate::entries::{Brief, Collector, Glance, GlanceLine, check_measured, is_line};
use crate::plain::Plain;
use crate::sum::{self, Seal};
use crate::{Again, Entries, Entry, FORMAT_VERSION, Header, LimitKind, Repeated, Second, StoreError, VerdictLine};
use memchr::memchr;
use serde::Deserialize;
use serde::de::IgnoredAny;
use std::io::{self, BufRead};
use std::path::Path;
use tunesmith_core::Role;

/// The content of a journal, with every evaluation in full.
pub type Recorded = RecordedOf<Vec<Entry>>;

/// The content of a journal, with its evaluations in brief.
pub type Outline = RecordedOf<Entries>;

/// The content of a journal, with its evaluations as `E`.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedOf<E> {
    /// Its first line.
    pub header: Header,
    /// Its evaluations, in the order made.
    pub entries: E,
    /// The later measurements, in the order made.
    pub again: Vec<Again>,
    /// Number of [`again`](Self::again) lines before the last evaluation. A final among them is
    /// outdated.
    pub again_before_last: usize,
    /// The verdict, if a final re-measurement follows the last evaluation.
    pub verdict: Option<VerdictLine>,
    /// Its length in bytes without a last line that was cut short.
    pub complete_bytes: u64,
    /// Number of evaluations that are copies of an earlier line. They are ignored.
    pub copies: usize,
    /// Evaluations that contradict an earlier line. They are ignored.
    pub conflicts: Vec<Repeated>,
    /// Number of second answers of a fleet ([`Second`](crate::Second)). They do not count.
    pub seconds: usize,
}

/// Reads the journal at `path`.
///
/// Drops a last line without its end: its run was killed while writing it. Any other line that is
/// not a journal's, or whose checksum does not match, is an error that names the line.
pub fn read(path: &Path) -> Result<Recorded, StoreError> {
    parse(path, read_text(path)?)
}

/// Reads the journal at `path` like [`read`], its evaluations in brief.
pub fn read_brief(path: &Path) -> Result<RecordedOf<Entries>, StoreError> {
    parse_brief(path, read_text(path)?)
}

fn read_text(path: &Path) -> Result<Vec<u8>, StoreError> {
    tunesmith_files::read(path, tunesmith_files::RECORD).map_err(|source| io_error(path, source))
}

/// Reads the first line of the journal at `path`.
///
/// # Errors
/// The file cannot be read, or its first line is not a journal's.
pub fn read_header(path: &Path) -> Result<Header, StoreError> {
    let file = tunesmith_files::open(path).map_err(|source| io_error(path, source))?;
    Ok(Scan::begin(path, &mut io::BufReader::new(file))?.header)
}

/// Returns the journal in `text`, the content of `path`.
fn parse(path: &Path, text: Vec<u8>) -> Result<Recorded, StoreError> {
    let RecordedOf { header, entries, again, again_before_last, verdict, complete_bytes, copies, conflicts, seconds } =
        parse_brief(path, text)?;
    let entries = entries.iter().collect::<Result<_, StoreError>>()?;
    Ok(Recorded { header, entries, again, again_before_last, verdict, complete_bytes, copies, conflicts, seconds })
}

/// Returns the journal in `text`, the content of `path`, its evaluations in brief.
pub(crate) fn parse_brief(path: &Path, text: Vec<u8>) -> Result<Outline, StoreError> {
    let mut collector = Collector::new();
    let (mut again, mut again_before_last, mut verdict, mut seconds) = (Vec::new(), 0, None, 0);
    let mut content = text.as_slice();
    let scan = Scan::begin(path, &mut content)?;
    let header = scan.header.clone();
    let complete_bytes = scan.rest(|line, kind| {
        match kind {
            Kind::Evaluation => {
                let brief = line.brief()?;
                let replaced = collector.replace_unfinished(&text, brief, line.text);
                if replaced.is_none() {
                    collector.add(brief, |first| is_line(&text, first, line.text));
                }
                // What was cut is measured to its end after the final, whose failures stay.
                if replaced != Some(LimitKind::Cut) {
                    again_before_last = again.len();
                    verdict = None;
                }
            }
            Kind::Again => again.push(line.again()?),
            Kind::Verdict => verdict = Some(line.parse()?),
            Kind::Second => seconds += 1,
        }
        Ok(())
    })?;
    let (copies, conflicts) = (collector.copies, std::mem::take(&mut collector.conflicts));
    let entries = collector.finish(path, text);
    Ok(RecordedOf { header, entries, again, again_before_last, verdict, complete_bytes, copies, conflicts, seconds })
}

impl<E> RecordedOf<E> {
    /// Returns the later measurements that are still valid: those that hold for the whole run, and
    /// the final re-measurement after the last evaluation.
    pub fn current(&self) -> impl Iterator<Item = &Again> {
        current(&self.again, self.again_before_last)
    }

    /// Returns what a reader should know about the journal at `path`, a sentence each.
    pub fn warnings(&self, path: &Path) -> Vec<String> {
        warnings(path, self.copies, &self.conflicts)
    }
}

/// Returns those of `again` that are still valid, if `before_last` of them precede the last
/// evaluation.
pub(crate) fn current(again: &[Again], before_last: usize) -> impl Iterator<Item = &Again> {
    let is_current =
        move |(at, again): &(usize, &Again)| *at >= before_last || again.role().is_some_and(Role::outlives_evaluations);
    again.iter().enumerate().filter(is_current).map(|(_, again)| again)
}

/// Number of contradictions that warnings name.
const NAMED: usize = 3;

/// Returns the warnings of a journal with repeated evaluations.
pub(crate) fn warnings(path: &Path, copies: usize, conflicts: &[Repeated]) -> Vec<String> {
    let path = path.display();
    let copied =
        (copies > 0).then(|| format!("journal `{path}`: {copies} lines are copies of earlier ones and ignored"));
    let named = conflicts.iter().take(NAMED).map(|Repeated { first, again }| {
        format!("journal `{path}`, line {again}: it contradicts line {first} about the same configuration; line {first} counts")
    });
    let further = conflicts.len().saturating_sub(NAMED);
    let further = (further > 0).then(|| format!("journal `{path}`: {further} more lines contradict earlier ones"));
    copied.into_iter().chain(named).chain(further).collect()
}

/// A complete line.
pub(crate) struct Line<'a> {
    /// Its number, counted from 1.
    pub(crate) number: usize,
    /// Its place in the file, in bytes.
    pub(crate) start: u64,
    /// Its text without the line break.
    pub(crate) text: &'a [u8],
    /// The state of its checksum.
    pub(crate) seal: Seal,
}

/// The kind of a line after the header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Evaluation,
    Again,
    Verdict,
    Second,
}

/// A journal whose header was read.
pub(crate) struct Scan<'a> {
    pub(crate) header: Header,
    path: &'a Path,
    lines: Lines<'a>,
}

impl<'a> Scan<'a> {
    /// Reads the header of the journal at `path`.
    pub(crate) fn begin(path: &'a Path, from: &'a mut dyn BufRead) -> Result<Self, StoreError> {
        let mut lines = Lines { from, number: 0, end: 0, given: 0, buffer: Vec::new() };
        let missing = || line_error(path, 1, "the header is missing; this is no journal".to_string());
        let line = lines.next().map_err(|source| io_error(path, source))?.ok_or_else(missing)?;
        if line.seal == Seal::Broken {
            return Err(line_error(path, line.number, DAMAGED.to_string()));
        }
        let header = parse_header(path, line.text);
        let header = header.map_err(|error| error.unwrap_or_else(|reason| line_error(path, line.number, reason)))?;
        Ok(Self { header, path, lines })
    }

    /// Returns the place behind the lines read so far.
    pub(crate) fn place(&self) -> Place {
        Place { lines: self.lines.number, bytes: self.lines.end }
    }

    /// Gives each complete line after the header to `each`. Returns the length of all complete
    /// lines.
    ///
    /// A line with an intact checksum is as this program wrote it. Every field of another line is
    /// checked.
    pub(crate) fn rest(
        mut self,
        mut each: impl FnMut(&Line<'_>, Kind) -> Result<(), String>,
    ) -> Result<u64, StoreError> {
        while let Some(line) = self.lines.next().map_err(|source| io_error(self.path, source))? {
            let read = line.kind().and_then(|kind| each(&line, kind));
            read.map_err(|reason| line_error(self.path, line.number, reason))?;
        }
        Ok(self.lines.end)
    }
}

/// A place between two lines of a journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// Number of lines before it.
    pub(crate) lines: usize,
    /// Number of bytes before it.
    pub(crate) bytes: u64,
}

impl Place {
    /// Gives the complete lines that follow to `each`, at most `most` of them, and moves behind them.
    /// `from` begins at this place of the journal at `path`. Returns true if more lines may follow.
    ///
    /// A line that is an error stays in front of the place.
    pub(crate) fn advance(
        &mut self,
        path: &Path,
        from: &mut dyn BufRead,
        most: usize,
        mut each: impl FnMut(&Line<'_>, Kind) -> Result<(), String>,
    ) -> Result<bool, StoreError> {
        let mut lines = Lines { from, number: self.lines, end: self.bytes, given: 0, buffer: Vec::new() };
        for _ in 0..most {
            let Some(line) = lines.next().map_err(|source| io_error(path, source))? else { return Ok(false) };
            let read = line.kind().and_then(|kind| each(&line, kind));
            read.map_err(|reason| line_error(path, line.number, reason))?;
            *self = Self { lines: lines.number, bytes: lines.end };
        }
        Ok(true)
    }
}

pub(crate) fn io_error(path: &Path, source: io::Error) -> StoreError {
    StoreError::Io { path: path.to_path_buf(), source }
}

fn line_error(path: &Path, line: usize, reason: String) -> StoreError {
    StoreError::Line { path: path.to_path_buf(), line, reason }
}

const DAMAGED: &str = "the line does not match its checksum: it was damaged or edited; restore it from a copy, or remove \
                       the line (of an edited line, remove its `sum`)";

/// Reads complete lines that are not empty.
struct Lines<'a> {
    from: &'a mut dyn BufRead,
    number: usize,
    /// The end of the last complete line.
    end: u64,
    /// Number of bytes at the beginning of `from` that were given to the caller.
    given: usize,
    /// A line that `from` did not hold as a whole.
    buffer: Vec<u8>,
}

impl Lines<'_> {
    /// Returns the next line, or `None` at the end or at a line without its end.
    fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        loop {
            self.from.consume(std::mem::take(&mut self.given));
            let start = self.end;
            let held = memchr(b'\n', self.from.fill_buf()?);
            let length = match held {
                Some(length) => length,
                None => match self.gather()? {
                    Some(length) => length,
                    None => return Ok(None),
                },
            };
            self.number += 1;
            self.end += length as u64 + 1;
            self.given = held.map_or(0, |length| length + 1);
            if length > 0 {
                // What was held is held still: nothing was consumed since.
                let whole = if held.is_some() { self.from.fill_buf()? } else { &self.buffer };
                let text = &whole[..length];
                return Ok(Some(Line { number: self.number, start, text, seal: sum::check(text) }));
            }
        }
    }

    /// Copies a line into the buffer. Returns its length, or `None` if it has no end.
    fn gather(&mut self) -> io::Result<Option<usize>> {
        self.buffer.clear();
        self.from.read_until(b'\n', &mut self.buffer)?;
        Ok((self.buffer.pop() == Some(b'\n')).then_some(self.buffer.len()))
    }
}

/// The keys that tell the kinds of lines apart.
#[derive(Deserialize)]
struct Keys {
    #[serde(default)]
    again: Option<IgnoredAny>,
    #[serde(default)]
    winner: Option<IgnoredAny>,
    #[serde(default)]
    second: Option<IgnoredAny>,
}

impl Line<'_> {
    /// Reads the line as `T`.
    pub(crate) fn parse<'a, T: Deserialize<'a>>(&'a self) -> Result<T, String> {
        serde_json::from_slice(self.text).map_err(|error| error.to_string())
    }

    fn kind(&self) -> Result<Kind, String> {
        if self.seal == Seal::Broken {
            return Err(DAMAGED.to_string());
        }
        // An evaluation's first field, as this program writes it.
        if self.seal == Seal::Intact && self.text.starts_with(b"{\"index\":") {
            return Ok(Kind::Evaluation);
        }
        let Keys { again, winner, second } = self.parse()?;
        match (winner, again, second) {
            (Some(_), ..) => Ok(Kind::Verdict),
            (None, Some(_), _) => Ok(Kind::Again),
            (None, None, Some(_)) => self.parse::<Second>().map(|_| Kind::Second),
            (None, None, None) => self.parse::<Entry>().map(|_| Kind::Evaluation),
        }
    }

    /// Returns the fields of an intact line of an evaluation, if it is as this program writes it.
    pub(crate) fn plain(&self) -> Option<Plain<'_>> {
        Some(self).filter(|line| line.seal == Seal::Intact).and_then(|line| Plain::of(line.text))
    }

    /// Reads the line of an evaluation at a glance.
    pub(crate) fn glance(&self) -> Result<Glance, String> {
        match self.plain().and_then(Glance::plain) {
            Some(glance) => Ok(glance),
            None => self.parse::<GlanceLine<'_>>()?.glance(),
        }
    }

    /// Reads the line of an evaluation in brief.
    fn brief(&self) -> Result<Brief, String> {
        self.glance()?.brief(self.number, self.start, self.seal == Seal::Intact)
    }

    /// Reads the line of a later measurement.
    pub(crate) fn again(&self) -> Result<Again, String> {
        let again: Again = self.parse()?;
        check_measured(&again.entry.times_ms, again.entry.warmup_ms)?;
        Ok(Again { entry: Entry { line: self.number, ..again.entry }, ..again })
    }
}

/// Returns the header. Fails with either a complete error or the reason why the line is not a
/// header.
fn parse_header(path: &Path, line: &[u8]) -> Result<Header, Result<StoreError, String>> {
    let json: serde_json::Value = serde_json::from_slice(line)
        .map_err(|error| Ok(StoreError::NotAJournal { path: path.to_path_buf(), reason: error.to_string() }))?;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_the_same_however_little_of_them_the_reader_holds() {
        let text = b"one\n\nsecond line\nx\n\n\na longer third line\nthe last one has no end";
        let expected = [(1, 0, "one"), (3, 5, "second line"), (4, 17, "x"), (7, 21, "a longer third line")];
        for capacity in 1..=text.len() {
            let mut reader = io::BufReader::with_capacity(capacity, &text[..]);
            let mut lines = Lines { from: &mut reader, number: 0, end: 0, given: 0, buffer: Vec::new() };
            for (number, start, text) in expected {
                let line = lines.next().unwrap().unwrap();
                assert_eq!((line.number, line.start, line.text), (number, start, text.as_bytes()), "{capacity} bytes");
            }
            assert!(lines.next().unwrap().is_none());
            assert_eq!(lines.end, 41);
        }
    }
}
