//! Writes cache files of Kernel Tuner.

use crate::line::value_json;
use serde_json::{Map, Value as Json, json};
use tunesmith_core::recording::Row;
use tunesmith_core::{Failure, FailureKind, Recording};
use tunesmith_space::Value;

/// Returns the document with one entry on a line, as the tool writes it.
pub(super) fn text(recording: &Recording) -> String {
    let parameters = recording.parameters();
    let values = |parameter: &tunesmith_space::Parameter| {
        (parameter.name().to_string(), Json::from_iter(parameter.values().iter().map(value_json)))
    };
    let header = json!({
        "device_name": recording.device.as_deref().unwrap_or("unknown"),
        "kernel_name": recording.kernel.as_deref().unwrap_or("unknown"),
        "problem_size": "",
        "tune_params_keys": parameters.iter().map(|parameter| parameter.name()).collect::<Vec<_>>(),
        "tune_params": parameters.iter().map(values).collect::<Map<String, Json>>(),
        "objective": "time",
    });
    let header = format!("{header:#}");
    let entries: Vec<String> = recording.rows().iter().map(|row| entry(recording, row)).collect();
    format!("{},\n\"cache\": {{\n{}\n}}\n}}\n", header.trim_end_matches(['}', '\n']), entries.join(",\n"))
}

fn entry(recording: &Recording, row: &Row) -> String {
    let key: Vec<String> = row.values.iter().map(python).collect();
    let names = recording.parameters().iter().map(|parameter| parameter.name().to_string());
    let mut entry: Map<String, Json> = names.zip(row.values.iter().map(value_json)).collect();
    let time = row.failure.as_ref().map_or_else(|| Json::from(row.time_ms()), |failure| Json::from(class(failure)));
    entry.insert("time".to_string(), time);
    if row.failure.is_none() {
        entry.insert("times".to_string(), Json::from(row.measurement.times_ms.clone()));
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
    let single = |(name, values): (&String, &Vec<f64>)| Some((name.clone(), Json::from(*values.first()?)));
    entry.extend(row.measurement.values.iter().filter_map(single));
    format!("{}: {}", Json::from(key.join(",")), Json::from(entry))
}

/// Returns a value as Python prints it. The tool makes its keys in this way.
fn python(value: &Value) -> String {
    match value {
        Value::Bool(true) => "True".to_string(),
        Value::Bool(false) => "False".to_string(),
        other => other.to_string(),
    }
}

/// Returns the tool's class of failures.
fn class(failure: &Failure) -> &'static str {
    match failure.kind {
        FailureKind::Compile => "CompilationFailedConfig",
        FailureKind::Constraints => "InvalidConfig",
        FailureKind::Runtime | FailureKind::Timeout | FailureKind::Correctness => "RuntimeFailedConfig",
    }
}
