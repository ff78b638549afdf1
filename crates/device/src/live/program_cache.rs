//! Programs that are kept for the next measurement of their configuration.

use crate::live::programs::BuiltKernels;
use std::collections::VecDeque;
use std::sync::Arc;
use tunesmith_space::ConfigId;

/// The programs of the configurations that were re-measured last. Repeated rounds of the same few
/// configurations compile each of them once.
#[derive(Debug, Default)]
pub(super) struct ProgramCache(VecDeque<(ConfigId, Arc<BuiltKernels>)>);

/// The number of programs kept: the finalists of a run, its reference, and some to spare.
const MOST_PROGRAMS: usize = 12;

impl ProgramCache {
    pub(super) fn get(&self, config: ConfigId) -> Option<Arc<BuiltKernels>> {
        self.0.iter().find(|(known, _)| *known == config).map(|(_, built)| Arc::clone(built))
    }

    pub(super) fn add(&mut self, config: ConfigId, built: Arc<BuiltKernels>) {
        self.0.truncate(MOST_PROGRAMS - 1);
        self.0.push_front((config, built));
    }
}
