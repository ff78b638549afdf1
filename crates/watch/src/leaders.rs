//! The best configurations of a search so far.

use std::ops::Deref;
use tunesmith_core::Depth;

/// Maximum number of leaders. A final measures eight of them again.
pub(crate) const MOST: usize = 50;

/// A configuration with its evaluation.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Leader {
    /// The rank of the configuration.
    pub(crate) index: u128,
    /// The configuration as `--config` takes it.
    pub(crate) config: String,
    /// The median score of its samples.
    pub(crate) score: f64,
    pub(crate) depth: Depth,
    /// The number of its evaluation, counted from 1.
    pub(crate) evaluation: u64,
}

/// The best configurations, the best first. Of equal scores, the first found comes first.
#[derive(Clone, Debug, Default)]
pub(crate) struct Leaders(Vec<Leader>);

impl Deref for Leaders {
    type Target = [Leader];

    fn deref(&self) -> &[Leader] {
        &self.0
    }
}

impl Leaders {
    /// Returns true if a configuration with `score` would be one of them.
    pub(crate) fn takes(&self, score: f64) -> bool {
        self.0.len() < MOST || self.0.last().is_some_and(|last| score < last.score)
    }

    /// Adds a configuration, if it is among the best. Of two evaluations of one configuration, the
    /// timed one counts.
    pub(crate) fn add(&mut self, leader: Leader) {
        if let Some(known) = self.0.iter().position(|known| known.index == leader.index) {
            if leader.depth != Depth::Timed {
                return;
            }
            self.0.remove(known);
        }
        let place = self.0.partition_point(|known| known.score <= leader.score);
        self.0.insert(place, leader);
        self.0.truncate(MOST);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leader(index: u128, score: f64, depth: Depth) -> Leader {
        Leader { index, config: String::new(), score, depth, evaluation: index as u64 }
    }

    #[test]
    fn leaders_are_the_best_of_all_in_order() {
        let mut leaders = Leaders::default();
        let scores: Vec<f64> = (0..200).map(|at| f64::from(at * 37 % 101)).collect();
        for (index, score) in scores.iter().enumerate() {
            if leaders.takes(*score) {
                leaders.add(leader(index as u128, *score, Depth::Timed));
            }
        }
        let mut sorted: Vec<(f64, u128)> = scores.iter().copied().zip(0..).collect();
        sorted.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let found: Vec<(f64, u128)> = leaders.iter().map(|leader| (leader.score, leader.index)).collect();
        assert_eq!(found, sorted[..MOST]);
    }

    #[test]
    fn the_timed_evaluation_of_a_configuration_counts() {
        let mut leaders = Leaders::default();
        leaders.add(leader(1, 5.0, Depth::Profiled));
        leaders.add(leader(2, 4.0, Depth::Timed));
        leaders.add(leader(1, 3.0, Depth::Timed));
        leaders.add(leader(2, 1.0, Depth::Profiled));
        let found: Vec<(u128, f64)> = leaders.iter().map(|leader| (leader.index, leader.score)).collect();
        assert_eq!(found, [(1, 3.0), (2, 4.0)]);
    }
}
