//! The settings of a run, from Python's keyword arguments.

use crate::command::worker;
use pyo3::prelude::*;
use std::path::{Path, PathBuf};
use tunesmith::core::Interrupt;
use tunesmith::{Error, JournalOptions, Machine, Search, study::ModelChoice};

/// The settings of a run: the entries of a dict, all of which the Python package gives.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Options {
    strategy: Option<String>,
    stop: Option<String>,
    objective: Option<String>,
    seed: Option<u64>,
    room: Option<usize>,
    /// Names and texts of values.
    start: Vec<(String, String)>,
    history: Vec<PathBuf>,
    model: Option<String>,
    keep_going: bool,
    profile: bool,
    device: Option<String>,
    jobs: Option<usize>,
    sandbox: bool,
    pub(crate) out: Option<PathBuf>,
    resume: bool,
    /// The interpreter, and the folder of this module, for workers.
    python: PathBuf,
    folder: String,
}

impl Options {
    /// Returns the settings of the search.
    ///
    /// # Errors
    /// A text does not name a strategy, a stop condition or an objective.
    pub(crate) fn search(&self) -> Result<Search, Error> {
        Ok(Search {
            strategy: self.strategy.as_deref().map(str::parse).transpose()?,
            stop: self.stop.as_deref().map(str::parse).transpose()?,
            objective: self.objective.as_deref().map(str::parse).transpose()?,
            seed: self.seed,
            room: self.room,
            start: self.start.clone(),
            history: self.history.clone(),
            model: self.model.as_deref().map(ModelChoice::from_text),
            profile: self.profile,
            keep_going: self.keep_going,
            propose: None,
        })
    }

    /// Returns the settings of the journal, which is `out` unless the user names one.
    ///
    /// # Errors
    /// The journal to resume does not exist.
    pub(crate) fn journal(&self, out: Option<PathBuf>) -> Result<JournalOptions, Error> {
        let out = self.out.clone().or(out);
        let journal = JournalOptions { out, resume: self.resume, ..JournalOptions::default() };
        journal.check_resumed()?;
        Ok(journal)
    }

    /// Returns the machine as the command line sees it, whose workers are interpreters.
    ///
    /// # Errors
    /// The text does not name a device.
    pub(crate) fn machine(&self, interrupt: &Interrupt) -> Result<Machine, Error> {
        let machine = tunesmith_cli::machine(self.device.as_deref())?;
        let place = machine.worker.keeps_files_in().map(Path::to_owned);
        let worker = worker(self.python.clone(), &self.folder).interrupted_by(interrupt).keeping_files_in(place);
        let sandbox = machine.sandbox.filter(|_| self.sandbox);
        Ok(Machine { worker, jobs: self.jobs, sandbox, ..machine })
    }
}
