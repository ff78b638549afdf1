//! The default settings for tuning a problem.

use tunesmith_backend::DeviceChoice;
use tunesmith_core::{Stop, Target};
use tunesmith_search::StrategySpec;
use tunesmith_space::Value;

/// The default settings for tuning a problem.
#[derive(Clone, Debug, Default)]
pub struct Tuning {
    /// The strategy.
    pub strategy: Option<StrategySpec>,
    /// The stop condition.
    pub stop: Option<Stop>,
    /// The device. `None` selects the best one for the kernel's language.
    pub device: Option<DeviceChoice>,
    /// The objective.
    pub objective: Option<Target>,
    /// The seed.
    pub seed: Option<u64>,
    /// Maximum number of requests that the strategy may have in flight.
    pub room: Option<usize>,
    /// The configuration that speed-ups refer to: parameters and values. A parameter without a
    /// value takes its first one.
    pub default: Option<Vec<(String, Value)>>,
    /// The tables that the strategy `grid` evaluates: all combinations of the listed values. Other
    /// parameters keep their values in the default configuration.
    pub grid: Vec<GridTable>,
}

/// A table of a grid: parameters with their values.
pub type GridTable = Vec<(String, Vec<Value>)>;

/// Maximum number of launches before the first sample: no limit of time ends them.
pub const MOST_WARMUPS: usize = 10_000;

/// Maximum number of samples of a configuration.
pub const MOST_SAMPLES: usize = 1_000_000;
