//! What was observed while a configuration ran. All samples are kept; objectives are computed from
//! them afterwards.

use std::collections::BTreeMap;

/// Everything observed about one configuration. A failed configuration keeps what was seen before
/// it failed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measurement {
    /// Time of every sample in milliseconds, in the order taken.
    pub times_ms: Vec<f64>,
    /// Time of the untimed first launch in milliseconds; it includes warm-up and never enters a
    /// score.
    pub warmup_ms: Option<f64>,
    /// The time of every kernel of a composite problem by its name, in milliseconds, one per
    /// sample; each sample of [`times_ms`](Self::times_ms) is their sum. Empty where there is one
    /// kernel.
    pub parts_ms: BTreeMap<String, Vec<f64>>,
    /// Other numbers that the run yielded, by name, one per sample: what a command prints, for
    /// example.
    pub values: BTreeMap<String, Vec<f64>>,
    /// Hardware or symbolic counters by name, when the run was profiled.
    pub counters: BTreeMap<String, f64>,
    /// The compiler's messages and costs.
    pub compile: Option<CompileData>,
}

/// The cost and the results of compiling one configuration.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CompileData {
    /// Wall time of the compilation in milliseconds.
    pub time_ms: f64,
    /// Size of the binary in bytes, when there is one.
    pub binary_bytes: Option<u64>,
    /// The resources of the device that the kernels use, by name, where the driver tells:
    /// `registers` of a thread, bytes of its memories, `occupancy`. With several kernels each name
    /// has the kernel's before it and a point between.
    pub resources: BTreeMap<String, f64>,
    /// True if the machine code and its launch are those of an earlier configuration, whose samples
    /// these are.
    pub same_binary: bool,
}
