//! Writes cache files of Kernel Tuner, such that its simulation mode loads them.
//!
//! The simulation finds an entry by the text that Python prints for the values of a configuration, and
//! refuses a file whose problem size is not that of the caller. A recording knows no such size, so the
//! file has none, and the tool then does not compare it. `bench/peers/simulation` runs the tool on
//! such files.

use super::{WRITTEN_BY, written_by};
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
        "tune_params_keys": parameters.iter().map(|parameter| parameter.name()).collect::<Vec<_>>(),
        "tune_params": parameters.iter().map(values).collect::<Map<String, Json>>(),
        "objective": "time",
        WRITTEN_BY: written_by(),
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
    for (name, values) in &row.measurement.values {
        // A parameter or a time of the same name counts, and the tool reads it.
        if let Some(value) = values.first().filter(|_| !entry.contains_key(name)) {
            entry.insert(name.clone(), Json::from(*value));
        }
    }
    format!("{}: {}", Json::from(key.join(",")), Json::from(entry))
}

/// Returns a value as Python prints it. The tool makes its keys in this way.
fn python(value: &Value) -> String {
    match value {
        Value::Bool(true) => "True".to_string(),
        Value::Bool(false) => "False".to_string(),
        Value::Float(value) => python_float(*value),
        other => other.to_string(),
    }
}

/// Returns a float as Python's `repr`: the shortest digits that read back, with an exponent of at
/// least two digits below 10^-4 and from 10^16.
fn python_float(value: f64) -> String {
    let scientific = format!("{value:e}");
    let Some((digits, exponent)) = scientific.split_once('e') else { return value.to_string() };
    match exponent.parse::<i32>() {
        Ok(exponent @ -4..16) => {
            let text = value.to_string();
            if exponent >= 0 && !text.contains('.') { text + ".0" } else { text }
        }
        Ok(exponent) => format!("{digits}e{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.abs()),
        Err(_) => value.to_string(),
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

#[cfg(test)]
mod tests {
    use super::*;
    use tunesmith_core::Measurement;
    use tunesmith_core::recording::Column;

    #[test]
    fn floats_are_those_of_python() {
        let cases = [
            (1.0, "1.0"),
            (0.5, "0.5"),
            (-2.25, "-2.25"),
            (0.0001, "0.0001"),
            (0.00001, "1e-05"),
            (1.5e-7, "1.5e-07"),
            (1e15, "1000000000000000.0"),
            (1e16, "1e+16"),
            (1.25e100, "1.25e+100"),
            (0.1 + 0.2, "0.30000000000000004"),
            (0.0, "0.0"),
        ];
        for (value, text) in cases {
            assert_eq!(python_float(value), text);
        }
    }

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
        assert_eq!(text(&recording), include_str!("golden.cache.json"));
    }
}
