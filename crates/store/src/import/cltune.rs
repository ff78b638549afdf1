//! Reads results of CLTune and of CLBlast's tuners as JSON: `results` with `kernel`, `time` in
//! milliseconds and `parameters`. Neither tool writes failures.

use super::checks::check_known;
use super::error::Flaw;
use super::number::time;
use super::{document, stated};
use serde_json::{Map, Value as Json};
use tunesmith_core::recording::{Column, Row};
use tunesmith_core::{Failure, FailureKind, Measurement, Recording};
use tunesmith_space::Value;

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
        return Err(Flaw::other_kernel(format!("result {}", at + 1), kernel.as_deref()));
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
    // CLBlast has its own name for a device beside that of the driver. Either tells devices apart.
    if document.get("clblast_device_name").is_some() {
        stated::add_to_subject(&mut recording, "device name", document.get("device"));
    }
    let is_subject = |name: &str| name == "precision" || name.starts_with("arg_");
    for (name, json) in document.as_object().into_iter().flatten().filter(|(name, _)| is_subject(name)) {
        stated::add_to_subject(&mut recording, name, Some(json));
    }
    Ok(recording)
}

fn parameters(result: &Json) -> Option<&Map<String, Json>> {
    result.get("parameters").and_then(Json::as_object)
}

fn row(at: usize, result: &Json, columns: &[Column]) -> Result<Row, Flaw> {
    let config = parameters(result).ok_or_else(|| Flaw::record(at, "`parameters` is missing"))?;
    let parameter = |column: &Column| {
        let found = config.get(&column.name).and_then(Value::of_document);
        found.ok_or_else(|| Flaw::record(at, format!("the value of parameter `{}` is missing", column.name)))
    };
    let values = columns.iter().map(parameter).collect::<Result<_, Flaw>>()?;
    check_known(at, config.keys().map(String::as_str), columns)?;
    let stated = result.get("time");
    if stated.is_some_and(document::is_no_number) {
        // The recording makes the row a failure.
        return Ok(Row { values, ..Row::default() });
    }
    let time_ms = stated.and_then(document::number).and_then(time);
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
