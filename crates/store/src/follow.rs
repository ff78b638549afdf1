//! Follows a journal that grows.

use crate::entries::{Glance, check_times, mentions_limit};
use crate::plain;
use crate::read::{Kind, Line, Place, Scan, io_error};
use crate::{Again, Entry, Header, LimitKind, StoreError, VerdictLine};
use serde::Deserialize;
use std::borrow::Cow;
use std::collections::hash_map::RandomState;
use std::collections::{HashMap, HashSet};
use std::fs::{File, Metadata};
use std::hash::BuildHasher;
use std::io::{BufReader, ErrorKind, Seek, SeekFrom};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use tunesmith_core::{Depth, FailureKind};

/// Readings of the list of locks before a journal counts as not written.
const LOOKS: usize = 3;

/// A journal that is read while it grows. Each reading costs what was added since the last one.
#[derive(Debug)]
pub struct Follow {
    path: PathBuf,
    file: File,
    header: Header,
    place: Place,
    /// The hashes of all requests. Of a million requests, two share a hash with a probability of
    /// less than 10^-7. Their text would take ten times the memory.
    requests: HashSet<u64>,
    /// The hashes of those that a limit from others ended, with its kind.
    unfinished: HashMap<u64, LimitKind>,
    hasher: RandomState,
    repeated: usize,
}

/// The state of a journal after a reading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Growth {
    /// All of its lines were read.
    Complete,
    /// More lines can be read at once.
    More,
    /// There is no file. What was read before is all that is known.
    Deleted,
    /// Another file is in its place, or it was cut. Nothing was read: its lines are read from the
    /// first one again, after another [header](Follow::header).
    Restarted {
        /// The clause that says what happened.
        how: String,
    },
}

/// A line that a journal gained.
#[derive(Debug)]
pub enum Gained<'a> {
    /// An evaluation.
    Evaluation(NewEvaluation<'a>),
    /// A later measurement.
    Again(Box<Again>),
    /// A verdict.
    Verdict(VerdictLine),
}

/// An evaluation that a journal gained.
pub struct NewEvaluation<'a> {
    /// The rank of the configuration in the space of the header's digest.
    pub index: u128,
    /// The kind of failure, or `None` if the configuration is correct.
    pub failure: Option<FailureKind>,
    /// The depth of the evaluation.
    pub depth: Depth,
    /// All samples in milliseconds.
    pub times_ms: Vec<f64>,
    /// Seconds since the start of the run.
    pub clock: f64,
    /// The kind of the limit that ended the configuration, if that limit followed from others. The configuration did not
    /// fail then.
    pub limit: Option<LimitKind>,
    /// The kind of the limit that ended an earlier evaluation, in whose place this one stands.
    pub replaces: Option<LimitKind>,
    line: &'a Line<'a>,
}

impl std::fmt::Debug for NewEvaluation<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { index, failure, times_ms, clock, .. } = self;
        let (name, fields) = ("NewEvaluation", (index, failure, times_ms, clock));
        f.debug_tuple(name).field(&fields).finish()
    }
}

/// The message of an evaluation, in any JSON.
#[derive(Deserialize)]
struct Message<'a> {
    #[serde(default, borrow)]
    message: Option<Cow<'a, str>>,
}

impl<'a> NewEvaluation<'a> {
    fn new(glance: Glance, line: &'a Line<'a>) -> Self {
        let Glance { index, failure, depth, times_ms, clock } = glance;
        let mut new = Self { index, failure, depth, times_ms, clock, limit: None, replaces: None, line };
        if new.failure.is_some() && mentions_limit(line.text) {
            new.limit = new.entry().ok().and_then(|entry| entry.limit());
        }
        new
    }

    /// Returns true if the configuration is `config`: an object of JSON as a header keeps it.
    pub fn has_config(&self, config: &str) -> bool {
        match plain::indexed(self.line.text) {
            Some((_, rest)) => rest.starts_with(config.as_bytes()) && rest.get(config.len()) == Some(&b','),
            None => {
                let own = self.entry().map(|entry| serde_json::Value::from(entry.config).to_string());
                own.is_ok_and(|own| own == config)
            }
        }
    }

    /// Returns the evaluation in full. Costs reading its line once more.
    ///
    /// # Errors
    /// The reason, if a field has another kind than journals have.
    pub fn entry(&self) -> Result<Entry, String> {
        let entry: Entry = self.line.parse()?;
        Ok(Entry { line: self.line.number, ..entry })
    }

    /// Returns the reason why the configuration failed, or a remark about it. Costs a look at the
    /// line.
    pub fn message(&self) -> Option<String> {
        let Message { message } = self.line.parse().ok()?;
        message.map(Cow::into_owned)
    }
}

impl Follow {
    /// Opens the journal at `path` and reads its header.
    ///
    /// # Errors
    /// The file cannot be read, or its first line is not a journal's.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let mut file = tunesmith_files::open(path).map_err(|source| io_error(path, source))?;
        let mut lines = BufReader::new(&mut file);
        let scan = Scan::begin(path, &mut lines)?;
        let (header, place) = (scan.header.clone(), scan.place());
        let (requests, unfinished, hasher) = (HashSet::new(), HashMap::new(), RandomState::new());
        Ok(Self { path: path.to_path_buf(), file, header, place, requests, unfinished, hasher, repeated: 0 })
    }

    /// Returns the path of the journal.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the header.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Returns the number of evaluations that repeat the request of an earlier line. They are left
    /// out.
    pub fn repeated(&self) -> usize {
        self.repeated
    }

    /// Gives the complete lines that were added to `each`, at most `most` of them.
    ///
    /// # Errors
    /// The file cannot be read, or a line is damaged. The next reading tries again from there.
    pub fn read(&mut self, most: usize, mut each: impl FnMut(Gained<'_>)) -> Result<Growth, StoreError> {
        if let Some(growth) = self.replaced()? {
            return Ok(growth);
        }
        let Self { path, file, place, requests, unfinished, hasher, repeated, .. } = self;
        let io = |source| io_error(path, source);
        file.seek(SeekFrom::Start(place.bytes)).map_err(io)?;
        let mut lines = BufReader::with_capacity(1 << 18, &mut *file);
        let more = place.advance(path, &mut lines, most, |line, kind| {
            match kind {
                Kind::Evaluation => {
                    let glance = line.glance()?;
                    check_times(&glance.times_ms)?;
                    let request = hasher.hash_one((glance.index, glance.depth));
                    let mut new = NewEvaluation::new(glance, line);
                    let is_first = requests.insert(request);
                    if !is_first && new.limit.is_none() {
                        new.replaces = unfinished.remove(&request);
                    }
                    if let Some(limit) = new.limit.filter(|_| is_first) {
                        unfinished.insert(request, limit);
                    }
                    if is_first || new.replaces.is_some() {
                        each(Gained::Evaluation(new));
                    } else {
                        *repeated += 1;
                    }
                }
                Kind::Again => each(Gained::Again(Box::new(line.again()?))),
                Kind::Verdict => each(Gained::Verdict(line.parse()?)),
                // It does not count.
                Kind::Second => {}
            }
            Ok(())
        })?;
        Ok(if more { Growth::More } else { Growth::Complete })
    }

    /// Returns what happened to the file if it is no longer the one that was read.
    fn replaced(&mut self) -> Result<Option<Growth>, StoreError> {
        let io = |source| io_error(&self.path, source);
        let own = self.file.metadata().map_err(io)?;
        let there = match std::fs::metadata(&self.path) {
            Ok(there) => there,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Some(Growth::Deleted)),
            Err(error) => return Err(io(error)),
        };
        let how = if identity(&there) != identity(&own) {
            "was replaced by another file".to_string()
        } else if there.len() < self.place.bytes {
            format!("was cut from {} to {} bytes", self.place.bytes, there.len())
        } else {
            return Ok(None);
        };
        *self = Self::open(&self.path)?;
        Ok(Some(Growth::Restarted { how }))
    }

    /// Returns true if a process is writing the journal, and `None` if the system does not tell.
    ///
    /// A writer locks its journal. To try the lock would be to take it for a moment, in which a run
    /// could not resume. The system's list of locks disturbs nobody. It does not show locks of other
    /// containers.
    pub fn is_written(&self) -> Option<bool> {
        // Some file systems number their devices differently here and there: the file decides.
        let file = format!(":{} ", self.file.metadata().ok()?.ino());
        let is_ours = |lock: &str| lock.contains(" FLOCK ") && lock.contains(" WRITE ") && lock.contains(&file);
        // The system gives a long list page by page. Of locks that come and go in between, it leaves out others.
        for _ in 0..LOOKS {
            if tunesmith_files::system_text("/proc/locks")?.lines().any(is_ours) {
                return Some(true);
            }
        }
        Some(false)
    }
}

fn identity(file: &Metadata) -> (u64, u64) {
    (file.dev(), file.ino())
}
