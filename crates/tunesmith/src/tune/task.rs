//! A problem to tune, and how.

use super::options::{JournalOptions, Search};
use crate::Problem;
use tunesmith_device::Machine;

/// A problem to tune, with the machine that measures, the search and the journal.
///
/// Settings that are left out have their defaults: the usual device of the problem's kernels, the search that the
/// problem's file describes, and a journal beside the problem.
#[derive(Clone, Debug)]
pub struct TuningTask<'a> {
    /// The problem.
    pub problem: &'a Problem,
    /// The machine that measures.
    pub machine: Machine,
    /// The search.
    pub search: Search,
    /// The journal of the run. [`tune_inputs`](crate::tune_inputs()) keeps its journals in a folder of
    /// this name.
    pub journal: JournalOptions,
}

impl<'a> TuningTask<'a> {
    /// Creates a task to tune `problem`, all of whose settings are defaults.
    pub fn new(problem: &'a Problem) -> Self {
        Self { problem, machine: Machine::default(), search: Search::default(), journal: JournalOptions::default() }
    }

    /// Sets the machine.
    #[must_use]
    pub fn machine(self, machine: Machine) -> Self {
        Self { machine, ..self }
    }

    /// Sets the search.
    #[must_use]
    pub fn search(self, search: Search) -> Self {
        Self { search, ..self }
    }

    /// Sets the journal.
    #[must_use]
    pub fn journal(self, journal: JournalOptions) -> Self {
        Self { journal, ..self }
    }
}
