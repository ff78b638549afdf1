//! The rows of a recording as the analyses of `explain` take them.

use serde_json::{Map, Value as Json};
use tunesmith_core::recording::Row;
use tunesmith_core::{Recording, statistics};
use tunesmith_explain::{TrialResult, Trials};
use tunesmith_problem::Metric;
use tunesmith_space::{Parameter, Value};

/// Returns the rows as the analyses take them, with their scores in `metric`.
pub fn trials(recording: &Recording, metric: &Metric) -> Trials {
    let names = || recording.parameters().iter().map(Parameter::name);
    let score = |row: &Row| {
        let parameter = |name: &str| names().position(|own| own == name).map(|at| row.values[at].clone());
        // A row may state its score in place of samples.
        let stated = row.value(metric.objective().quantity()).map(|value| vec![value]);
        let values = stated.or_else(|| metric.samples(&parameter, &row.measurement).ok())?;
        statistics::median(&values).map(|value| metric.objective().score(value))
    };
    let mut trials = Trials::new(recording.parameters());
    for row in recording.rows() {
        let result = match (&row.failure, row.cut()) {
            (Some(_), Some(cut)) => TrialResult::Cut(cut),
            (Some(failure), None) => {
                TrialResult::Failed { kind: failure.kind, headline: failure.headline().to_string() }
            }
            (None, _) => score(row).map_or(TrialResult::Unscored, TrialResult::Score),
        };
        trials.push(&row.values, result);
    }
    trials
}

/// Returns the values of a configuration in the parameters' order.
pub fn values_of(parameters: &[Parameter], config: &Map<String, Json>) -> Option<Vec<Value>> {
    parameters.iter().map(|parameter| config.get(parameter.name()).and_then(Value::of_document)).collect()
}
