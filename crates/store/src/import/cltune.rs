//! Reads results of CLTune and of CLBlast's tuners as JSON: `results` with `kernel`, `time` in
//! milliseconds and `parameters`. Neither tool writes failures.

use super::error::Flaw;
use super::number::{time, value};
use serde_json::{Map, Value as Json};
use tunesmith_core::recording::{Column, Row};
use tunesmith_core::{Failure, FailureKind, Measurement, Recording};

/// Returns true if `results` are of these tools. T4 calls parameters `configuration`.
pub(super) fn is_ours(results: &Json) -> bool {
    let first = results.as_array().and_then(|results| results.first());
    first.is_some_and(|first| first.get("parameters").is_some() && first.get("kernel").is_some())
}

/// Returns the recording in `results`, all of one kernel.
pub(super) fn read(name: &str, document: &Json, results: &Json) -> Result<Recording, Flaw> {
    let results = results.as_array().map(Vec::as_slice).unwrap_or_default();
    let kernel_of = |result: &Json| result.get("kernel").and_then(Json::as_str).map(str::to_string);
    let kernel = results.first().and_then(kernel_of);
    if let Some(at) = results.iter().position(|result| kernel_of(result) != kernel) {
        let reason = format!("another kernel than `{}`", kernel.unwrap_or_default());
        return Err(Flaw::new(format!("result {}", at + 1), reason, "keep the results of one kernel in a file"));
    }
    let columns: Vec<Column> =
        results.first().and_then(parameters).into_iter().flat_map(Map::keys).map(Column::of_rows).collect();
    let rows: Vec<Row> =
        results.iter().enumerate().map(|(at, result)| row(at, result, &columns)).collect::<Result<_, Flaw>>()?;
    let place = |row: usize| format!("result {}", row + 1);
    let mut recording = Recording::new(name, columns, rows).map_err(|error| Flaw::of(&error, place))?;
    let device =
        ["clblast_device_name", "device_name", "device"].into_iter().find_map(|key| document.get(key)?.as_str());
    (recording.kernel, recording.device) = (kernel, device.map(str::to_string));
    Ok(recording)
}

fn parameters(result: &Json) -> Option<&Map<String, Json>> {
    result.get("parameters").and_then(Json::as_object)
}

fn row(at: usize, result: &Json, columns: &[Column]) -> Result<Row, Flaw> {
    let config = parameters(result).ok_or_else(|| Flaw::record(at, "`parameters` is missing"))?;
    let parameter = |column: &Column| {
        let found = config.get(&column.name).and_then(value);
        found.ok_or_else(|| Flaw::record(at, format!("the value of parameter `{}` is missing", column.name)))
    };
    let values = columns.iter().map(parameter).collect::<Result<_, Flaw>>()?;
    let time_ms = result.get("time").and_then(Json::as_f64).and_then(time);
    let time_ms = time_ms.ok_or_else(|| Flaw::record(at, "`time` is missing or not a time"))?;
    let mut row = Row { values, ..Row::default() };
    if time_ms > 0.0 {
        row.measurement = Measurement { times_ms: vec![time_ms], ..Measurement::default() };
    } else {
        // Times have three decimals, so that shorter ones are lost. As 0 they would win.
        row.failure = Some(Failure::new(FailureKind::Runtime, "a time of 0 ms: the file cannot hold shorter times"));
    }
    Ok(row)
}
