//! Metrics in files.

use super::{Definitions, Metric};
use serde::{Deserialize, Serialize};
use tunesmith_core::Objective;

/// A [`Metric`] in files.
#[derive(Serialize, Deserialize)]
pub(super) struct Record {
    #[serde(flatten)]
    objective: Objective,
    #[serde(flatten)]
    definitions: Definitions,
}

impl From<Metric> for Record {
    fn from(metric: Metric) -> Self {
        Self { objective: metric.objective, definitions: metric.definitions }
    }
}

impl From<Record> for Metric {
    fn from(record: Record) -> Self {
        Self { objective: record.objective, definitions: record.definitions }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn journals_of_older_versions_are_read() {
        let older = r#"{"direction":"minimise","metric":"geometric mean","metrics":[["cost","joules * 2"]],"sizes":[],
            "front":[{"direction":"minimise","metric":"time_ms"},{"direction":"maximise","metric":"cost"}]}"#;
        let metric: Metric = serde_json::from_str(older).unwrap();
        assert_eq!(metric.objective().to_string(), "minimise time, maximise cost");
        assert!(metric.objective().parts()[0].is_time());
        assert_eq!(metric.objectives()[1].definition(), Some("joules * 2"));
    }
}
