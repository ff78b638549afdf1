//! What a user chooses of a tuning run besides the machine.

use std::collections::BTreeMap;
use std::path::PathBuf;
use tunesmith_core::{Stop, Target};
use tunesmith_search::StrategySpec;
use tunesmith_study::ModelChoice;

/// How to search. What is `None` comes from the run that is resumed, then from the problem file, then from our defaults.
#[derive(Clone, Debug, Default)]
pub struct Search {
    /// The strategy.
    pub strategy: Option<StrategySpec>,
    /// The stop condition.
    pub stop: Option<Stop>,
    /// The objective.
    pub objective: Option<Target>,
    /// The seed.
    pub seed: Option<u64>,
    /// How many requests the strategy may have in flight.
    pub room: Option<usize>,
    /// A configuration to evaluate before the search begins: parameters and values; unnamed ones as in the default.
    pub start: Vec<(String, String)>,
    /// Recordings of the same kernel on other devices, or for other sizes, that the strategy is told of; a resumed run
    /// takes those it began with.
    pub history: Vec<PathBuf>,
    /// The counter model that `default` and `profile_guided` are guided by, or a timing model or a device file, whose best
    /// candidates any strategy begins with; a resumed run takes the one it began with.
    pub model: Option<ModelChoice>,
    /// Reads the counters of every configuration.
    pub profile: bool,
}

/// Where a run is recorded.
#[derive(Clone, Debug, Default)]
pub struct JournalOptions {
    /// The journal; by default beside the problem.
    pub out: Option<PathBuf>,
    /// Goes on with an existing journal.
    pub resume: bool,
    /// What was measured of the device besides its limits, by name: journals keep it for models of several devices.
    pub device_features: BTreeMap<String, f64>,
}
