//! Measures a configuration in turn with the default.

use crate::tune::{JournalOptions, Search, Session, TuningTask, tune};
use crate::{Error, Outcome, Problem};
use std::path::PathBuf;
use tunesmith_choose::wisdom::{Config, Input};
use tunesmith_core::{Interrupt, Stop, Target};
use tunesmith_device::Machine;
use tunesmith_study::gathered::sizes;

/// Options for measuring choices.
#[derive(Clone, Debug, Default)]
pub struct GuardOptions {
    /// The machine that measures the choices.
    pub machine: Machine,
    /// Raised to end it.
    pub interrupt: Interrupt,
}

/// A problem whose configurations take turns with its default.
pub(super) struct Duels<'a> {
    pub(super) problem: PathBuf,
    pub(super) options: &'a GuardOptions,
    /// The journal of the measurements. Others are numbered.
    pub(super) journal: PathBuf,
}

impl Duels<'_> {
    /// Tunes two configurations, the default and `config`, or the default alone. A search of two evaluations ends with
    /// the interleaved final re-measurement, as every search does. Returns `None` when interrupted.
    pub(super) fn measure(&self, input: &Input, config: Option<&Config>) -> Result<Option<Outcome>, Error> {
        let problem = Problem::load(&self.problem, &sizes(input))?;
        let start = config.into_iter().flatten().map(|(name, value)| (name.clone(), value.to_string())).collect();
        let search = Search {
            strategy: Some("random".parse()?),
            stop: Some(Stop::evaluations(if config.is_some() { 2 } else { 1 })),
            objective: Some(Target::default()),
            start,
            ..Search::default()
        };
        let journal = JournalOptions { out: Some(self.journal.clone()), ..JournalOptions::default() };
        let mut session = Session { interrupt: self.options.interrupt.clone(), ..Session::default() };
        let task = TuningTask::new(&problem).machine(self.options.machine.clone()).search(search).journal(journal);
        let outcome = tune(&task, &mut session)?;
        Ok((!self.options.interrupt.is_raised()).then_some(outcome))
    }
}
