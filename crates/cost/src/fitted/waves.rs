//! Work-groups in waves: what a launch with few of them leaves idle.

use super::case::Case;
use super::property::Resource;
use std::collections::BTreeMap;

/// By how much longer a launch takes than if its work were spread evenly over `units` compute units, each of which runs one
/// work-group after the other: `ceil(groups / units) * units / groups`. 1 where the work-groups are not counted.
fn imbalance(counts: &BTreeMap<String, f64>, units: f64) -> f64 {
    match counts.get("groups") {
        Some(groups) if *groups > 0.0 => (groups / units).ceil() * units / groups,
        _ => 1.0,
    }
}

/// What a count of the property is multiplied by: the [imbalance], and 1 for what each launch and work-group costs.
pub(super) fn factor(counts: &BTreeMap<String, f64>, property: &str, units: f64) -> f64 {
    if Resource::of(property) == Resource::Overhead { 1.0 } else { imbalance(counts, units) }
}

/// The kernel as if every unit did what the busiest one does.
pub(super) fn balanced(case: &Case, units: f64) -> Case {
    let counts = case.counts.iter();
    let counts = counts.map(|(property, count)| (property.clone(), count * factor(&case.counts, property, units)));
    Case { counts: counts.collect(), ..case.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The busiest unit's share, by handing out one work-group after the other.
    fn busiest(groups: usize, units: usize) -> f64 {
        let mut load = vec![0_usize; units];
        (0..groups).for_each(|group| load[group % units] += 1);
        load.into_iter().max().unwrap_or(0) as f64 / (groups as f64 / units as f64)
    }

    #[test]
    fn the_busiest_unit_decides() {
        for units in 1..9 {
            for groups in 1..40 {
                let counts = [("groups".to_string(), groups as f64)].into();
                let found = imbalance(&counts, units as f64);
                assert!((found - busiest(groups, units)).abs() < 1e-12, "{groups} on {units}");
            }
        }
        assert_eq!(imbalance(&BTreeMap::new(), 8.0), 1.0);
    }
}
