//! Summarises the failures of a run.

use crate::{Evaluation, Failure, FailureKind, ObjectiveFunction};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Correct configurations that have no value of the objective.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unscored {
    /// Their number.
    pub count: usize,
    /// The reason why the first one has none.
    pub reason: String,
}

/// The commonest failure of one kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommonFailure {
    /// The kind.
    pub kind: FailureKind,
    /// Number of failures of this kind, with any message.
    pub count: usize,
    /// The headline of most of them.
    pub message: String,
}

impl Unscored {
    /// Counts the correct evaluations without a value of `objective`. Returns `None` if there are
    /// none.
    pub fn of<'a>(
        evaluations: impl Iterator<Item = &'a Evaluation>,
        objective: &dyn ObjectiveFunction,
    ) -> Option<Self> {
        let reason =
            |evaluation: &Evaluation| objective.samples(evaluation.request.config, &evaluation.measurement).err();
        let mut reasons = evaluations.filter(|evaluation| evaluation.is_correct()).filter_map(reason);
        let first = reasons.next()?;
        Some(Self { count: 1 + reasons.count(), reason: first })
    }
}

/// Returns the number of failures and the commonest headline for each kind of failure, the
/// commonest kind first.
pub fn common_failures<'a>(failures: impl Iterator<Item = &'a Failure>) -> Vec<CommonFailure> {
    let mut headlines: BTreeMap<FailureKind, BTreeMap<&str, usize>> = BTreeMap::new();
    for failure in failures {
        *headlines.entry(failure.kind).or_default().entry(failure.headline()).or_default() += 1;
    }
    let commonest = |(kind, counts): (FailureKind, BTreeMap<&str, usize>)| {
        let headline = counts.iter().max_by_key(|(_, count)| **count).map(|(headline, _)| (*headline).to_string());
        CommonFailure { kind, count: counts.values().sum(), message: headline.unwrap_or_default() }
    };
    let mut failures: Vec<CommonFailure> = headlines.into_iter().map(commonest).collect();
    failures.sort_by_key(|failure| Reverse(failure.count));
    failures
}
