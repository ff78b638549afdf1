//! Writes journals.

use crate::{Again, Entry, FORMAT_VERSION, Header, Recorded, StoreError, VerdictLine, line, read};
use serde_json::{Map, Value as Json};
use std::collections::{BTreeMap, HashMap};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use tunesmith_core::judge::drift::Drift;
use tunesmith_core::{Error, Evaluation, Resample, Store, Verdict};
use tunesmith_space::{ConfigId, Configuration, Space, Value};

/// An open journal: the [`Store`] of live runs.
///
/// Every line reaches the operating system before [`append`](Store::append) returns. A sudden death
/// of the process therefore loses nothing. The file is locked while open, so that two runs never
/// write to one journal.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: File,
    space: Space,
    /// The number of the first evaluation of every configuration.
    numbers: HashMap<ConfigId, usize>,
    /// The number of evaluations.
    evaluations: usize,
}

/// The content of a resumed journal.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Resumed {
    /// Its evaluations, in the order made.
    pub evaluations: Vec<Evaluation>,
    /// The later measurements that are still valid ([`Recorded::current`]).
    pub resamples: Vec<Resample>,
}

impl Journal {
    /// Starts a new journal at `path`, or beside it if there is one already (`run.jsonl`,
    /// `run.2.jsonl`, ...). Never overwrites a journal.
    pub fn create(path: &Path, header: &Header, space: &Space) -> Result<Self, StoreError> {
        let mut number = 1;
        loop {
            let candidate = numbered(path, number);
            match OpenOptions::new().write(true).create_new(true).open(&candidate) {
                Ok(file) => {
                    let mut journal = Self::locked(candidate, file, space)?;
                    journal.write_line(header)?;
                    return Ok(journal);
                }
                Err(error) if error.kind() == ErrorKind::AlreadyExists => number += 1,
                Err(source) => return Err(StoreError::Io { path: candidate, source }),
            }
        }
    }

    /// Opens the journal at `path` to continue it, and returns its content.
    ///
    /// Fails if the [identity](Header::identity) of its run is not that of `now`, or while another
    /// process writes it. Removes a last line that was cut short.
    pub fn resume(path: &Path, now: &Header, space: &Space) -> Result<(Self, Resumed), StoreError> {
        let io = |source| StoreError::Io { path: path.to_path_buf(), source };
        let file = OpenOptions::new().write(true).open(path).map_err(io)?;
        let mut journal = Self::locked(path.to_path_buf(), file, space)?;
        let recorded = read(path)?;
        let differences = recorded.header.differences(now);
        if !differences.is_empty() {
            return Err(StoreError::Differs { path: path.to_path_buf(), differences });
        }
        let resumed = Resumed {
            evaluations: evaluations(path, &recorded, space)?,
            resamples: resamples(path, &recorded, space)?,
        };
        resumed.evaluations.iter().for_each(|evaluation| journal.number(evaluation.request.config));
        journal.file.set_len(recorded.complete_bytes).map_err(io)?;
        journal.file.seek(SeekFrom::End(0)).map_err(io)?;
        Ok((journal, resumed))
    }

    /// Returns the last of `path`, `run.2.jsonl`, `run.3.jsonl`, ... that exists, or `path` itself
    /// if none does.
    pub fn latest(path: &Path) -> PathBuf {
        let existing = (1..).map(|number| numbered(path, number)).take_while(|candidate| candidate.exists());
        existing.last().unwrap_or_else(|| path.to_path_buf())
    }

    /// Returns the path of the journal.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns a header for `space`. The caller fills in the problem, the device and the search.
    pub fn header(space: &Space) -> Header {
        let values = |parameter: &tunesmith_space::Parameter| parameter.values().iter().map(line::value_json).collect();
        let parameter = |parameter: &tunesmith_space::Parameter| (parameter.name().to_string(), values(parameter));
        let mut identity = Map::new();
        identity.insert("space".to_string(), Json::from(space.digest()));
        Header {
            format: FORMAT_VERSION,
            tunesmith: env!("CARGO_PKG_VERSION").to_string(),
            problem: String::new(),
            identity,
            parameters: space.parameters().iter().map(parameter).collect(),
            space_size: space.size().to_string(),
            default: None,
            sizes: Map::new(),
            features: Map::new(),
            constraints: Map::new(),
            device_features: BTreeMap::new(),
            objective: None,
            history: Vec::new(),
            strategy: String::new(),
            seed: 0,
            model: None,
            room: 1,
            started: 0.0,
        }
    }

    /// Returns a value as journals and machine-readable output write it.
    pub fn value(value: &Value) -> Json {
        line::value_json(value)
    }

    /// Returns the value that [`value`](Self::value) writes as `json`, or `None` for anything else.
    pub fn value_of(json: &Json) -> Option<Value> {
        line::value_of(json)
    }

    /// Returns a configuration as journals and machine-readable output write it.
    pub fn config(space: &Space, configuration: &Configuration) -> Map<String, Json> {
        line::config_json(space, configuration)
    }

    fn locked(path: PathBuf, file: File, space: &Space) -> Result<Self, StoreError> {
        match file.try_lock() {
            Ok(()) => Ok(Self { path, file, space: space.clone(), numbers: HashMap::new(), evaluations: 0 }),
            Err(TryLockError::WouldBlock) => Err(StoreError::Busy { path }),
            Err(TryLockError::Error(source)) => Err(StoreError::Io { path, source }),
        }
    }

    /// Counts an evaluation of `config`.
    fn number(&mut self, config: ConfigId) {
        self.evaluations += 1;
        self.numbers.entry(config).or_insert(self.evaluations);
    }

    /// Writes a line in one piece, so that a kill cuts at most this line.
    fn write_line(&mut self, line: &impl serde::Serialize) -> Result<(), StoreError> {
        let written = serde_json::to_vec(line).map_err(std::io::Error::from).and_then(|mut bytes| {
            bytes.push(b'\n');
            self.file.write_all(&bytes)
        });
        written.map_err(|source| StoreError::Io { path: self.path.clone(), source })
    }
}

impl Store for Journal {
    fn append(&mut self, evaluation: &Evaluation) -> Result<(), Error> {
        let entry = Entry::new(&self.space, evaluation);
        self.write_line(&entry).map_err(|error| Error::Store(Box::new(error)))?;
        self.number(evaluation.request.config);
        Ok(())
    }

    fn append_again(&mut self, resample: &Resample) -> Result<(), Error> {
        let number = self.numbers.get(&resample.config).copied().unwrap_or_default();
        let again = Again::new(&self.space, resample, number);
        self.write_line(&again).map_err(|error| Error::Store(Box::new(error)))
    }

    fn append_verdict(&mut self, verdict: &Verdict, drift: Option<&Drift>) -> Result<(), Error> {
        let Some(line) = VerdictLine::new(verdict, drift) else { return Ok(()) };
        self.write_line(&line).map_err(|error| Error::Store(Box::new(error)))
    }
}

fn evaluations(path: &Path, recorded: &Recorded, space: &Space) -> Result<Vec<Evaluation>, StoreError> {
    recorded.entries.iter().map(|entry| entry.evaluation(space).map_err(|reason| wrong(path, entry, reason))).collect()
}

fn resamples(path: &Path, recorded: &Recorded, space: &Space) -> Result<Vec<Resample>, StoreError> {
    recorded.current().map(|again| again.resample(space).map_err(|reason| wrong(path, &again.entry, reason))).collect()
}

/// Returns the error of a line that cannot be understood.
fn wrong(path: &Path, entry: &Entry, reason: String) -> StoreError {
    StoreError::Line { path: path.to_path_buf(), line: entry.line, reason }
}

/// Returns `run.jsonl` for 1, `run.2.jsonl` for 2 and so on.
fn numbered(path: &Path, number: usize) -> PathBuf {
    if number == 1 {
        return path.to_path_buf();
    }
    let extension = path.extension().map(|extension| extension.to_string_lossy().into_owned());
    let suffix = extension.map_or_else(|| number.to_string(), |extension| format!("{number}.{extension}"));
    path.with_extension(suffix)
}
