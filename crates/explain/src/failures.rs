//! The values that failed configurations share.

use crate::axis::Axis;
use crate::condition::{Condition, Span};
use crate::trials::{TrialResult, Trials};
use serde::ser::SerializeStruct as _;
use serde::{Serialize, Serializer};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use tunesmith_core::{Cuts, FailureKind};

/// The failures of one kind.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FailureCause {
    /// The kind.
    #[serde(serialize_with = "word")]
    pub status: FailureKind,
    /// Number of failures of this kind.
    pub count: usize,
    /// The values that explain them, if one or two conditions do.
    #[serde(rename = "because", serialize_with = "text")]
    pub cause: Option<Cause>,
    /// Number of these failures that the conditions cover.
    pub covered: usize,
    /// Number of correct configurations that meet the conditions all the same.
    pub correct: usize,
    /// The commonest first line of their messages.
    pub message: String,
}

/// The configurations that limits from the best time cut. They did not fail.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CutCause {
    /// Their number, and the limits.
    #[serde(flatten, serialize_with = "serialize_cuts")]
    pub cuts: Cuts,
    /// The values that they share, if one or two conditions tell them from the correct ones.
    #[serde(rename = "because", serialize_with = "text")]
    pub cause: Option<Cause>,
    /// Number of them that the conditions cover.
    pub covered: usize,
    /// Number of correct configurations that meet the conditions all the same.
    pub correct: usize,
}

/// Writes cuts as `count`, `limit_ms` and `times_the_best`.
///
/// # Errors
/// The serializer fails.
pub fn serialize_cuts<S: Serializer>(cuts: &Cuts, serializer: S) -> Result<S::Ok, S::Error> {
    let Cuts { count, limit_ms: (least, largest), factor } = *cuts;
    let mut fields = serializer.serialize_struct("Cuts", 3)?;
    fields.serialize_field("count", &count)?;
    fields.serialize_field("limit_ms", &[least, largest])?;
    fields.serialize_field("times_the_best", &factor)?;
    fields.end()
}

/// One or two conditions that hold together.
#[derive(Clone, Debug, PartialEq)]
pub struct Cause {
    /// The conditions, each on another parameter.
    pub conditions: Vec<Condition>,
}

impl Cause {
    /// Returns the constraint of a problem file that excludes what meets the conditions.
    pub fn constraint(&self) -> String {
        let texts: Vec<String> = self.conditions.iter().map(Condition::expression).collect();
        format!("not ({})", texts.join(" and "))
    }
}

impl std::fmt::Display for Cause {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let texts: Vec<String> = self.conditions.iter().map(Condition::to_string).collect();
        f.write_str(&texts.join(" and "))
    }
}

fn word<S: Serializer>(kind: &FailureKind, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(kind.word())
}

fn text<S: Serializer>(cause: &Option<Cause>, serializer: S) -> Result<S::Ok, S::Error> {
    match cause {
        Some(cause) => serializer.collect_str(cause),
        None => serializer.serialize_none(),
    }
}

/// Minimum share of the failures that the conditions cover.
const COVERED: f64 = 0.8;
/// Minimum share of failures among the configurations that meet the conditions, other failures aside.
const PRECISION: f64 = 0.8;
/// Maximum probability that chance alone makes conditions fit as well, all tried ones considered.
const CHANCE: f64 = 0.01;
/// Improvement of the fit for which a second condition is worth reading.
const WORTH: f64 = 0.05;
/// Number of first conditions that a second one is looked for.
const BEAM: usize = 24;
/// Maximum number of values that are listed one by one.
const LISTED: usize = 3;

/// Returns the failures by kind, the commonest first, each with the smallest conditions on one or two
/// parameters that cover them and hardly any correct configuration.
///
/// Costs, for each kind, a look at every evaluation for some hundred intervals of every parameter.
pub fn failure_causes(trials: &Trials) -> Vec<FailureCause> {
    let mut kinds: BTreeMap<FailureKind, BTreeMap<&str, usize>> = BTreeMap::new();
    for trial in trials.all() {
        if let TrialResult::Failed { kind, headline } = &trial.result {
            *kinds.entry(*kind).or_default().entry(headline).or_default() += 1;
        }
    }
    let cause = |(kind, headlines): (&FailureKind, &BTreeMap<&str, usize>)| {
        let commonest = headlines.iter().max_by_key(|(_, count)| **count).map(|(text, _)| (*text).to_string());
        let cases = Cases::new(trials, |result| matches!(result, TrialResult::Failed { kind: own, .. } if own == kind));
        let found = cases.explained();
        FailureCause {
            status: *kind,
            count: cases.failed,
            covered: found.as_ref().map_or(0, |rule| rule.failed),
            correct: found.as_ref().map_or(0, |rule| rule.correct),
            cause: found.map(|rule| cases.cause(&rule)),
            message: commonest.unwrap_or_default(),
        }
    };
    let mut causes: Vec<FailureCause> = kinds.iter().map(cause).collect();
    causes.sort_by_key(|cause| Reverse(cause.count));
    causes
}

/// Returns the configurations that limits from the best time cut, with the smallest conditions on one or
/// two parameters that tell them from the correct ones. `None` if there are none.
pub fn cut_cause(trials: &Trials) -> Option<CutCause> {
    let cuts = trials.all().iter().filter_map(|trial| match trial.result {
        TrialResult::Cut(cut) => Some(cut),
        _ => None,
    });
    let cuts = Cuts::of(cuts)?;
    let cases = Cases::new(trials, |result| matches!(result, TrialResult::Cut(_)));
    let found = cases.explained();
    Some(CutCause {
        cuts,
        covered: found.as_ref().map_or(0, |rule| rule.failed),
        correct: found.as_ref().map_or(0, |rule| rule.correct),
        cause: found.map(|rule| cases.cause(&rule)),
    })
}

/// The evaluations that a cause must tell apart: failures of one kind, and correct ones.
struct Cases<'a> {
    axes: &'a [Axis],
    /// The cells of each, and whether it failed.
    cases: Vec<(Vec<usize>, bool)>,
    failed: usize,
    correct: usize,
}

/// The cells that a condition admits on one axis.
#[derive(Clone, Debug, PartialEq)]
struct Side {
    axis: usize,
    cells: Vec<usize>,
}

/// Conditions that hold together.
#[derive(Clone, Debug)]
struct Rule {
    sides: Vec<Side>,
    failed: usize,
    correct: usize,
}

impl<'a> Cases<'a> {
    /// Tells the results that are `wanted` from correct ones. Others are left out.
    fn new(trials: &'a Trials, wanted: impl Fn(&TrialResult) -> bool) -> Self {
        let axes = trials.axes();
        let cells = |places: &[u32]| axes.iter().zip(places).map(|(axis, place)| axis.cell(*place)).collect();
        let case = |trial: &crate::trials::Trial| match &trial.result {
            result if wanted(result) => Some((cells(&trial.places), true)),
            TrialResult::Failed { .. } | TrialResult::Cut(_) => None,
            TrialResult::Score(_) | TrialResult::Unscored => Some((cells(&trial.places), false)),
        };
        let cases: Vec<(Vec<usize>, bool)> = trials.all().iter().filter_map(case).collect();
        let failed = cases.iter().filter(|(_, failed)| *failed).count();
        Self { axes, failed, correct: cases.len() - failed, cases }
    }

    /// Returns the conditions that explain the failures, if any do.
    fn explained(&self) -> Option<Rule> {
        let mut tried = 0;
        let mut singles: Vec<Rule> = Vec::new();
        for axis in 0..self.axes.len() {
            singles.extend(self.rules(axis, None, &mut tried));
        }
        singles.sort_by(|a, b| self.fit(b).total_cmp(&self.fit(a)));
        let mut doubles: Vec<Rule> = Vec::new();
        for first in singles.iter().filter(|rule| self.covers(rule)).take(BEAM) {
            for axis in (0..self.axes.len()).filter(|axis| *axis != first.sides[0].axis) {
                doubles.extend(self.rules(axis, Some(first), &mut tried));
            }
        }
        let double = doubles.into_iter().max_by(|a, b| self.fit(a).total_cmp(&self.fit(b)));
        let single = singles.into_iter().next()?;
        let improved = double.filter(|double| self.fit(double) > self.fit(&single) + WORTH);
        Some(improved.unwrap_or(single)).filter(|rule| self.is_sound(rule, tried))
    }

    /// Returns the best conditions on `axis`, beside those of `first`, adding to the number of those
    /// tried.
    fn rules(&self, axis: usize, first: Option<&Rule>, tried: &mut usize) -> Vec<Rule> {
        let mut counts = vec![(0, 0); self.axes[axis].cells()];
        for (cells, failed) in self.cases.iter().filter(|(cells, _)| first.is_none_or(|rule| rule.admits(cells))) {
            let count = &mut counts[cells[axis]];
            *count = if *failed { (count.0 + 1, count.1) } else { (count.0, count.1 + 1) };
        }
        let rule = |cells: Vec<usize>| {
            let (failed, correct) =
                cells.iter().map(|cell| counts[*cell]).fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
            let sides = first.into_iter().flat_map(|rule| rule.sides.clone()).chain([Side { axis, cells }]);
            let mut sides: Vec<Side> = sides.collect();
            sides.sort_by_key(|side| side.axis);
            Rule { sides, failed, correct }
        };
        let candidates = candidates(&counts, self.axes[axis].is_ordered());
        *tried += candidates.len();
        candidates.into_iter().map(rule).collect()
    }

    /// Returns the harmonic mean of coverage and precision.
    fn fit(&self, rule: &Rule) -> f64 {
        2.0 * rule.failed as f64 / (self.failed + rule.failed + rule.correct) as f64
    }

    fn covers(&self, rule: &Rule) -> bool {
        rule.failed as f64 >= COVERED * self.failed as f64
    }

    /// Returns true if the rule covers most failures, hardly any correct configuration, and not by
    /// chance.
    fn is_sound(&self, rule: &Rule, tried: usize) -> bool {
        let precision = rule.failed as f64 / (rule.failed + rule.correct) as f64;
        let chance = chance(rule.failed, rule.correct, self.failed, self.correct);
        self.covers(rule) && precision >= PRECISION && chance * tried as f64 <= CHANCE
    }

    fn cause(&self, rule: &Rule) -> Cause {
        let condition = |side: &Side| {
            let axis = &self.axes[side.axis];
            let places = |cell: &usize| axis.start(*cell)..axis.start(cell + 1);
            let places: Vec<usize> = side.cells.iter().flat_map(places).collect();
            Condition { parameter: axis.name().to_string(), span: Span::around(axis, &places) }
        };
        Cause { conditions: rule.sides.iter().map(condition).collect() }
    }
}

impl Rule {
    fn admits(&self, cells: &[usize]) -> bool {
        self.sides.iter().all(|side| side.cells.contains(&cells[side.axis]))
    }
}

/// Returns the sets of cells that may explain failures, from the failed and the correct evaluations
/// in each cell. On an ordered axis these are the intervals that begin and end with a failure; they
/// go on to the end of the list if nothing else was evaluated there. Otherwise they are single cells,
/// and all cells with failures if they are few. A set that admits everything evaluated explains
/// nothing.
fn candidates(counts: &[(usize, usize)], is_ordered: bool) -> Vec<Vec<usize>> {
    let with_failures: Vec<usize> = (0..counts.len()).filter(|cell| counts[*cell].0 > 0).collect();
    let is_seen = |cell: usize| counts[cell] != (0, 0);
    let mut sets: Vec<Vec<usize>> = Vec::new();
    if is_ordered {
        for (at, first) in with_failures.iter().enumerate() {
            for last in &with_failures[at..] {
                let low = if (0..*first).any(is_seen) { *first } else { 0 };
                let high = if (last + 1..counts.len()).any(is_seen) { *last } else { counts.len() - 1 };
                sets.push((low..=high).collect());
            }
        }
    } else {
        sets.extend(with_failures.iter().map(|cell| vec![*cell]));
        sets.extend((2..=LISTED).contains(&with_failures.len()).then(|| with_failures.clone()));
    }
    sets.retain(|set| (0..counts.len()).any(|cell| is_seen(cell) && !set.contains(&cell)));
    sets
}

/// Returns the probability that at least `covered` of `failed` failures lie among
/// `covered + hit` evaluations that are chosen from `failed + correct` by chance: the tail of the
/// hypergeometric distribution.
fn chance(covered: usize, hit: usize, failed: usize, correct: usize) -> f64 {
    let mut logs = vec![0.0];
    for number in 1..=failed + correct {
        logs.push(logs[number - 1] + (number as f64).ln());
    }
    let choose = |n: usize, k: usize| logs[n] - logs[k] - logs[n - k];
    let chosen = covered + hit;
    let all = choose(failed + correct, chosen);
    let term = |inside: usize| (choose(failed, inside) + choose(correct, chosen - inside) - all).exp();
    (covered..=failed.min(chosen)).filter(|inside| chosen - inside <= correct).map(term).sum()
}

#[cfg(test)]
#[path = "failures_tests.rs"]
mod tests;
