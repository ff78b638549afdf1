//! The errors of a model on nests that it was not fitted to.

use super::case::Case;
use super::hull::Hull;
use super::model::CostModel;
use super::property::CostProperty;
use super::reach::{NEAR, Reach};
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
    let mut errors: Vec<(f64, f64)> = Vec::new();
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
            (ratio.ln().abs() / (NEAR + distance), 1.0 / own.len() as f64)
        };
        errors.extend(own.iter().map(error));
    }
    let error = quantile(errors, COVERAGE * (nests + 1) as f64)?;
    Some(Reach { coverage: COVERAGE, error, nests })
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

/// Returns the least error at which errors up to it weigh `wanted` or more. Returns `None` if none
/// does, or if that error is infinite.
fn quantile(mut errors: Vec<(f64, f64)>, wanted: f64) -> Option<f64> {
    errors.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut weight = 0.0;
    let reached = errors.into_iter().find(|(_, own)| {
        weight += own;
        weight >= wanted - 1e-9
    });
    reached.map(|(error, _)| error).filter(|error| error.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_nest_weighs_the_same_however_many_sizes_it_has() {
        let errors = vec![(5.0, 1.0), (1.0, 0.25), (1.1, 0.25), (1.2, 0.25), (1.3, 0.25), (2.0, 1.0)];
        assert_eq!(quantile(errors.clone(), 1.0), Some(1.3));
        assert_eq!(quantile(errors.clone(), 1.01), Some(2.0));
        assert_eq!(quantile(errors.clone(), 2.7), Some(5.0));
        assert_eq!(quantile(errors, 3.6), None, "more than all of them");
        assert_eq!(quantile(vec![(f64::INFINITY, 1.0)], 0.9), None);
    }
}
