//! Programs that are kept for later measurements of their configurations.

use crate::live::programs::BuiltKernels;
use std::collections::VecDeque;
use std::sync::Arc;
use tunesmith_space::ConfigId;

/// The programs of configurations that are likely to be measured again. Repeated rounds of the same few
/// configurations then compile none of them.
#[derive(Debug, Default)]
pub(super) struct ProgramCache {
    /// Those that were re-measured last.
    again: VecDeque<(ConfigId, Arc<BuiltKernels>)>,
    /// The first that was measured: the default, which takes its turn in every final.
    first: Option<(ConfigId, Arc<BuiltKernels>)>,
    /// The fastest, from which a final takes its finalists, with their times in milliseconds.
    fastest: Vec<(f64, ConfigId, Arc<BuiltKernels>)>,
}

/// The number of programs kept of each kind: the finalists of a run, its reference, and some to spare.
const MOST_PROGRAMS: usize = 12;

impl ProgramCache {
    pub(super) fn get(&self, config: ConfigId) -> Option<Arc<BuiltKernels>> {
        let fastest = self.fastest.iter().map(|(_, known, built)| (*known, built));
        let others = self.again.iter().chain(&self.first).map(|(known, built)| (*known, built));
        others.chain(fastest).find(|(known, _)| *known == config).map(|(_, built)| Arc::clone(built))
    }

    /// Keeps the program of a configuration that was measured again.
    pub(super) fn add(&mut self, config: ConfigId, built: Arc<BuiltKernels>) {
        self.again.truncate(MOST_PROGRAMS - 1);
        self.again.push_front((config, built));
    }

    /// Keeps the program of a correct configuration that took `ms` milliseconds, if it is the first or
    /// among the fastest.
    pub(super) fn offer(&mut self, config: ConfigId, built: Arc<BuiltKernels>, ms: f64) {
        self.first.get_or_insert_with(|| (config, Arc::clone(&built)));
        let place = self.fastest.partition_point(|(known, ..)| *known <= ms);
        self.fastest.insert(place, (ms, config, built));
        self.fastest.truncate(MOST_PROGRAMS);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tunesmith_space::{Parameter, Space, Values};

    #[test]
    fn the_first_and_the_fastest_programs_are_kept() {
        let number = Parameter::new("N", Values::list(0..20)).unwrap();
        let space = Space::builder().parameter(number).build().unwrap();
        let config = |rank: u128| space.id(rank).unwrap();
        let mut cache = ProgramCache::default();
        for rank in 0..20 {
            cache.offer(config(rank), Arc::default(), 100.0 - (rank % 16) as f64);
        }
        let kept: Vec<u128> = (0..20).filter(|rank| cache.get(config(*rank)).is_some()).collect();
        assert_eq!(kept, [0].into_iter().chain(4..16).collect::<Vec<_>>());
    }
}
