//! The turns that configurations took in a final.

use crate::judge::standing::{Stage, Turns, counted};
use std::collections::HashMap;
use std::hash::Hash;

/// The visits of one configuration in the final.
#[derive(Clone, Default)]
pub(super) struct OfFinal {
    /// The scores of the selection visits.
    pub(super) before: Vec<f64>,
    /// The stage and the median of every visit, corrected for drift.
    pub(super) visits: Vec<(Stage, f64)>,
    /// The medians of the visits in the selection rounds.
    pub(super) selection: Vec<f64>,
    /// The medians of the visits in the confirmation rounds.
    pub(super) confirmation: Vec<f64>,
}

impl OfFinal {
    pub(super) fn turns(&self) -> Turns<'_> {
        Turns { before: &self.before, selection: &self.selection, confirmation: &self.confirmation }
    }
}

/// The visits of the final by configuration.
pub(super) struct Finals<K>(pub(super) HashMap<K, OfFinal>);

impl<K: Copy + Ord + Hash> Finals<K> {
    /// Returns the medians of the visits that count for `config`. Empty if it was not visited.
    pub(super) fn counted(&self, config: K) -> Vec<f64> {
        self.0.get(&config).map(|of| counted(of.visits.iter().copied())).unwrap_or_default()
    }

    /// Returns the number of finalists that are not among the `failed`.
    pub(super) fn entrants(&self, failed: &[K]) -> usize {
        self.0.keys().filter(|config| self.competed(**config) && !failed.contains(config)).count()
    }

    /// Returns the medians of the selection visits to `config`.
    pub(super) fn selection(&self, config: K) -> Vec<f64> {
        self.0.get(&config).map(|of| of.selection.clone()).unwrap_or_default()
    }

    /// Returns true if `config` was a finalist.
    pub(super) fn competed(&self, config: K) -> bool {
        self.0.get(&config).is_some_and(|of| of.visits.iter().any(|(stage, _)| *stage != Stage::Baseline))
    }

    /// Returns the medians of both in the confirmation rounds, if both took part there.
    pub(super) fn paired(&self, one: K, other: K) -> Option<(&[f64], &[f64])> {
        let confirmed = |config| Some(self.0.get(&config)?.confirmation.as_slice()).filter(|all| !all.is_empty());
        confirmed(one).zip(confirmed(other))
    }
}
