//! Objectives and metrics in files.

use super::{Definitions, Metric};
use serde::{Deserialize, Serialize, Serializer};
use tunesmith_core::{Direction, Objective, Source};

/// Writes an objective as `{"name", "direction", "unit", "source"}`. A front has `parts` besides.
///
/// # Errors
/// The serializer fails.
pub fn serialize_objective<S: Serializer>(objective: &Objective, serializer: S) -> Result<S::Ok, S::Error> {
    ObjectiveRecord::from(objective).serialize(serializer)
}

/// An [`Objective`] in files. Journals of older versions call the name `metric`, and have neither
/// unit nor source.
#[derive(Serialize, Deserialize)]
struct ObjectiveRecord {
    #[serde(alias = "metric")]
    name: String,
    #[serde(with = "DirectionWord")]
    direction: Direction,
    #[serde(default)]
    unit: Option<String>,
    #[serde(default, with = "SourceWord")]
    source: Source,
    #[serde(default, alias = "front", skip_serializing_if = "Vec::is_empty")]
    parts: Vec<ObjectiveRecord>,
}

/// A [`Direction`] in files.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Direction", rename_all = "lowercase")]
enum DirectionWord {
    Minimise,
    Maximise,
}

/// A [`Source`] in files.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Source", rename_all = "lowercase")]
enum SourceWord {
    Time,
    Metric,
    Printed,
    Recorded,
}

impl From<&Objective> for ObjectiveRecord {
    fn from(objective: &Objective) -> Self {
        Self {
            name: objective.name().to_string(),
            direction: objective.direction(),
            unit: objective.unit().map(str::to_string),
            source: objective.source(),
            parts: objective.parts().iter().map(Self::from).collect(),
        }
    }
}

impl From<ObjectiveRecord> for Objective {
    fn from(record: ObjectiveRecord) -> Self {
        if !record.parts.is_empty() {
            return Self::front(&record.name, record.parts.into_iter().map(Self::from).collect());
        }
        // Journals of older versions keep the time by its name in expressions.
        if record.name == "time_ms" {
            return Self::new("time", record.direction, Some("ms"), Source::Time);
        }
        Self::new(&record.name, record.direction, record.unit.as_deref(), record.source)
    }
}

/// A [`Metric`] in files.
#[derive(Serialize, Deserialize)]
pub(super) struct Record {
    #[serde(flatten)]
    objective: ObjectiveRecord,
    #[serde(flatten)]
    definitions: Definitions,
}

impl From<Metric> for Record {
    fn from(metric: Metric) -> Self {
        Self { objective: ObjectiveRecord::from(&metric.objective), definitions: metric.definitions }
    }
}

impl From<Record> for Metric {
    fn from(record: Record) -> Self {
        Self { objective: Objective::from(record.objective), definitions: record.definitions }
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
