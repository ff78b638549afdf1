//! The measurement that runs, in a file beside the journal.
//!
//! A configuration that uses up the memory or the processes of the machine may end the tuner, before there is a
//! line about it. The run that continues would measure it again, and end again. The file therefore names
//! what runs. If a journal has no result of what it names, the run ended meanwhile. After the second time, the
//! configuration counts as failed.

use crate::StoreError;
use crate::line::{config_json, configuration};
use crate::sum::{self, Seal};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use tunesmith_core::{Depth, Failure, FailureKind, Request, Role, Start};
use tunesmith_space::Space;

/// The number of starts without a result after which a configuration counts as failed.
const MOST: u32 = 2;

/// The reason of a configuration that ended the run each time.
const REASON: &str = "the run ended twice while this configuration was compiled or measured, so that it is not tried \
                      again; see whether it uses up memory, processes or disk space";

/// The starts without a result.
#[derive(Debug, Default)]
pub(super) struct Starts {
    path: PathBuf,
    /// The start of the run, which tells the files of two journals of one name apart.
    run: f64,
    file: Option<File>,
    /// Number of bytes in the file.
    length: usize,
    /// Those of earlier parts of the run.
    earlier: Vec<OpenStart>,
    /// That of this part.
    open: Option<Start>,
}

/// A start without a result.
#[derive(Clone, Copy, Debug)]
struct OpenStart {
    start: Start,
    /// Number of times that it began.
    times: u32,
}

/// A start without a result as the file keeps it.
#[derive(Serialize, Deserialize)]
struct OpenLine {
    run: f64,
    index: String,
    config: Map<String, Json>,
    depth: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    role: Option<String>,
    times: u32,
}

impl Starts {
    /// Returns those of a new journal at `journal`, of a run that began at `run`. Removes the file of another
    /// journal that lay there.
    pub(super) fn new(journal: &Path, run: f64) -> Self {
        let starts = Self { path: path_of(journal), run, ..Self::default() };
        // What cannot be removed is another run's, as its first field tells.
        let _ = fs::remove_file(&starts.path);
        starts
    }

    /// Reads those of the journal at `journal`. A line that was cut short, or belongs to another run, is no start.
    pub(super) fn read(journal: &Path, run: f64, space: &Space) -> Result<Self, StoreError> {
        let path = path_of(journal);
        let text = match tunesmith_files::read(&path, tunesmith_files::TEXT) {
            Err(error) if error.kind() == ErrorKind::NotFound => Vec::new(),
            text => text.map_err(|source| StoreError::Io { path: path.clone(), source })?,
        };
        let lines = text.split(|byte| *byte == b'\n').filter(|line| sum::check(line) == Seal::Intact);
        let read = lines.filter_map(|line| serde_json::from_slice::<OpenLine>(line).ok());
        let earlier = read.filter(|line| line.run == run).filter_map(|line| line.start(space)).collect();
        Ok(Self { path, run, earlier, ..Self::default() })
    }

    /// Returns those that began for the last time: they count as failed.
    pub(super) fn failed(&self) -> Vec<(Start, Failure)> {
        let failed = self.earlier.iter().filter(|open| open.times >= MOST);
        failed.map(|open| (open.start, Failure::new(FailureKind::Runtime, REASON))).collect()
    }

    /// Returns those that are tried once more.
    pub(super) fn suspects(&self) -> impl Iterator<Item = Start> {
        self.earlier.iter().filter(|open| open.times < MOST).map(|open| open.start)
    }

    /// Keeps a start. The file then names it with those of earlier parts of the run.
    pub(super) fn keep(&mut self, space: &Space, start: Start) -> io::Result<()> {
        self.open = Some(start);
        let before = self.earlier.iter().find(|open| open.start == start).map_or(0, |open| open.times);
        let others = self.earlier.iter().filter(|open| open.start != start).copied();
        let all: Vec<OpenStart> = others.chain([OpenStart { start, times: before + 1 }]).collect();
        self.write(space, &all)
    }

    /// Notes that a measurement has its result.
    pub(super) fn resolve(&mut self, request: Request, role: Option<Role>) {
        let is_other = |start: &Start| *start != Start { request, role };
        self.earlier.retain(|open| is_other(&open.start));
        self.open = self.open.filter(is_other);
    }

    /// Forgets the start of this part of the run. Removes the file, unless earlier parts have others.
    pub(super) fn forget(&mut self, space: &Space) -> io::Result<()> {
        self.open = None;
        if !self.earlier.is_empty() {
            let earlier = self.earlier.clone();
            return self.write(space, &earlier);
        }
        (self.file, self.length) = (None, 0);
        match fs::remove_file(&self.path) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Takes over those of a journal that is continued in another place.
    pub(super) fn take_over(&mut self, mut old: Self, space: &Space) -> io::Result<()> {
        self.earlier = std::mem::take(&mut old.earlier);
        let open = old.open;
        // The journal that it belongs to is gone.
        let _ = old.forget(space);
        open.map_or(Ok(()), |start| self.keep(space, start))
    }

    /// Returns the error of the file.
    pub(super) fn io(&self, source: io::Error) -> StoreError {
        StoreError::Io { path: self.path.clone(), source }
    }

    /// Writes the file anew, in place: a kill in the middle leaves a line without its checksum.
    fn write(&mut self, space: &Space, all: &[OpenStart]) -> io::Result<()> {
        let mut text = Vec::new();
        for open in all {
            let mut line = serde_json::to_vec(&open.line(self.run, space))?;
            sum::seal(&mut line);
            text.extend(line);
        }
        // Spaces in place of what was longer spare the system the change of the length.
        let written = text.len();
        text.resize(written.max(self.length), b' ');
        let file = match self.file.take() {
            Some(file) => file,
            // Whatever lies there was read, or belongs to another run. A link is removed, not followed.
            None => tunesmith_files::create(&self.path)?,
        };
        let file = self.file.insert(file);
        file.write_all_at(&text, 0)?;
        self.length = text.len();
        Ok(())
    }
}

impl OpenStart {
    fn line(&self, run: f64, space: &Space) -> OpenLine {
        let Start { request: Request { config, depth }, role } = self.start;
        OpenLine {
            run,
            index: config.to_string(),
            config: config_json(space, &space.unrank(config)),
            depth: depth.word().to_owned(),
            role: role.map(|role| role.word().to_owned()),
            times: self.times,
        }
    }
}

impl OpenLine {
    fn start(&self, space: &Space) -> Option<OpenStart> {
        let config = configuration(space, &self.config, &self.index).ok()?;
        let depth = Depth::from_word(&self.depth)?;
        let role = match &self.role {
            Some(word) => Some(Role::from_word(word)?),
            None => None,
        };
        Some(OpenStart { start: Start { request: Request { config, depth }, role }, times: self.times })
    }
}

/// Returns the path of the file that belongs to a journal: `run.jsonl.started`.
fn path_of(journal: &Path) -> PathBuf {
    let mut path = journal.as_os_str().to_owned();
    path.push(".started");
    PathBuf::from(path)
}
