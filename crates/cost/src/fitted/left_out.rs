//! The errors of a model on nests that it was not fitted to.

use super::case::Case;
use super::hull::Hull;
use super::model::CostModel;
use super::property::CostProperty;
use super::reach::{Missed, Reach};
use std::collections::{BTreeMap, BTreeSet};

/// The stated probability that a time lies in its interval.
const COVERAGE: f64 = 0.9;

/// Returns the reach of `model`, given models fitted without each nest. Returns `None` if the
/// nests are too few to say anything at this coverage, which needs nine.
///
/// A case with a property that no other nest has is left out. The model calls such a property
/// unmeasured, so the interval says nothing about it.
pub(super) fn reach(model: &CostModel, cases: &[Case], without: &BTreeMap<&str, CostModel>) -> Option<Reach> {
    let measured = measured_by(cases);
    let mut missed: Vec<Missed> = Vec::new();
    let mut nests = 0;
    for (nest, other) in without {
        let others = cases.iter().filter(|case| case.nest() != *nest);
        let hull = Hull::new(model, others);
        let is_known = |case: &&Case| {
            let known = |property: &CostProperty| measured[property].iter().any(|known| known != nest);
            let used = case.counts.iter().filter(|(property, count)| *count > 0.0 && model.takes(*property));
            used.map(|(property, _)| property).filter(|own| own.is_operation()).all(|own| known(&own))
        };
        let own: Vec<&Case> = cases.iter().filter(|case| case.nest() == *nest).filter(is_known).collect();
        nests += usize::from(!own.is_empty());
        let error = |case: &&Case| {
            let distance = hull.distance(model, &case.counts).map_or(0.0, |distance| distance.share);
            // Plain least squares can give a time below 0, which is infinitely wrong.
            let ratio = other.seconds(&case.counts).max(0.0) / case.seconds;
            Missed { error: ratio.ln().abs(), distance, weight: 1.0 / own.len() as f64 }
        };
        missed.extend(own.iter().map(error));
    }
    Reach::of(&missed, nests, COVERAGE)
}

/// Returns the nests that have each property.
fn measured_by(cases: &[Case]) -> BTreeMap<CostProperty, BTreeSet<&str>> {
    let mut found: BTreeMap<CostProperty, BTreeSet<&str>> = BTreeMap::new();
    for case in cases {
        for (property, count) in case.counts.iter() {
            let nests = found.entry(property).or_default();
            if count > 0.0 {
                nests.insert(case.nest());
            }
        }
    }
    found
}
