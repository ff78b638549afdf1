//! The scores of a run: their values and their texts.

use serde_json::Value as Json;
use tunesmith_core::statistics;
use tunesmith_problem::Metric;
use tunesmith_report::amount;
use tunesmith_space::Value;
use tunesmith_store::{Entry, NewEvaluation};

/// The meaning of scores. Less is better.
#[derive(Clone, Debug)]
pub(crate) struct Scale(Metric);

impl Scale {
    /// Returns the scale of the run whose header has this `objective`.
    pub(crate) fn recorded(objective: Option<&Json>) -> Self {
        Self(Metric::recorded(objective))
    }

    /// Returns the scores of the samples of a correct entry. Empty if it has none.
    pub(crate) fn scores(&self, entry: &Entry) -> Vec<f64> {
        let parameter = |name: &str| entry.config.get(name).and_then(Value::of_document);
        let values = self.0.samples(&parameter, &entry.measurement()).unwrap_or_default();
        values.into_iter().map(|value| self.0.objective().score(value)).collect()
    }

    /// Returns the score of a correct evaluation, if it has one. Reads its line only if the times do not suffice.
    pub(crate) fn score(&self, new: &NewEvaluation<'_>) -> Option<f64> {
        match self.0.of_times(&new.times_ms) {
            Some(values) => statistics::median(&values).map(|value| self.0.objective().score(value)),
            None => statistics::median(&self.scores(&new.entry().ok()?)),
        }
    }

    /// Returns a score as its reader knows it: the objective's value in its unit.
    pub(crate) fn text(&self, score: f64) -> String {
        let objective = self.0.objective();
        amount(objective.value(score), objective)
    }

    /// Returns the objective as users write it.
    pub(crate) fn objective(&self) -> String {
        self.0.objective().to_string()
    }
}
