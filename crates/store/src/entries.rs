//! The evaluations of a journal, kept as its text with what is asked for most.

use crate::plain::{self, Plain};
use crate::{Entry, LimitKind, StoreError};
use hashbrown::HashTable;
use memchr::{memchr, memmem};
use serde::Deserialize;
use serde_json::{Map, Value as Json};
use std::borrow::Cow;
use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::path::{Path, PathBuf};
use tunesmith_core::{Cut, Depth, FailureKind, statistics};

/// The evaluations of a journal, each request once, in the order made.
///
/// Holds the file's text and a [`Brief`] of each evaluation. Everything else is read from the text
/// again when it is asked for. A million evaluations thus need little more memory than their file.
#[derive(Clone, Debug, PartialEq)]
pub struct Entries {
    path: PathBuf,
    text: Vec<u8>,
    briefs: Vec<Brief>,
}

/// The part of an evaluation that ranks and counts need.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Brief {
    /// The rank of the configuration in the space of the header's digest.
    pub index: u128,
    /// The samples in brief, if the configuration is correct and has any.
    pub times: Option<Times>,
    /// Seconds since the start of the run.
    pub clock: f64,
    /// The kind of failure, or `None` if the configuration is correct.
    pub failure: Option<FailureKind>,
    /// The depth of the evaluation.
    pub depth: Depth,
    /// The line of the file, counted from 1.
    pub line: u32,
    /// True if the line's checksum is intact.
    intact: bool,
    /// The place of the line in the file, in bytes.
    start: u64,
}

/// The samples of a correct evaluation in brief.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Times {
    /// Their median in milliseconds.
    pub median_ms: f64,
    /// The lower end of the 95 % interval of the median in milliseconds.
    pub lowest_ms: f64,
}

impl Brief {
    /// Returns the median of the samples in milliseconds, if the configuration is correct.
    pub fn time_ms(&self) -> Option<f64> {
        self.times.map(|times| times.median_ms)
    }
}

impl Entries {
    /// Returns the number of evaluations.
    pub fn len(&self) -> usize {
        self.briefs.len()
    }

    /// Returns true if there is no evaluation.
    pub fn is_empty(&self) -> bool {
        self.briefs.is_empty()
    }

    /// Returns the evaluations in brief.
    pub fn briefs(&self) -> &[Brief] {
        &self.briefs
    }

    /// Returns the evaluation at position `at` in full. Costs reading its line.
    ///
    /// # Errors
    /// The line has a field of another kind than journals have, or there is no such position.
    pub fn get(&self, at: usize) -> Result<Entry, StoreError> {
        let fail = |line: u32, reason| StoreError::Line { path: self.path.clone(), line: line as usize, reason };
        let Some(brief) = self.briefs.get(at) else {
            return Err(fail(0, format!("there is no evaluation {at}")));
        };
        let entry: Entry = serde_json::from_slice(line_at(&self.text, brief.start))
            .map_err(|error| fail(brief.line, error.to_string()))?;
        Ok(Entry { line: brief.line as usize, ..entry })
    }

    /// Returns the position of the first evaluation of `config`, or `None` if it was not evaluated.
    /// Costs a look at the beginning of every line.
    pub fn find(&self, config: &Map<String, Json>) -> Option<usize> {
        // As this program writes it.
        let text = Json::from(config.clone()).to_string();
        let is_it = |at: &usize| match self.config_of(&self.briefs[*at]) {
            Some(rest) => rest.starts_with(text.as_bytes()) && matches!(rest.get(text.len()), Some(b',')),
            None => self.get(*at).is_ok_and(|entry| entry.config == *config),
        };
        (0..self.briefs.len()).find(is_it)
    }

    /// Returns the samples of the evaluation at position `at` in milliseconds. Costs reading them.
    ///
    /// # Errors
    /// As of [`get`](Self::get).
    pub fn times(&self, at: usize) -> Result<Vec<f64>, StoreError> {
        match self.briefs.get(at).and_then(|brief| self.config_of(brief)).and_then(times_of) {
            Some(times) => Ok(times),
            None => self.get(at).map(|entry| entry.times_ms),
        }
    }

    /// Returns the note on the measurement of the evaluation at position `at`, if it is correct and
    /// has one. Costs a look at its line, and reading a line with a message.
    ///
    /// # Errors
    /// As of [`get`](Self::get).
    pub fn note(&self, at: usize) -> Result<Option<String>, StoreError> {
        let brief = self.briefs.get(at).filter(|brief| brief.failure.is_none());
        let line = brief.map(|brief| line_at(&self.text, brief.start));
        match line.and_then(|line| memmem::find(line, b"\"message\"")) {
            // A parameter may have the name as well.
            Some(_) => Ok(self.get(at)?.message),
            None => Ok(None),
        }
    }

    /// Returns the positions of the evaluations that limits from the best time ended, ascending, each with its limit.
    /// Costs a look at the lines of those that failed, and reading a line with a limit.
    ///
    /// # Errors
    /// As of [`get`](Self::get).
    pub fn cuts(&self) -> Result<Vec<(usize, Cut)>, StoreError> {
        let failed = self.briefs.iter().enumerate().filter(|(_, brief)| brief.failure.is_some());
        let mentioned = failed.filter(|(_, brief)| mentions_limit(line_at(&self.text, brief.start)));
        let cuts = mentioned.map(|(at, _)| Ok(self.get(at)?.cut().map(|cut| (at, cut))));
        cuts.filter_map(Result::transpose).collect()
    }

    /// Returns a column for each of `parameters`, a header's: for every evaluation, the position of
    /// its value among the listed ones, or [`UNLISTED`].
    ///
    /// # Errors
    /// As of [`get`](Self::get).
    pub fn columns(&self, parameters: &Map<String, Json>) -> Result<Vec<Vec<u32>>, StoreError> {
        let lists: Vec<Listed> = parameters.iter().map(|(name, values)| Listed::new(name, values)).collect();
        let mut columns = vec![Vec::with_capacity(self.len()); lists.len()];
        for (at, brief) in self.briefs.iter().enumerate() {
            let quick = self.config_of(brief).and_then(|config| places(config, &lists));
            let places = match quick {
                Some(places) => places,
                None => {
                    let config = self.get(at)?.config;
                    lists.iter().map(|list| list.place(config.get(&list.name))).collect()
                }
            };
            columns.iter_mut().zip(places).for_each(|(column, place)| column.push(place));
        }
        Ok(columns)
    }

    /// Returns all evaluations in full, one after another.
    pub fn iter(&self) -> impl Iterator<Item = Result<Entry, StoreError>> + '_ {
        (0..self.briefs.len()).map(|at| self.get(at))
    }

    /// Returns the rest of an evaluation's line from its configuration, if the line begins as this
    /// program writes it and is intact.
    fn config_of(&self, brief: &Brief) -> Option<&[u8]> {
        let line = line_at(&self.text, brief.start);
        plain::indexed(line).filter(|_| brief.intact).map(|(_, config)| config)
    }
}

/// The position of a value that a parameter does not list.
pub const UNLISTED: u32 = u32::MAX;

/// The values of a parameter, by their text in JSON.
struct Listed {
    name: String,
    /// The name as a key in JSON, with its colon.
    key: Vec<u8>,
    places: HashMap<Vec<u8>, u32>,
}

impl Listed {
    fn new(name: &str, values: &Json) -> Self {
        let texts = values.as_array().into_iter().flatten().map(|value| value.to_string().into_bytes());
        let places = texts.zip(0..).collect();
        Self { name: name.to_owned(), key: format!("{}:", Json::from(name)).into_bytes(), places }
    }

    fn place(&self, value: Option<&Json>) -> u32 {
        let text = value.map(|value| value.to_string().into_bytes()).unwrap_or_default();
        self.places.get(&text).copied().unwrap_or(UNLISTED)
    }
}

/// Returns the positions of the values of `config`, the rest of an intact line from its
/// configuration. Returns `None` if it does not name the parameters in their order.
fn places(config: &[u8], lists: &[Listed]) -> Option<Vec<u32>> {
    let mut rest = config.strip_prefix(b"{")?;
    let mut found = Vec::with_capacity(lists.len());
    for (number, list) in lists.iter().enumerate() {
        rest = if number == 0 { rest } else { rest.strip_prefix(b",")? };
        rest = rest.strip_prefix(&list.key[..])?;
        let length = scalar(rest)?;
        found.push(list.places.get(&rest[..length]).copied().unwrap_or(UNLISTED));
        rest = &rest[length..];
    }
    rest.starts_with(b"}").then_some(found)
}

/// Returns the length of the text of the scalar at the beginning of `json`.
fn scalar(json: &[u8]) -> Option<usize> {
    if json.first() != Some(&b'"') {
        return json.iter().position(|byte| matches!(byte, b',' | b'}'));
    }
    let mut escaped = false;
    let end = json[1..].iter().position(|byte| {
        let ends = *byte == b'"' && !escaped;
        escaped = *byte == b'\\' && !escaped;
        ends
    })?;
    Some(end + 2)
}

/// Returns the samples in the rest of an intact line from its configuration. Returns `None` if they
/// do not stand where this program writes them.
fn times_of(config: &[u8]) -> Option<Vec<f64>> {
    const BEFORE: &[u8] = b",\"depth\":\"timed\",\"times_ms\":";
    let at = config.windows(BEFORE.len()).position(|window| window == BEFORE)?;
    let list = &config[at + BEFORE.len()..];
    let end = list.iter().position(|byte| *byte == b']')?;
    serde_json::from_slice(&list[..=end]).ok()
}

/// Returns true if a line may have the field `cut` or `aside`. A parameter may have the name as well.
pub(crate) fn mentions_limit(line: &[u8]) -> bool {
    ["\"cut\"", "\"aside\""].iter().any(|name| memmem::find(line, name.as_bytes()).is_some())
}

/// Returns the line of `text` that begins at `start`.
fn line_at(text: &[u8], start: u64) -> &[u8] {
    let rest = usize::try_from(start).ok().and_then(|start| text.get(start..)).unwrap_or_default();
    memchr(b'\n', rest).map_or(rest, |end| &rest[..end])
}

/// The fields of an evaluation's line that a brief needs.
pub(crate) struct Glance {
    pub(crate) index: u128,
    pub(crate) failure: Option<FailureKind>,
    pub(crate) depth: Depth,
    pub(crate) times_ms: Vec<f64>,
    pub(crate) clock: f64,
}

/// These fields in any JSON.
#[derive(Deserialize)]
pub(crate) struct GlanceLine<'a> {
    #[serde(default, borrow)]
    index: Option<Cow<'a, str>>,
    #[serde(default, borrow)]
    status: Option<Cow<'a, str>>,
    #[serde(default, borrow)]
    depth: Option<Cow<'a, str>>,
    #[serde(default)]
    times_ms: Vec<f64>,
    #[serde(default)]
    warmup_ms: Option<f64>,
    #[serde(default)]
    clock: Option<f64>,
}

impl GlanceLine<'_> {
    /// Fails with the reason if a field is missing or a word is unknown.
    pub(crate) fn glance(self) -> Result<Glance, String> {
        let index = self.index.as_deref().ok_or("missing field `index`")?;
        let index = index.parse().map_err(|_| format!("`{index}` is no index"))?;
        let status = self.status.as_deref().ok_or("missing field `status`")?;
        let failure = match status {
            "correct" => None,
            word => Some(FailureKind::from_word(word).ok_or_else(|| format!("`{word}` is no status"))?),
        };
        let depth = self.depth.as_deref().ok_or("missing field `depth`")?;
        let depth = Depth::from_word(depth).ok_or_else(|| format!("`{depth}` is no depth"))?;
        check_warmup(self.warmup_ms)?;
        let clock = self.clock.ok_or("missing field `clock`")?;
        Ok(Glance { index, failure, depth, times_ms: self.times_ms, clock })
    }
}

impl Glance {
    /// Returns the fields of an intact line, or `None` if its clock is not where this program writes
    /// it.
    pub(crate) fn plain(plain: Plain<'_>) -> Option<Self> {
        let clock = plain.clock()?;
        let Plain { index, failure, depth, times_ms, .. } = plain;
        Some(Self { index, failure, depth, times_ms, clock })
    }

    /// Returns the evaluation in brief. Its line has this number, begins at the byte `start` of the
    /// file, and is `intact` if its checksum agrees. Fails with the reason if a number is impossible.
    pub(crate) fn brief(self, number: usize, start: u64, intact: bool) -> Result<Brief, String> {
        let Self { index, failure, depth, times_ms, clock } = self;
        check_times(&times_ms)?;
        let samples = if failure.is_none() { times_ms.as_slice() } else { &[] };
        let times = statistics::median_with_interval(samples, 0.95)
            .map(|(median_ms, (lowest_ms, _))| Times { median_ms, lowest_ms });
        let line = u32::try_from(number).map_err(|_| "the journal has too many lines".to_owned())?;
        Ok(Brief { index, times, clock, failure, depth, line, intact, start })
    }
}

/// Refuses times that no clock measures.
pub(crate) fn check_times(times_ms: &[f64]) -> Result<(), String> {
    match times_ms.iter().find(|time| !(time.is_finite() && **time > 0.0)) {
        None => Ok(()),
        Some(time) => Err(format!("a time of {time} ms, but times are finite and positive; remove the line")),
    }
}

/// Refuses the times of a measurement that no clock measures.
pub(crate) fn check_measured(times_ms: &[f64], warmup_ms: Option<f64>) -> Result<(), String> {
    check_times(times_ms).and_then(|()| check_warmup(warmup_ms))
}

/// Refuses a time of the first launch that no clock measures. It may be 0: it is no sample.
fn check_warmup(warmup_ms: Option<f64>) -> Result<(), String> {
    match warmup_ms.filter(|time| !(time.is_finite() && *time >= 0.0)) {
        None => Ok(()),
        Some(time) => {
            Err(format!("a first launch of {time} ms, but times are finite and not negative; remove the line"))
        }
    }
}

/// Two lines with the same configuration and depth. The first one counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repeated {
    /// The line that counts, counted from 1.
    pub first: u32,
    /// The line that is ignored.
    pub again: u32,
}

/// Collects evaluations and drops those that repeat an earlier one.
pub(crate) struct Collector {
    briefs: Vec<Brief>,
    places: HashTable<u32>,
    hasher: RandomState,
    /// Number of lines that are copies of an earlier one.
    pub(crate) copies: usize,
    /// Lines that contradict an earlier one.
    pub(crate) conflicts: Vec<Repeated>,
}

impl Collector {
    pub(crate) fn new() -> Self {
        let (briefs, places, conflicts) = (Vec::new(), HashTable::new(), Vec::new());
        Self { briefs, places, hasher: RandomState::new(), copies: 0, conflicts }
    }

    /// Puts an evaluation in the place of an earlier one that a limit ended, of which `line` is no copy. Returns the kind
    /// of that limit, or `None` if there is none. `text` is the content of the file.
    pub(crate) fn replace_unfinished(&mut self, text: &[u8], brief: Brief, line: &[u8]) -> Option<LimitKind> {
        let place = self.place(&brief)?;
        let first = line_at(text, self.briefs[place].start);
        if first == line || !mentions_limit(first) {
            return None;
        }
        let limit = serde_json::from_slice::<Entry>(first).ok()?.limit()?;
        self.briefs[place] = brief;
        Some(limit)
    }

    /// Returns the place of an earlier evaluation of the same request.
    fn place(&self, brief: &Brief) -> Option<usize> {
        let request = |brief: &Brief| (brief.index, brief.depth);
        let is_same = |place: &u32| request(&self.briefs[*place as usize]) == request(brief);
        self.places.find(self.hasher.hash_one(request(brief)), is_same).map(|place| *place as usize)
    }

    /// Adds an evaluation, unless its request was added before. `is_copy` tells if the line of an
    /// earlier evaluation is the same text.
    pub(crate) fn add(&mut self, brief: Brief, is_copy: impl FnOnce(&Brief) -> bool) {
        let earlier = self.place(&brief).map(|place| self.briefs[place]);
        let Self { briefs, places, hasher, .. } = self;
        let request = |brief: &Brief| (brief.index, brief.depth);
        let hash = |brief: &Brief| hasher.hash_one(request(brief));
        match earlier {
            None => {
                // A journal has fewer lines than this can count (`Glance::brief`).
                places.insert_unique(hash(&brief), briefs.len() as u32, |place| hash(&briefs[*place as usize]));
                briefs.push(brief);
            }
            Some(first) if is_copy(&first) => self.copies += 1,
            Some(first) => self.conflicts.push(Repeated { first: first.line, again: brief.line }),
        }
    }

    /// Returns the evaluations with `text`, the content of the file at `path`.
    pub(crate) fn finish(self, path: &Path, text: Vec<u8>) -> Entries {
        Entries { path: path.to_path_buf(), text, briefs: self.briefs }
    }
}

/// Returns true if the line at `start` of `text` is `line`.
pub(crate) fn is_line(text: &[u8], brief: &Brief, line: &[u8]) -> bool {
    line_at(text, brief.start) == line
}
