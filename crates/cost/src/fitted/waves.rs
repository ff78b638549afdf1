//! Work-groups in waves: the idle units of a launch with few work-groups.

use super::case::Case;
use super::property::{CostProperty, PropertyCounts, Resource};
use tunesmith_loopnest::Property;

/// Returns the slow-down of a launch compared with work spread evenly over `units` compute units:
/// `ceil(groups / units) * units / groups`. Each unit runs one work-group after the other. The
/// slow-down is 1 if the work-groups are not counted.
fn imbalance(counts: &PropertyCounts, units: f64) -> f64 {
    let groups = counts.of(CostProperty::Items(Property::Groups));
    if groups > 0.0 { (groups / units).ceil() * units / groups } else { 1.0 }
}

/// Returns the factor for a count of the property: the [imbalance], or 1 for costs per launch and
/// work-group.
pub(super) fn factor(counts: &PropertyCounts, property: CostProperty, units: f64) -> f64 {
    if property.resource() == Resource::Overhead { 1.0 } else { imbalance(counts, units) }
}

/// Returns the case as if every unit did the work of the busiest one.
pub(super) fn balanced(case: &Case, units: f64) -> Case {
    let counts = case.counts.map(|property, count| count * factor(&case.counts, property, units));
    Case { counts, ..case.clone() }
}

#[cfg(test)]
mod tests {
    use super::super::property::counts_of;
    use super::*;

    /// Returns the busiest unit's share by handing out one work-group after the other.
    fn busiest(groups: usize, units: usize) -> f64 {
        let mut load = vec![0_usize; units];
        (0..groups).for_each(|group| load[group % units] += 1);
        load.into_iter().max().unwrap_or(0) as f64 / (groups as f64 / units as f64)
    }

    #[test]
    fn the_busiest_unit_decides() {
        for units in 1..9 {
            for groups in 1..40 {
                let counts = counts_of(&[("groups", groups as f64)]);
                let found = imbalance(&counts, units as f64);
                assert!((found - busiest(groups, units)).abs() < 1e-12, "{groups} on {units}");
            }
        }
        assert_eq!(imbalance(&PropertyCounts::default(), 8.0), 1.0);
    }
}
