//! The observations of a configuration while it ran. All samples are kept. Objectives are computed
//! from them later.

use std::collections::BTreeMap;
use std::time::Duration;

/// The name of the largest relative error of the outputs that were compared with correct results. A
/// correct configuration has one if its outputs are buffers.
pub const ERROR: &str = "error";

/// Everything observed about one configuration. A failed configuration keeps the observations made
/// before its failure.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measurement {
    /// Time of every sample in milliseconds, in the order taken.
    pub times_ms: Vec<f64>,
    /// Time of the first launch in milliseconds. It includes warm-up and never enters a score.
    pub warmup_ms: Option<f64>,
    /// The time of every kernel of a composite problem in milliseconds, by name, one per sample.
    /// Each sample of [`times_ms`](Self::times_ms) is their sum. Empty if there is one kernel.
    pub parts_ms: BTreeMap<String, Vec<f64>>,
    /// Other numbers from the run by name, such as those that a command prints: one per sample, or
    /// a single one of the whole run, such as [`ERROR`].
    pub values: BTreeMap<String, Vec<f64>>,
    /// Hardware or symbolic counters by name, if the run was profiled.
    pub counters: BTreeMap<String, f64>,
    /// The compiler's messages and costs.
    pub compile: Option<CompileData>,
    /// A remark on how a correct configuration was measured, such as runs that gave no sample.
    pub note: Option<String>,
    /// The device that made it, if there are several.
    pub by: Option<Box<MadeBy>>,
    /// The changes of the number of requests in flight since the answer before, if there are several
    /// devices. A resumed run repeats them.
    pub rooms: Vec<usize>,
}

/// The device among several that made a measurement.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MadeBy {
    /// Its name, as users know it.
    pub name: String,
    /// The time from the request to its answer.
    pub took: Duration,
}

impl Measurement {
    /// Returns the value called `name` of the sample at a position. A measurement of several samples
    /// with a single [`ERROR`] has it in every sample.
    pub fn value(&self, name: &str, sample: usize) -> Option<f64> {
        let values = self.values.get(name)?;
        let is_of_run = name == ERROR && values.len() == 1;
        values.get(if is_of_run { 0 } else { sample }).copied()
    }

    /// Removes numbers that no clock and no counter gives: times that are not finite and positive,
    /// other numbers that are not finite. Returns the first such time.
    ///
    /// Journals could not keep them, and every rank and median would suffer from them.
    pub(crate) fn clean(&mut self) -> Option<f64> {
        let is_time = |time: &f64| time.is_finite() && *time > 0.0;
        let wrong = self.times_ms.iter().copied().find(|time| !is_time(time));
        if wrong.is_some() {
            // Samples of parts and values belong to times by their position.
            self.times_ms.retain(is_time);
            self.parts_ms.clear();
            self.values.clear();
        }
        self.warmup_ms = self.warmup_ms.filter(|time| time.is_finite());
        self.parts_ms.retain(|_, times| times.iter().all(|time| time.is_finite()));
        self.values.retain(|_, values| values.iter().all(|value| value.is_finite()));
        self.counters.retain(|_, value| value.is_finite());
        if let Some(compile) = &mut self.compile {
            compile.resources.retain(|_, value| value.is_finite());
            compile.time_ms = if compile.time_ms.is_finite() { compile.time_ms } else { 0.0 };
        }
        wrong
    }
}

/// The cost and the results of compiling one configuration.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CompileData {
    /// Wall time of the compilation in milliseconds.
    pub time_ms: f64,
    /// Size of the binary in bytes, if there is one.
    pub binary_bytes: Option<u64>,
    /// The device resources that the kernels use, by name, as far as the compiler or the driver
    /// reports them: `registers` of a thread, bytes of its memories, `occupancy`, instructions by
    /// class. With several kernels, each name is prefixed with the kernel's name and a point.
    pub resources: BTreeMap<String, f64>,
    /// True if the machine code and its launch equal those of an earlier configuration. The samples
    /// are then those of that configuration.
    pub same_binary: bool,
    /// A digest of everything that determines the time: the machine code of all kernels, their launches, the values
    /// passed and the device's setting. `None` if the machine code is not known.
    pub code: Option<String>,
}

impl CompileData {
    /// Returns the resource called `name`: with several kernels, the largest of all.
    pub fn resource(&self, name: &str) -> Option<f64> {
        let of_kernel = |known: &str| known.strip_suffix(name).is_some_and(|kernel| kernel.ends_with('.'));
        let all = self.resources.iter().filter(|(known, _)| *known == name || of_kernel(known));
        all.map(|(_, value)| *value).reduce(f64::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_resource_of_several_kernels_is_the_largest() {
        let resources = [("registers", 24.0), ("a.shared_bytes", 64.0), ("b.shared_bytes", 128.0), ("b.bytes", 7.0)];
        let resources = resources.map(|(name, value)| (name.to_string(), value)).into();
        let compile = CompileData { resources, ..CompileData::default() };
        let of = |name: &str| compile.resource(name);
        assert_eq!((of("registers"), of("shared_bytes"), of("bytes")), (Some(24.0), Some(128.0), Some(7.0)));
        assert_eq!(of("occupancy"), None);
    }

    #[test]
    fn numbers_that_no_clock_gives_are_removed() {
        for wrong in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let values = BTreeMap::from([("energy_mj".to_string(), vec![1.0, 2.0])]);
            let counters = BTreeMap::from([("a".to_string(), f64::NAN), ("b".to_string(), 2.0)]);
            let times_ms = vec![0.5, wrong];
            let mut measurement = Measurement { times_ms, values, counters, ..Measurement::default() };
            assert_eq!(measurement.clean().map(f64::to_bits), Some(wrong.to_bits()));
            assert_eq!(measurement.times_ms, [0.5]);
            assert!(measurement.values.is_empty() && measurement.counters.keys().eq(["b"]));
            assert_eq!(measurement.clean(), None);
        }
    }
}
