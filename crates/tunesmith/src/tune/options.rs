//! The user's choices for a tuning run, besides the machine.

use std::collections::BTreeMap;
use std::path::PathBuf;
use tunesmith_core::{Stop, Target};
use tunesmith_search::StrategySpec;
use tunesmith_study::ModelChoice;

/// The settings of a search. A setting that is `None` comes from the run that is resumed, then from
/// the problem file, then from our defaults.
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
    /// Maximum number of requests that the strategy may have in flight.
    pub room: Option<usize>,
    /// A configuration to evaluate before the search begins: parameters and values. Unnamed
    /// parameters are as in the default.
    pub start: Vec<(String, String)>,
    /// Recordings of the same kernel on other devices, or for other sizes, as history for the
    /// strategy. A resumed run takes those it began with.
    pub history: Vec<PathBuf>,
    /// The counter model that guides `default` and `profile_guided`, or a timing model or a device
    /// file, whose best candidates any strategy begins with. A resumed run takes the one it began
    /// with.
    pub model: Option<ModelChoice>,
    /// True to read the counters of every configuration.
    pub profile: bool,
}

/// The journal of a run.
#[derive(Clone, Debug, Default)]
pub struct JournalOptions {
    /// The file. By default beside the problem.
    pub out: Option<PathBuf>,
    /// True to continue an existing journal.
    pub resume: bool,
    /// Measured properties of the device besides its limits, by name. Journals keep them for models
    /// of several devices.
    pub device_features: BTreeMap<String, f64>,
}
