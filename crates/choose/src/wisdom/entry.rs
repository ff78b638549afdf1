//! Configurations that were measured or tried for inputs of kernels.

use std::collections::BTreeMap;
use tunesmith_space::Value;

/// An input of a kernel: its sizes by name. Only sizes that are numbers tell inputs apart; texts do
/// not.
pub type Input = BTreeMap<String, f64>;

/// A configuration without its space: parameters and values, in the user's order.
pub type Config = Vec<(String, Value)>;

/// One configuration that was measured for one input on one device.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The kernel or problem.
    pub kernel: String,
    /// The device's name.
    pub device: String,
    /// The input.
    pub input: Input,
    /// The configuration.
    pub config: Config,
    /// Its median time in milliseconds.
    pub time_ms: f64,
    /// The origin of the entry.
    pub provenance: Provenance,
}

/// An attempt to measure a configuration for one input on one device that gave no time.
#[derive(Clone, Debug, PartialEq)]
pub struct Attempt {
    /// The kernel or problem.
    pub kernel: String,
    /// The device's name.
    pub device: String,
    /// The input.
    pub input: Input,
    /// The configuration.
    pub config: Config,
    /// The time of the attempt, in seconds since the Unix epoch.
    pub date: Option<f64>,
    /// Its end.
    pub end: AttemptEnd,
}

/// The end of an [`Attempt`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttemptEnd {
    /// It began. If no other line follows, the process ended meanwhile.
    None,
    /// The configuration failed.
    Failed,
}

/// The origin of an [`Entry`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Provenance {
    /// The program that measured it, with its version.
    pub tool: Option<String>,
    /// The time of the measurement, in seconds since the Unix epoch.
    pub date: Option<f64>,
    /// The number of samples behind the time.
    pub samples: Option<usize>,
    /// The speed-up over the default configuration when both were measured in turn, if the choice
    /// was guarded.
    pub guarded_speedup: Option<f64>,
}
