//! Reads T4 results (schema 1.0.0 of the auto-tuning community), in the schema's form and in Kernel
//! Tuner's. The latter has `compilation` and `benchmark` in place of `compilation_time`, and the
//! failure's class in place of a number.

use super::error::Flaw;
use super::number::{milliseconds, scaled, time, value};
use super::status;
use crate::line::CutLine;
use serde::Deserialize as _;
use serde_json::Value as Json;
use tunesmith_core::recording::{Column, Costs, Row};
use tunesmith_core::{CompileData, Cut, Failure, Measurement, Recording};

/// The name of the measurement that is the time of a result.
pub(crate) const TIME: &str = "time";

/// The field of a time-out that a limit from the best time made, as lines of a journal have it.
pub(crate) const CUT: &str = "cut";

/// Returns the recording in `results`. Times are in the unit of `metadata.timeunit`, by default
/// milliseconds.
pub(super) fn read(name: &str, document: &Json, results: &Json) -> Result<Recording, Flaw> {
    let metadata = |key: &str| document.get("metadata").and_then(|metadata| metadata.get(key)).and_then(Json::as_str);
    let unit = metadata("timeunit").unwrap_or_default();
    let unit_ms = milliseconds(unit).ok_or_else(|| {
        let reason = format!("`{unit}` is not a unit of time");
        Flaw::new("metadata.timeunit", reason, "write seconds, milliseconds, microseconds or nanoseconds")
    })?;
    let list = || Flaw::new("results", "no list", "fetch the file again, or name T4 results");
    let results = results.as_array().ok_or_else(list)?;
    let first = results.first().and_then(|result| result.get("configuration")).and_then(Json::as_object);
    let columns: Vec<Column> = first.into_iter().flat_map(|config| config.keys().map(Column::of_rows)).collect();
    let rows = results.iter().enumerate().map(|(at, result)| row(at, result, &columns, unit_ms));
    let rows: Vec<Row> = rows.collect::<Result<_, Flaw>>()?;
    let place = |row: usize| format!("result {}", row + 1);
    let mut recording = Recording::new(name, columns, rows).map_err(|error| Flaw::of(&error, place))?;
    (recording.kernel, recording.device) =
        (metadata("kernel").map(str::to_string), metadata("device").map(str::to_string));
    Ok(recording)
}

fn row(at: usize, result: &Json, columns: &[Column], unit_ms: f64) -> Result<Row, Flaw> {
    let config = result.get("configuration").and_then(Json::as_object);
    let config = config.ok_or_else(|| Flaw::record(at, "`configuration` is missing"))?;
    let parameter = |column: &Column| {
        let found = config.get(&column.name).and_then(value);
        found.ok_or_else(|| Flaw::record(at, format!("no value of parameter `{}`", column.name)))
    };
    let values = columns.iter().map(parameter).collect::<Result<_, Flaw>>()?;
    let word = result.get("invalidity").and_then(Json::as_str);
    let word = word.ok_or_else(|| Flaw::record(at, "`invalidity` is missing"))?;
    let mut measurement = Measurement::default();
    let (mut stated_ms, mut reason) = (None, None);
    for (name, json) in measurements(result) {
        match (name, json) {
            // A further one is another number of that name.
            (TIME, Json::Number(number)) if stated_ms.is_none() => {
                stated_ms = number.as_f64().and_then(time).map(|time| scaled(time, unit_ms));
            }
            (_, Json::String(text)) => reason = Some(text.clone()),
            (name, json) => {
                let number = json.as_f64().map(|number| (name.to_string(), vec![number]));
                measurement.values.extend(number);
            }
        }
    }
    let times = result.get("times");
    let number = |key: &str| times?.get(key)?.as_f64().and_then(time).map(|time| scaled(time, unit_ms));
    let runtimes = times.and_then(|times| times.get("runtimes")).and_then(Json::as_array);
    let runtimes = runtimes.into_iter().flatten().filter_map(Json::as_f64).filter_map(time);
    measurement.times_ms.extend(runtimes.map(|time| scaled(time, unit_ms)));
    if measurement.times_ms.is_empty() {
        measurement.times_ms.extend(stated_ms);
    }
    let cut = result.get(CUT).and_then(|cut| CutLine::deserialize(cut).ok()).map(Cut::from);
    let failure = status::failure(word);
    let failure = failure.map(|own| Failure { cut, ..Failure::new(own.kind, reason.unwrap_or(own.message)) });
    if failure.is_none() && measurement.times_ms.is_empty() {
        return Err(Flaw::record(at, "a correct configuration without `runtimes` and without a measured `time`"));
    }
    let compile = number("compilation_time").or_else(|| number("compilation"));
    measurement.compile = compile.map(|time_ms| CompileData { time_ms, ..CompileData::default() });
    let costs = Costs {
        benchmark_ms: number("benchmark"),
        verification_ms: number("validation"),
        framework_ms: number("framework"),
        search_ms: number("search_algorithm"),
    };
    Ok(Row { values, failure, measurement, stated_ms, rel_std: None, costs })
}

/// Returns the names and values of the measurements of a result.
fn measurements(result: &Json) -> impl Iterator<Item = (&str, &Json)> {
    let list = result.get("measurements").and_then(Json::as_array);
    list.into_iter().flatten().filter_map(|json| Some((json.get("name")?.as_str()?, json.get("value")?)))
}
