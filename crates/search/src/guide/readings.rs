//! Converts counters by name to readings of quantities.

use std::collections::BTreeMap;
use tunesmith_core::Measurement;
use tunesmith_core::counters::{CounterSet, GLOBAL_SIZE, Hardware, LOCAL_SIZE};
use tunesmith_model::bottleneck::{Family, Quantity, Readings, Size};

/// Returns the readings of a profiled run, with the sizes of the launch, and the family of its
/// counters.
///
/// Returns `None` if no name belongs to a known set of counters.
pub fn readings(measurement: &Measurement) -> Option<(&'static Family, Readings)> {
    let set = CounterSet::of(measurement.counters.keys().map(String::as_str))?;
    let mut readings = of_counters(set, &measurement.counters);
    for (name, quantity) in [(GLOBAL_SIZE, Quantity::Threads), (LOCAL_SIZE, Quantity::GroupThreads)] {
        if let Some(size) = measurement.values.get(name).and_then(|values| values.first()) {
            readings.set(quantity, *size);
        }
    }
    Some((Family::of_set(set.name)?, readings))
}

fn of_counters(set: &CounterSet, counters: &BTreeMap<String, f64>) -> Readings {
    let scaled = counters.iter().filter_map(|(name, value)| {
        let counter = set.counter(name)?;
        Some((counter.quantity, value * counter.scale))
    });
    Readings::from_pairs(scaled)
}

/// Returns the counter of `set`, or the launch size, that measures `quantity`.
pub fn name_of(set: &CounterSet, quantity: Quantity) -> Option<&'static str> {
    if quantity == Quantity::Threads {
        return Some(GLOBAL_SIZE);
    }
    set.meaning(quantity.abbreviation()).next().map(|counter| counter.name)
}

/// Returns the size of the device in the form that bottlenecks need.
pub fn size(hardware: &Hardware) -> Size {
    Size { multiprocessors: hardware.multiprocessors, cores: hardware.cores() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_quantity_of_the_tables_is_known_and_every_set_has_its_family() {
        for set in CounterSet::ALL {
            let family = Family::of_set(set.name).unwrap();
            for counter in set.counters.iter().filter(|counter| !counter.quantity.is_empty()) {
                assert!(Quantity::from_abbreviation(counter.quantity).is_some(), "{}", counter.quantity);
            }
            for quantity in family.expected {
                assert!(name_of(set, *quantity).is_some(), "{} {quantity:?}", set.name);
            }
        }
    }

    #[test]
    fn counters_that_are_no_numbers_count_as_not_read() {
        let counters = [("inst_fp_32", f64::NAN), ("dram_utilization", 5.0), ("inst_renamed", 1.0)];
        let counters = counters.map(|(name, value)| (name.to_string(), value)).into();
        let measurement = Measurement { counters, ..Measurement::default() };
        let (family, readings) = readings(&measurement).unwrap();
        assert_eq!(family, &Family::BEFORE_VOLTA);
        assert_eq!((readings.get(Quantity::DramUse), readings.get(Quantity::Float32)), (Some(0.5), None));
        assert!(super::readings(&Measurement::default()).is_none());
    }
}
