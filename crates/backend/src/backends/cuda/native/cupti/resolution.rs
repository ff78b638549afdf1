//! Finds the counters of [`core`](tunesmith_core::counters) that a chip has, and the passes they
//! need, by asking CUPTI.

use super::status::Refusal;
use crate::backends::cuda::counters::{ChipCounters, OTHER_NAMES, ResolvedCounter};
use tunesmith_core::counters::CounterSet;

/// Answers questions about a chip's metrics.
pub(super) trait Metrics {
    /// Returns the number of passes needed to measure these metrics together.
    ///
    /// # Errors
    /// The chip lacks one of them.
    fn passes(&self, metrics: &[&str]) -> Result<usize, Refusal>;
}

/// Asks the chip for each counter of `set`, by its name and by its other names, and for all of its
/// counters together.
///
/// # Errors
/// The chip has each counter singly but refuses them together.
pub(super) fn resolution(chip: &str, set: &CounterSet, metrics: &dyn Metrics) -> Result<ChipCounters, Refusal> {
    let mut found = ChipCounters { chip: chip.to_owned(), passes: 0, counters: Vec::new(), unavailable: Vec::new() };
    for counter in set.counters {
        let others = OTHER_NAMES.iter().filter(|(name, _)| *name == counter.name).map(|(_, other)| *other);
        let named = std::iter::once(counter.name).chain(others);
        match named.filter_map(|metric| Some((metric, metrics.passes(&[metric]).ok()?))).next() {
            Some((metric, passes)) => {
                let (name, metric) = (counter.name.to_owned(), metric.to_owned());
                found.counters.push(ResolvedCounter { name, metric, passes });
            }
            None => found.unavailable.push(counter.name.to_owned()),
        }
    }
    if !found.counters.is_empty() {
        found.passes = metrics.passes(&found.metrics())?;
    }
    Ok(found)
}

impl ChipCounters {
    /// Returns the chip's names of the counters.
    pub(super) fn metrics(&self) -> Vec<&str> {
        self.counters.iter().map(|counter| counter.metric.as_str()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tunesmith_core::counters::VOLTA;

    /// A chip that counts two metrics in a pass and lacks some.
    struct Chip(&'static [&'static str]);

    impl Metrics for Chip {
        fn passes(&self, metrics: &[&str]) -> Result<usize, Refusal> {
            let lacking = metrics.iter().any(|metric| self.0.contains(metric));
            if lacking { Err(Refusal::Old("a metric")) } else { Ok(metrics.len().div_ceil(2)) }
        }
    }

    #[test]
    fn a_chip_that_has_all_is_asked_by_the_tables_names() {
        let found = resolution("TU102", &VOLTA, &Chip(&[])).unwrap();
        assert_eq!((found.counters.len(), found.passes, found.unavailable.len()), (33, 17, 0));
        assert!(found.counters.iter().all(|counter| counter.name == counter.metric && counter.passes == 1));
    }

    #[test]
    fn a_counter_that_goes_by_another_name_keeps_its_own() {
        let found = resolution("GH100", &VOLTA, &Chip(&["smsp__inst_executed_pipe_fp16.sum"])).unwrap();
        let half = found.counters.iter().find(|counter| counter.name.contains("pipe_fp16")).unwrap();
        assert_eq!(half.metric, "smsp__inst_executed_pipe_fma_type_fp16.sum");
        assert!(found.unavailable.is_empty());
    }

    #[test]
    fn a_counter_that_the_chip_lacks_is_left_out_and_named() {
        let found = resolution("GB202", &VOLTA, &Chip(&["dram__sectors_read.sum"])).unwrap();
        assert_eq!((found.counters.len(), found.unavailable), (32, vec!["dram__sectors_read.sum".to_owned()]));
    }

    #[test]
    fn a_chip_without_any_takes_no_pass() {
        let nothing = CounterSet { name: "none", counters: &[] };
        assert_eq!(resolution("X", &nothing, &Chip(&[])).unwrap().passes, 0);
    }
}
