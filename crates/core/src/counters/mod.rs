//! Counters as data: the counts of hardware and compilers, by the names of their tools.
//!
//! Every architecture names and scales its counters in its own way. A [`CounterSet`] is the table
//! of one architecture. Counters of different sets with the same meaning share a
//! [quantity](Counter::quantity), so that results from one architecture can serve another.
//!
//! ```
//! use tunesmith_core::counters::{CounterSet, Kind};
//!
//! let set = CounterSet::of(["inst_fp_32", "dram_utilization", "registers"]).unwrap();
//! assert_eq!(set.name, "nvidia before Volta");
//! let counter = set.counter("dram_utilization").unwrap();
//! assert_eq!((counter.kind, counter.quantity), (Kind::Stress, "DRAM_U"));
//! assert_eq!(counter.scale * 5.0, 0.5, "a level of 10 is a share of the peak");
//! ```

mod amd;
mod counter;
mod hardware;
mod nvidia;
mod processor;

pub use counter::{Counter, Kind};
pub use hardware::{Hardware, cores_per_multiprocessor};

/// The name of the number of work-items of a launch in
/// [`Measurement::values`](crate::Measurement::values).
pub const GLOBAL_SIZE: &str = "global_size";
/// The name of the number of work-items of a work-group.
pub const LOCAL_SIZE: &str = "local_size";
/// The name of the registers of a work-item.
pub const REGISTERS: &str = "registers";

/// The name of the extra time in milliseconds for reading the counters of a run.
pub const PROFILING_MS: &str = "profiling_ms";
/// The name of the number of launches that were repeated for the counters of a run.
pub const PROFILING_LAUNCHES: &str = "profiling_launches";

/// The counters of one family of architectures.
#[derive(Debug, PartialEq)]
pub struct CounterSet {
    /// The name in messages and files.
    pub name: &'static str,
    /// Its counters.
    pub counters: &'static [Counter],
}

/// NVIDIA's counters before Volta: compute capability below 7.0.
pub static BEFORE_VOLTA: CounterSet = CounterSet { name: "nvidia before Volta", counters: nvidia::BEFORE_VOLTA };
/// NVIDIA's counters from Volta on.
pub static VOLTA: CounterSet = CounterSet { name: "nvidia from Volta on", counters: nvidia::VOLTA };
/// The counters of AMD's data-center GPUs.
pub static AMD: CounterSet = CounterSet { name: "amd", counters: amd::COUNTERS };
/// Counters of any processor: instructions by class, bytes by level of memory, utilisation.
pub static PROCESSOR: CounterSet = CounterSet { name: "processor", counters: processor::COUNTERS };

impl CounterSet {
    /// Every set.
    pub const ALL: [&'static Self; 4] = [&BEFORE_VOLTA, &VOLTA, &AMD, &PROCESSOR];

    /// Returns the set that has the most of `names`, or `None` if no set has any. Costs one scan of
    /// the tables per name.
    pub fn of<'a>(names: impl IntoIterator<Item = &'a str>) -> Option<&'static Self> {
        let mut known = Self::ALL.map(|set| (0, set));
        for name in names {
            known.iter_mut().for_each(|(count, set)| *count += usize::from(set.counter(name).is_some()));
        }
        // Of equal sets, the first.
        let (count, set) = known.into_iter().rev().max_by_key(|(count, _)| *count)?;
        (count > 0).then_some(set)
    }

    /// Returns the set with this name, as written in files.
    pub fn named(name: &str) -> Option<&'static Self> {
        Self::ALL.into_iter().find(|set| set.name == name)
    }

    /// Returns the counter with this name.
    pub fn counter(&self, name: &str) -> Option<&'static Counter> {
        self.counters.iter().find(|counter| counter.name == name)
    }

    /// Returns the counters with this `quantity`.
    pub fn meaning(&self, quantity: &str) -> impl Iterator<Item = &'static Counter> {
        self.counters.iter().filter(move |counter| !quantity.is_empty() && counter.quantity == quantity)
    }

    /// Returns true if any set has a counter of this name.
    pub fn knows(name: &str) -> bool {
        Self::ALL.iter().any(|set| set.counter(name).is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn names_are_unique_and_belong_to_one_set() {
        let names: Vec<&str> = CounterSet::ALL.iter().flat_map(|set| set.counters).map(|c| c.name).collect();
        assert_eq!(names.iter().collect::<HashSet<_>>().len(), names.len());
    }

    #[test]
    fn a_quantity_has_one_kind_and_one_counter_in_a_set() {
        for set in CounterSet::ALL {
            for counter in set.counters.iter().filter(|counter| !counter.quantity.is_empty()) {
                assert_eq!(set.meaning(counter.quantity).count(), 1, "{}", counter.name);
                let others = CounterSet::ALL.iter().flat_map(|set| set.meaning(counter.quantity));
                others.for_each(|other| assert_eq!(other.kind, counter.kind, "{} {}", counter.name, other.name));
            }
        }
    }

    #[test]
    fn the_set_is_told_by_its_names() {
        assert_eq!(CounterSet::of(["smsp__inst_executed.sum", "x"]).unwrap(), &VOLTA);
        assert_eq!(CounterSet::of(["instructions.f64"]).unwrap(), &PROCESSOR);
        assert_eq!(CounterSet::of(["FETCH_SIZE", "VALUBusy"]).unwrap(), &AMD);
        assert_eq!(CounterSet::of(["x", ""]), None);
        assert_eq!(CounterSet::ALL.map(|set| CounterSet::named(set.name).unwrap()), CounterSet::ALL);
    }
}
