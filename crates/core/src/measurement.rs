//! The observations of a configuration while it ran. All samples are kept. Objectives are computed
//! from them later.

use std::collections::BTreeMap;

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
    /// Other numbers from the run by name, one per sample, such as those that a command prints.
    pub values: BTreeMap<String, Vec<f64>>,
    /// Hardware or symbolic counters by name, if the run was profiled.
    pub counters: BTreeMap<String, f64>,
    /// The compiler's messages and costs.
    pub compile: Option<CompileData>,
}

/// The cost and the results of compiling one configuration.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CompileData {
    /// Wall time of the compilation in milliseconds.
    pub time_ms: f64,
    /// Size of the binary in bytes, if there is one.
    pub binary_bytes: Option<u64>,
    /// The device resources that the kernels use, by name, if the driver reports them: `registers`
    /// of a thread, bytes of its memories, `occupancy`. With several kernels, each name is prefixed
    /// with the kernel's name and a point.
    pub resources: BTreeMap<String, f64>,
    /// True if the machine code and its launch equal those of an earlier configuration. The samples
    /// are then those of that configuration.
    pub same_binary: bool,
}
