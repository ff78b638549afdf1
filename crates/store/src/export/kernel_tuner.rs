//! Writes cache files of Kernel Tuner, such that its simulation mode loads them.
//!
//! The simulation finds an entry by the text that Python prints for the values of a configuration, and
//! refuses a file whose problem size is not that of the caller. A recording knows no such size, so the
//! file has none, and the tool then does not compare it. `bench/peers/simulation` runs the tool on
//! such files.

use super::number_names::NumberNames;
use super::objective_names::ObjectiveNames;
use super::origin::{WRITTEN_BY, written_by};
use serde_json::{Map, Value as Json, json};
use tunesmith_core::recording::Row;
use tunesmith_core::{Direction, Failure, FailureKind, Recording};
use tunesmith_space::Value;

/// Returns the document with one entry on a line, as the tool writes it.
pub(super) fn text(recording: &Recording, kept: &NumberNames<'_>) -> String {
    let parameters = recording.parameters();
    let values = |parameter: &tunesmith_space::Parameter| (parameter.name().to_string(), json!(parameter.values()));
    let objective = ObjectiveNames::of(recording);
    let mut header = json!({
        "device_name": recording.device.as_deref().unwrap_or("unknown"),
        "kernel_name": recording.kernel.as_deref().unwrap_or("unknown"),
        "tune_params_keys": parameters.iter().map(|parameter| parameter.name()).collect::<Vec<_>>(),
        "tune_params": parameters.iter().map(values).collect::<Map<String, Json>>(),
        "objective": objective.name,
        "objective_higher_is_better": objective.direction.map(|direction| direction == Direction::Maximise),
        "objective_unit": objective.unit,
    });
    // Only our own reader knows these, so that most caches are without them.
    if let Some(front) = objective.front {
        header["front"] = json!(front);
    }
    if !recording.subject.is_empty() {
        header["subject"] = json!(recording.subject);
    }
    // The last key has a text, so that the document can be continued behind it.
    header[WRITTEN_BY] = json!(written_by());
    let header = format!("{header:#}");
    let entries: Vec<String> = recording.rows().iter().map(|row| entry(recording, kept, row)).collect();
    format!("{},\n\"cache\": {{\n{}\n}}\n}}\n", header.trim_end_matches(['}', '\n']), entries.join(",\n"))
}

/// Returns the key of the entry of a configuration: its values as Python prints them.
pub(super) fn key(row: &Row) -> String {
    row.values.iter().map(Value::python_str).collect::<Vec<_>>().join(",")
}

fn entry(recording: &Recording, kept: &NumberNames<'_>, row: &Row) -> String {
    let names = recording.parameters().iter().map(|parameter| parameter.name().to_string());
    let mut entry: Map<String, Json> = names.zip(row.values.iter().map(|value| json!(value))).collect();
    let class = row.failure.as_ref().map(|failure| Json::from(class(failure)));
    let mut add = |name: &str, value: Option<f64>, samples: &[f64]| {
        entry.extend(class.clone().or(value.map(Json::from)).map(|json| (name.to_string(), json)));
        if class.is_none() && !samples.is_empty() {
            entry.insert(format!("{name}s"), Json::from(samples.to_vec()));
        }
    };
    add("time", row.time_ms(), &row.measurement.times_ms);
    let quantities = recording.ranking().numbers();
    for name in quantities.iter().filter(|name| kept.values.contains(**name)) {
        add(name, row.value(name), row.measurement.values.get(*name).map_or(&[], Vec::as_slice));
    }
    let compile = row.measurement.compile.as_ref().map(|compile| compile.time_ms);
    // The tool's simulation adds these costs up and needs all of them.
    for (name, cost) in [
        ("compile_time", compile),
        ("verification_time", row.costs.verification_ms),
        ("benchmark_time", row.costs.benchmark_ms),
        ("strategy_time", row.costs.search_ms),
        ("framework_time", row.costs.framework_ms),
    ] {
        entry.insert(name.to_string(), Json::from(cost.unwrap_or(0.0)));
    }
    let is_further = |name: &str| kept.values.contains(name) && !quantities.contains(&name);
    for (name, values) in row.measurement.values.iter().filter(|(name, _)| is_further(name)) {
        entry.extend(values.first().map(|value| (name.clone(), Json::from(*value))));
    }
    format!("{}: {}", Json::from(key(row)), Json::from(entry))
}

/// Returns the tool's class of failures.
fn class(failure: &Failure) -> &'static str {
    match failure.kind {
        FailureKind::Compile => "CompilationFailedConfig",
        FailureKind::Constraints | FailureKind::Infeasible => "InvalidConfig",
        FailureKind::Runtime | FailureKind::Timeout | FailureKind::Correctness => "RuntimeFailedConfig",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::{Format, names};
    use tunesmith_core::Measurement;
    use tunesmith_core::recording::Column;

    #[test]
    fn a_cache_is_what_the_tools_simulation_reads() {
        let column = |name: &str, values: &[Value]| Column { name: name.into(), values: Some(values.to_vec()) };
        let columns = vec![
            column("TILE", &[Value::Int(8), Value::Int(16)]),
            column("ALPHA", &[Value::Float(1.0), Value::Float(1e-7)]),
            column("FAST", &[Value::Bool(true), Value::Bool(false)]),
            column("KIND", &["row".into()]),
        ];
        let row = |tile: i64, alpha: f64, fast: bool, failure: Option<Failure>| Row {
            values: vec![Value::Int(tile), Value::Float(alpha), Value::Bool(fast), "row".into()],
            measurement: Measurement {
                times_ms: if failure.is_none() { vec![1.5, 2.5, 2.0] } else { Vec::new() },
                values: [("error".to_string(), vec![0.25]), ("time".to_string(), vec![9.0])].into(),
                ..Measurement::default()
            },
            failure,
            ..Row::default()
        };
        let rows = vec![
            row(8, 1.0, true, None),
            row(16, 1e-7, false, Some(Failure::new(FailureKind::Compile, "no"))),
            row(8, 1e-7, true, Some(Failure::new(FailureKind::Constraints, "too large"))),
        ];
        let mut recording = Recording::new("r", columns, rows).unwrap();
        recording.kernel = Some("scale".into());
        recording.device = Some("A \"GPU\"".into());
        let kept = names::kept(&recording, Format::KernelTuner).unwrap();
        assert_eq!(text(&recording, &kept), include_str!("golden.cache.json"));
    }
}
