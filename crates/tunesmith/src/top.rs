//! The best configurations of a recorded run.

use crate::Error;
use serde::Serialize;
use serde_json::{Map, Value as Json};
use std::path::Path;
use tunesmith_core::statistics;
use tunesmith_store::Entry;

/// The best configurations of a run.
#[derive(Clone, Debug, Serialize)]
pub struct Top {
    /// The problem's name.
    pub problem: String,
    /// Evaluations in the journal.
    pub evaluations: usize,
    /// How many of them were correct.
    pub correct: usize,
    /// The median time of the default configuration, when it was evaluated and correct.
    pub default_ms: Option<f64>,
    /// The best configurations, the best first.
    pub configs: Vec<TopConfig>,
}

/// One of the best configurations.
#[derive(Clone, Debug, Serialize)]
pub struct TopConfig {
    /// The rank in the space, in decimal.
    pub index: String,
    /// Parameters and values, in the user's order.
    pub config: Map<String, Json>,
    /// The median of all samples.
    pub time_ms: f64,
    /// A 95 % interval of the median.
    pub ci95_ms: (f64, f64),
    /// How many samples there are.
    pub samples: usize,
    /// How many times faster than the default configuration.
    pub speedup: Option<f64>,
}

impl TopConfig {
    /// The configuration in the form that `--config` takes.
    pub fn arguments(&self) -> String {
        crate::outcome::arguments(&self.config)
    }
}

/// The `count` best configurations of the journal at `path`.
///
/// # Errors
/// A journal that cannot be read.
pub fn top(path: &Path, count: usize) -> Result<Top, Error> {
    let recorded = tunesmith_store::read(path)?;
    let median = |entry: &Entry| {
        let times = Some(&entry.times_ms).filter(|_| entry.status == "correct")?;
        statistics::median(times)
    };
    let default = recorded.header.default.as_ref();
    let default_ms = recorded.entries.iter().find(|entry| Some(&entry.config) == default).and_then(median);
    let config = |entry: &Entry| {
        let time_ms = median(entry)?;
        Some(TopConfig {
            index: entry.index.clone(),
            config: entry.config.clone(),
            time_ms,
            ci95_ms: statistics::median_interval(&entry.times_ms, 0.95)?,
            samples: entry.times_ms.len(),
            speedup: default_ms.map(|default| default / time_ms),
        })
    };
    let mut configs: Vec<TopConfig> = recorded.entries.iter().filter_map(config).collect();
    let correct = configs.len();
    configs.sort_by(|a, b| a.time_ms.total_cmp(&b.time_ms));
    configs.truncate(count);
    Ok(Top { problem: recorded.header.problem, evaluations: recorded.entries.len(), correct, default_ms, configs })
}
