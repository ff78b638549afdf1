//! Writes journals.

mod continued;
mod starts;

use crate::disk::{Disk, DiskFile, SystemDisk};
use crate::entries::check_measured;
use crate::read::Scan;
use crate::{Again, Entry, FORMAT_VERSION, Header, Second, StoreError, VerdictLine, line, sum};
use continued::{Continued, Numbers};
use serde_json::{Map, Value as Json, json};
use starts::Starts;
use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use tunesmith_core::judge::drift::Drift;
use tunesmith_core::{
    Error, Evaluation, Failure, Measurement, Request, Resample, Role, SecondStore, Start, Store, Verdict,
};
use tunesmith_space::{ConfigId, Configuration, Space, Value};

/// An open journal: the [`Store`] of live runs.
///
/// Every line reaches the operating system before [`append`](Store::append) returns. A sudden death
/// of the process therefore loses nothing. The file is locked while open, so that two runs never
/// write to one journal. Before each line the journal looks at its file. If someone deleted,
/// replaced or cut it, or wrote to it, nothing is written: the caller gives everything once more to
/// [`renew`](Store::renew).
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    /// The path that the caller named, from which the numbers of further journals are made.
    base: PathBuf,
    file: Box<dyn DiskFile>,
    /// The length of all complete lines in bytes.
    length: u64,
    header: Header,
    space: Space,
    numbers: Numbers,
    /// The verdict on the evaluations, if the journal holds it.
    verdict: Option<VerdictLine>,
    /// The measurements that have begun. `None` on a disk that is not the system's.
    starts: Option<Starts>,
}

/// The content of a resumed journal.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Resumed {
    /// Its evaluations, in the order made, each request once.
    pub evaluations: Vec<Box<Evaluation>>,
    /// The later measurements that are still valid ([`Recorded::current`](crate::Recorded::current)).
    pub resamples: Vec<Resample>,
    /// Remarks about the journal for its reader, a sentence each.
    pub warnings: Vec<String>,
}

impl Journal {
    /// Starts a new journal at `path`, or beside it if there is one already (`run.jsonl`,
    /// `run.2.jsonl`, ...). Never overwrites a journal.
    pub fn create(path: &Path, header: &Header, space: &Space) -> Result<Self, StoreError> {
        let mut journal = Self::create_on(&SystemDisk, path, header, space)?;
        journal.starts = Some(Starts::new(&journal.path, header.started));
        Ok(journal)
    }

    /// Starts a new journal like [`create`](Self::create), on `disk`.
    pub fn create_on(disk: &dyn Disk, path: &Path, header: &Header, space: &Space) -> Result<Self, StoreError> {
        Self::create_by(|candidate| disk.create_new(candidate), path, header, space)
    }

    fn create_by(
        create: impl Fn(&Path) -> io::Result<Box<dyn DiskFile>>,
        path: &Path,
        header: &Header,
        space: &Space,
    ) -> Result<Self, StoreError> {
        let mut number = 1;
        loop {
            let candidate = numbered(path, number);
            match create(&candidate) {
                Ok(file) => {
                    let mut journal = Self::locked(candidate, file, header, space)?;
                    journal.base = path.to_path_buf();
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
    ///
    /// A configuration that was running each time when two earlier parts of the run ended, without being ended in
    /// order, counts as failed from now on.
    ///
    /// Reads the file in pieces: the evaluations are all that stays in memory.
    pub fn resume(path: &Path, now: &Header, space: &Space) -> Result<(Self, Resumed), StoreError> {
        let (mut journal, mut resumed) = Self::resume_on(&SystemDisk, path, now, space)?;
        journal.take_starts(&mut resumed)?;
        Ok((journal, resumed))
    }

    /// Opens a journal like [`resume`](Self::resume), on `disk`.
    pub fn resume_on(disk: &dyn Disk, path: &Path, now: &Header, space: &Space) -> Result<(Self, Resumed), StoreError> {
        let io = |source| StoreError::Io { path: path.to_path_buf(), source };
        let file = disk.open(path).map_err(io)?;
        let mut journal = Self::locked(path.to_path_buf(), file, now, space)?;
        let mut continued = Continued::new(space);
        let mut lines = journal.file.lines().map_err(io)?;
        let scan = Scan::begin(path, &mut *lines)?;
        let differences = scan.header.differences(now);
        if !differences.is_empty() {
            return Err(StoreError::Differs { path: path.to_path_buf(), differences });
        }
        let header = scan.header.clone();
        journal.length = scan.rest(|line, kind| continued.add(line, kind))?;
        drop(lines);
        journal.header = header;
        let (resumed, numbers, verdict) = continued.finish(path)?;
        (journal.numbers, journal.verdict) = (numbers, verdict);
        journal.file.truncate(journal.length).map_err(io)?;
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
        let values = |parameter: &tunesmith_space::Parameter| json!(parameter.values());
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
            verified: None,
            objective: None,
            history: Vec::new(),
            strategy: String::new(),
            stop: None,
            seed: 0,
            device_class: None,
            launch: None,
            model: None,
            room: 1,
            started: 0.0,
        }
    }

    /// Returns a value as journals and machine-readable output write it.
    pub fn value(value: &Value) -> Json {
        json!(value)
    }

    /// Returns a configuration as journals and machine-readable output write it.
    pub fn config(space: &Space, configuration: &Configuration) -> Map<String, Json> {
        line::config_json(space, configuration)
    }

    fn locked(path: PathBuf, file: Box<dyn DiskFile>, header: &Header, space: &Space) -> Result<Self, StoreError> {
        match file.try_lock() {
            Ok(true) => Ok(Self {
                base: path.clone(),
                path,
                file,
                length: 0,
                header: header.clone(),
                space: space.clone(),
                numbers: Numbers::default(),
                verdict: None,
                starts: None,
            }),
            Ok(false) => Err(StoreError::Busy { path }),
            Err(source) => Err(StoreError::Io { path, source }),
        }
    }

    /// Writes a line in one piece, so that a kill cuts at most this line.
    ///
    /// If it cannot be written in full, removes the part that was written. If the system refuses
    /// that too, reading drops the part, because nothing follows it.
    fn write_line(&mut self, line: &impl serde::Serialize) -> Result<(), StoreError> {
        if let Some(how) = self.loss().map_err(|source| self.io(source))? {
            return Err(StoreError::Lost { path: self.path.clone(), how });
        }
        let mut bytes = serde_json::to_vec(line).map_err(|error| self.io(error.into()))?;
        sum::seal(&mut bytes);
        if let Err(source) = self.file.append(&bytes) {
            let _ = self.file.truncate(self.length);
            return Err(self.io(source));
        }
        self.length += bytes.len() as u64;
        Ok(())
    }

    fn io(&self, source: io::Error) -> StoreError {
        StoreError::Io { path: self.path.clone(), source }
    }

    /// Returns the clause that says how the file was lost, or `None` if it is there in full.
    fn loss(&self) -> io::Result<Option<String>> {
        Ok(match self.file.length_at_path()? {
            None => Some("was deleted or replaced".to_string()),
            Some(found) if found < self.length => Some(format!("was cut from {} to {found} bytes", self.length)),
            Some(found) if found > self.length => {
                Some(format!("has {} bytes that something else wrote", found - self.length))
            }
            Some(_) => None,
        })
    }

    /// Refuses times that no clock measures: no reader would accept the line.
    fn check(&self, config: ConfigId, measurement: &Measurement) -> Result<(), StoreError> {
        let checked = check_measured(&measurement.times_ms, measurement.warmup_ms);
        checked.map_err(|reason| StoreError::Measurement { path: self.path.clone(), index: config.to_string(), reason })
    }

    fn add(&mut self, evaluation: &Evaluation) -> Result<(), StoreError> {
        let Request { config, depth } = evaluation.request;
        self.check(config, &evaluation.measurement)?;
        self.write_line(&Entry::new(&self.space, evaluation))?;
        self.numbers.add(config, depth);
        self.verdict = None;
        self.resolve(evaluation.request, None);
        Ok(())
    }

    fn add_again(&mut self, resample: &Resample) -> Result<(), StoreError> {
        self.check(resample.config, &resample.measurement)?;
        let number = self.numbers.of(resample.config);
        self.write_line(&Again::new(&self.space, resample, number))?;
        self.resolve(Request::timed(resample.config), Some(resample.role));
        Ok(())
    }

    fn resolve(&mut self, request: Request, role: Option<Role>) {
        if let Some(starts) = &mut self.starts {
            starts.resolve(request, role);
        }
    }

    /// Calls `with` with the measurements that have begun.
    fn with_starts(&mut self, with: impl FnOnce(&mut Starts, &Space) -> io::Result<()>) -> Result<(), Error> {
        let Some(starts) = &mut self.starts else { return Ok(()) };
        with(starts, &self.space).map_err(|source| error(starts.io(source)))
    }

    /// Reads the measurements that had begun when earlier parts of the run ended. Those that began for the last time
    /// have failed.
    fn take_starts(&mut self, resumed: &mut Resumed) -> Result<(), StoreError> {
        let mut starts = Starts::read(&self.path, self.header.started, &self.space)?;
        for evaluation in &resumed.evaluations {
            starts.resolve(evaluation.request, None);
        }
        for resample in &resumed.resamples {
            starts.resolve(Request::timed(resample.config), Some(resample.role));
        }
        let failed = starts.failed();
        let named = |start: Start| {
            let config = Self::config(&self.space, &self.space.unrank(start.request.config));
            format!("{} ({})", start.request.config, line::arguments(&config))
        };
        let suspects = starts.suspects().map(named).map(|config| {
            format!("the run ended while configuration {config} was measured, which is therefore tried once more")
        });
        resumed.warnings.extend(suspects);
        let failures = failed.iter().map(|(start, _)| {
            format!(
                "the run ended twice while configuration {} was measured, which now counts as failed",
                named(*start)
            )
        });
        resumed.warnings.extend(failures);
        self.starts = Some(starts);
        failed.into_iter().try_for_each(|(start, failure)| self.fail(start, failure, resumed))
    }

    /// Keeps the failure of a measurement that had begun.
    fn fail(&mut self, start: Start, failure: Failure, resumed: &mut Resumed) -> Result<(), StoreError> {
        let clocks = resumed.evaluations.iter().map(|evaluation| evaluation.clock);
        let clock = clocks.chain(resumed.resamples.iter().map(|resample| resample.clock)).max().unwrap_or_default();
        let Start { request, role } = start;
        let (failure, measurement) = (Some(failure), Measurement::default());
        match role {
            None => {
                let evaluation = Evaluation { request, failure, measurement, clock, proposed: None };
                self.add(&evaluation)?;
                resumed.evaluations.push(Box::new(evaluation));
            }
            Some(role) => {
                let resample = Resample { role, config: request.config, failure, measurement, clock };
                self.add_again(&resample)?;
                resumed.resamples.push(resample);
            }
        }
        Ok(())
    }
}

impl Store for Journal {
    fn append(&mut self, evaluation: &Evaluation) -> Result<(), Error> {
        self.add(evaluation).map_err(error)
    }

    fn keep_start(&mut self, start: Start) -> Result<(), Error> {
        self.with_starts(|starts, space| starts.keep(space, start))
    }

    fn forget_start(&mut self) -> Result<(), Error> {
        self.with_starts(Starts::forget)
    }

    fn sync(&mut self) -> Result<(), Error> {
        self.file.sync().map_err(|source| error(self.io(source)))
    }

    fn append_again(&mut self, resample: &Resample) -> Result<(), Error> {
        self.add_again(resample).map_err(error)
    }

    fn append_verdict(&mut self, verdict: &Verdict, drift: Option<&Drift>) -> Result<(), Error> {
        let Some(line) = VerdictLine::new(verdict, drift) else { return Ok(()) };
        if self.verdict.as_ref() == Some(&line) {
            return Ok(());
        }
        self.write_line(&line).map_err(error)?;
        self.verdict = Some(line);
        Ok(())
    }

    fn is_lost(&self) -> bool {
        matches!(self.loss(), Ok(Some(_)))
    }

    fn renew(&mut self, evaluations: &[&Evaluation], resamples: &[Resample]) -> Result<String, Error> {
        let how = self.loss().ok().flatten().unwrap_or_else(|| "was left".to_string());
        let create = |path: &Path| self.file.create_beside(path);
        let mut new = Self::create_by(create, &self.base, &self.header, &self.space).map_err(error)?;
        evaluations.iter().try_for_each(|evaluation| new.add(evaluation)).map_err(error)?;
        resamples.iter().try_for_each(|resample| new.add_again(resample)).map_err(error)?;
        let mut old = std::mem::replace(self, new);
        if let Some(starts) = old.starts.take() {
            let mut new = Starts::new(&self.path, self.header.started);
            new.take_over(starts, &self.space).map_err(|source| error(new.io(source)))?;
            self.starts = Some(new);
        }
        let (old, new) = (old.path.display(), self.path.display());
        Ok(format!("the journal `{old}` {how}; everything measured so far is in `{new}`, where the run continues"))
    }
}

impl SecondStore for Journal {
    fn append_second(&mut self, second: &Evaluation, by: &str) -> Result<(), Error> {
        self.check(second.request.config, &second.measurement).map_err(error)?;
        self.write_line(&Second::new(&self.space, second, by)).map_err(error)
    }
}

fn error(error: StoreError) -> Error {
    Error::Store(Box::new(error))
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
