//! The scores of a run: their values and their texts.

use serde_json::Value as Json;
use tunesmith_problem::Metric;
use tunesmith_report::{milliseconds, quantity};
use tunesmith_store::{Entry, Journal};

/// The meaning of scores. Less is better.
#[derive(Clone, Debug)]
pub(crate) enum Scale {
    /// A score is a time in milliseconds.
    Time,
    /// A score is that of a metric.
    Metric(Box<Metric>),
}

impl Scale {
    /// Returns the scale of the run whose header has this `objective`.
    pub(crate) fn recorded(objective: Option<&Json>) -> Self {
        Metric::recorded(objective).map_or(Self::Time, |metric| Self::Metric(Box::new(metric)))
    }

    /// Returns the scores of the samples of a correct entry. Empty if it has none.
    pub(crate) fn scores(&self, entry: &Entry) -> Vec<f64> {
        match self {
            Self::Time => entry.times_ms.clone(),
            Self::Metric(metric) => {
                let parameter = |name: &str| entry.config.get(name).and_then(Journal::value_of);
                let values = metric.samples(&parameter, &entry.measurement()).unwrap_or_default();
                values.into_iter().map(|value| metric.score(value)).collect()
            }
        }
    }

    /// Returns a score as its reader knows it: a time with its unit, or the metric's value.
    pub(crate) fn text(&self, score: f64) -> String {
        match self {
            Self::Time => milliseconds(score),
            Self::Metric(metric) => quantity(metric.value(score)),
        }
    }

    /// Returns the objective as users write it.
    pub(crate) fn objective(&self) -> String {
        match self {
            Self::Time => tunesmith_core::Target::Time.to_string(),
            Self::Metric(metric) => metric.target().to_string(),
        }
    }
}
