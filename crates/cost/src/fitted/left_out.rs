//! The errors of a model on nests that it was not fitted to, and on classes of nests.

use super::case::Case;
use super::hull::Hull;
use super::model::CostModel;
use super::property::CostProperty;
use super::reach::{COVERAGE, Missed, Reach};
use std::collections::{BTreeMap, BTreeSet};

/// Returns the reach of `model`, given models fitted without each part of the cases, by what `part` says of
/// the cases of one. Every nest weighs the same. Returns `None` if the nests are too few to say anything at
/// this coverage, which needs nine.
///
/// A case with a property that no other part has is left out. The model calls such a property
/// unmeasured, so the interval says nothing about it.
pub(super) fn reach(
    model: &CostModel,
    cases: &[Case],
    without: &BTreeMap<&str, CostModel>,
    part: impl Fn(&Case) -> &str,
) -> Option<Reach> {
    let measured = measured_by(cases, &part);
    let mut missed: Vec<Missed> = Vec::new();
    let mut nests = 0;
    for (left_out, other) in without {
        let hull = Hull::new(model, cases.iter().filter(|case| part(case) != *left_out));
        let is_known = |case: &&Case| {
            let known = |property: &CostProperty| measured[property].iter().any(|known| known != left_out);
            let used = case.counts.iter().filter(|(property, count)| *count > 0.0 && model.takes(*property));
            used.map(|(property, _)| property).filter(|own| own.is_operation()).all(|own| known(&own))
        };
        let own: Vec<&Case> = cases.iter().filter(|case| part(case) == *left_out).filter(is_known).collect();
        let mut by_nest: BTreeMap<&str, usize> = BTreeMap::new();
        own.iter().for_each(|case| *by_nest.entry(case.nest()).or_default() += 1);
        nests += by_nest.len();
        let error = |case: &&Case| {
            let distance = hull.distance(model, &case.counts).map_or(0.0, |distance| distance.share);
            // Plain least squares can give a time below 0, which is infinitely wrong.
            let ratio = other.seconds(&case.counts).max(0.0) / case.seconds;
            Missed { error: ratio.ln().abs(), distance, weight: 1.0 / by_nest[case.nest()] as f64 }
        };
        missed.extend(own.iter().map(error));
    }
    Reach::of(&missed, nests, COVERAGE)
}

/// Returns the parts of the cases that have each property.
fn measured_by<'a>(cases: &'a [Case], part: &impl Fn(&Case) -> &str) -> BTreeMap<CostProperty, BTreeSet<&'a str>> {
    let mut found: BTreeMap<CostProperty, BTreeSet<&str>> = BTreeMap::new();
    for case in cases {
        for (property, count) in case.counts.iter() {
            let parts = found.entry(property).or_default();
            if count > 0.0 {
                parts.insert(part(case));
            }
        }
    }
    found
}
