//! The final re-measurement of a run, as far as its journal tells.

use crate::scale::Scale;
use std::collections::HashMap;
use tunesmith_core::judge::standing::{Stage, counted};
use tunesmith_core::{Role, statistics};
use tunesmith_store::{Again, DriftLine, VerdictLine, arguments};

/// The later measurements of a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct FinalSeen {
    finalists: HashMap<u128, Finalist>,
    /// Number of visits.
    pub(crate) visits: usize,
    /// Number of probes of the reference.
    pub(crate) probes: usize,
    verdict: Option<Decided>,
}

/// A configuration that was measured again.
#[derive(Clone, Debug, Default)]
pub(crate) struct Finalist {
    /// The configuration as `--config` takes it.
    pub(crate) config: String,
    /// The median of each visit.
    medians: Vec<(Stage, f64)>,
    /// True if it failed when measured again.
    pub(crate) failed: bool,
}

/// A verdict.
#[derive(Clone, Debug)]
struct Decided {
    winner: u128,
    ties: Vec<u128>,
    drift: Option<DriftLine>,
}

/// The standing of a configuration in the final.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Standing {
    /// It is the best.
    Winner,
    /// It is the tie at this place.
    Tie(usize),
    /// The final did not name it, or has not ended.
    Open,
    /// It failed when measured again.
    Failed,
}

impl Finalist {
    /// Returns the median of the visits that count, and their number.
    pub(crate) fn measured(&self) -> Option<(f64, usize)> {
        let medians = counted(self.medians.iter().copied());
        Some((statistics::median(&medians)?, medians.len()))
    }
}

impl FinalSeen {
    /// Forgets the final: more evaluations follow, so it decides nothing. A failure stays one.
    pub(crate) fn forget(&mut self) {
        if self.verdict.is_some() || self.visits > 0 {
            self.verdict = None;
            self.visits = 0;
            self.finalists.retain(|_, finalist| finalist.failed);
            self.finalists.values_mut().for_each(|finalist| finalist.medians.clear());
        }
    }

    /// Adds a later measurement.
    pub(crate) fn add(&mut self, again: &Again, scale: &Scale) {
        let (Some(role), Ok(index)) = (again.role(), again.entry.index.parse()) else { return };
        let failed = !matches!(again.entry.failure(), Ok(None));
        self.probes += usize::from(role == Role::Reference);
        let stage = role.stage();
        self.visits += usize::from(stage.is_some());
        if stage.is_none() && !failed {
            return;
        }
        let finalist = self.finalists.entry(index).or_default();
        finalist.config = arguments(&again.entry.config);
        finalist.failed |= failed;
        let median = statistics::median(&scale.scores(&again.entry)).filter(|_| !failed);
        finalist.medians.extend(stage.zip(median));
    }

    /// Takes a verdict.
    pub(crate) fn decide(&mut self, line: &VerdictLine) {
        let ties = line.ties.iter().filter_map(|index| index.parse().ok()).collect();
        self.verdict = line.winner.parse().ok().map(|winner| Decided { winner, ties, drift: line.drift });
    }

    /// Returns true if there is a verdict on all evaluations.
    pub(crate) fn is_decided(&self) -> bool {
        self.verdict.is_some()
    }

    /// Returns the number of configurations that are indistinguishable from the winner, if there is
    /// a verdict.
    pub(crate) fn ties(&self) -> Option<usize> {
        self.verdict.as_ref().map(|verdict| verdict.ties.len())
    }

    /// Returns the drift of the device, if the verdict tells it.
    pub(crate) fn drift(&self) -> Option<DriftLine> {
        self.verdict.as_ref()?.drift
    }

    /// Returns the configurations that took part.
    pub(crate) fn finalists(&self) -> impl Iterator<Item = (u128, &Finalist)> {
        self.finalists.iter().map(|(index, finalist)| (*index, finalist))
    }

    pub(crate) fn finalist(&self, index: u128) -> Option<&Finalist> {
        self.finalists.get(&index)
    }

    /// Returns the standing of a configuration.
    pub(crate) fn standing(&self, index: u128) -> Standing {
        let tie = |verdict: &Decided| verdict.ties.iter().position(|tie| *tie == index).map(Standing::Tie);
        let named = self
            .verdict
            .as_ref()
            .and_then(|verdict| if verdict.winner == index { Some(Standing::Winner) } else { tie(verdict) });
        let failed = self.finalist(index).is_some_and(|finalist| finalist.failed);
        named.unwrap_or(if failed { Standing::Failed } else { Standing::Open })
    }
}
