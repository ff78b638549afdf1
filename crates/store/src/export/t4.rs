//! Writes T4 results, schema 1.0.0.

use super::number_names::NumberNames;
use super::objective_names::ObjectiveNames;
use super::origin::{WRITTEN_BY, written_by};
use crate::import::t4::{CUT, TIME};
use crate::line::CutLine;
use serde_json::{Map, Value as Json, json};
use tunesmith_core::recording::Row;
use tunesmith_core::{Objective, Recording};

/// Returns the document of the schema, without unknown numbers. Times are in milliseconds.
pub(super) fn text(recording: &Recording, kept: &NumberNames<'_>) -> String {
    let results: Vec<Json> = recording.rows().iter().map(|row| result(recording, kept, row)).collect();
    let objective = ObjectiveNames::of(recording);
    let described = json!({"name": objective.name, "direction": objective.direction, "unit": objective.unit});
    let metadata = json!({
        "timeunit": "milliseconds",
        "objective": objective.front.map_or(described, |front| json!(front)),
        "subject": recording.subject,
        "kernel": recording.kernel,
        "device": recording.device,
        WRITTEN_BY: written_by(),
    });
    format!("{:#}\n", json!({"schema_version": "1.0.0", "metadata": metadata, "results": results}))
}

fn result(recording: &Recording, kept: &NumberNames<'_>, row: &Row) -> Json {
    let names = recording.parameters().iter().map(|parameter| parameter.name().to_string());
    let configuration: Map<String, Json> = names.zip(row.values.iter().map(|value| json!(value))).collect();
    let measurement = &row.measurement;
    let times = [
        ("compilation_time", measurement.compile.as_ref().map(|compile| compile.time_ms)),
        ("benchmark", row.costs.benchmark_ms),
        ("validation", row.costs.verification_ms),
        ("framework", row.costs.framework_ms),
        ("search_algorithm", row.costs.search_ms),
    ];
    let mut known: Map<String, Json> =
        times.into_iter().filter_map(|(name, time)| Some((name.to_string(), Json::from(time?)))).collect();
    known.insert("runtimes".to_string(), Json::from(measurement.times_ms.clone()));
    let invalidity = row.failure.as_ref().map_or("correct", |failure| failure.kind.word());
    // The reason of a failure stands in the place of the time.
    let time = match &row.failure {
        None => row.time_ms().map(|time| json!({"name": TIME, "value": time, "unit": "ms"})),
        Some(failure) => Some(json!({"name": TIME, "value": failure.message, "unit": ""})),
    };
    let objectives = ObjectiveNames::of(recording);
    let unit = |name: &str| {
        let parts = objectives.front.map_or(&[][..], Objective::parts);
        let of_part = || parts.iter().find(|part| part.name() == name).and_then(Objective::unit);
        let own = if name == objectives.name { objectives.unit } else { of_part() };
        own.unwrap_or_default().to_string()
    };
    let single = |(name, values): (&String, &Vec<f64>)| {
        let value = if let [value] = values[..] { Json::from(value) } else { Json::from(values.clone()) };
        json!({"name": name, "value": value, "unit": unit(name)})
    };
    let counter = |(name, value): (&String, &f64)| json!({"name": name, "value": value, "unit": ""});
    let values = measurement.values.iter().filter(|(name, _)| kept.values.contains(name.as_str()));
    let counters = measurement.counters.iter().filter(|(name, _)| kept.counters.contains(name.as_str()));
    let further = values.map(single).chain(counters.map(counter));
    let mut result = json!({
        "configuration": configuration,
        "times": known,
        "invalidity": invalidity,
        "correctness": if row.failure.is_none() { 1 } else { 0 },
        "measurements": time.into_iter().chain(further).collect::<Vec<_>>(),
        "objectives": objectives.names(),
    });
    // The schema has no word for what the best time cut, and allows further fields.
    if let Some(cut) = row.cut() {
        result[CUT] = json!(CutLine::from(cut));
    }
    result
}
