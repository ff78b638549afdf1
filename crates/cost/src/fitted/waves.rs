//! Work-groups in waves: what a launch with few of them leaves idle.

use super::case::Case;
use super::property::{CostProperty, PropertyCounts, Resource};
use tunesmith_loopnest::Property;

/// Returns by how much longer a launch takes than if its work were spread evenly over `units`
/// compute units, each of which runs one work-group after the other: `ceil(groups / units) * units
/// / groups`. 1 where the work-groups are not counted.
fn imbalance(counts: &PropertyCounts, units: f64) -> f64 {
    let groups = counts.of(CostProperty::Items(Property::Groups));
    if groups > 0.0 { (groups / units).ceil() * units / groups } else { 1.0 }
}

/// Returns what a count of the property is multiplied by: the [imbalance], and 1 for what each
/// launch and work-group costs.
pub(super) fn factor(counts: &PropertyCounts, property: CostProperty, units: f64) -> f64 {
    if property.resource() == Resource::Overhead { 1.0 } else { imbalance(counts, units) }
}

/// Returns the kernel as if every unit did what the busiest one does.
pub(super) fn balanced(case: &Case, units: f64) -> Case {
    let counts = case.counts.map(|property, count| count * factor(&case.counts, property, units));
    Case { counts, ..case.clone() }
}

#[cfg(test)]
mod tests {
    use super::super::property::counts_of;
    use super::*;

    /// Returns the busiest unit's share, by handing out one work-group after the other.
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
