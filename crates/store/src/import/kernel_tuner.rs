//! Reads cache files of Kernel Tuner: a header, then `"cache"` with an object per configuration.
//!
//! The tool appends to the file and closes the last two braces only when a run ends, so that they
//! may be missing.

use super::error::Flaw;
use super::number::{time, value};
use super::status;
use serde_json::{Map, Value as Json};
use std::collections::BTreeMap;
use tunesmith_core::recording::{Column, Costs, Row};
use tunesmith_core::{CompileData, Measurement, Recording};

/// The keys of an entry, beside the parameters, that are not further numbers of its run.
pub(crate) const KNOWN: [&str; 8] = [
    "time",
    "times",
    "compile_time",
    "verification_time",
    "benchmark_time",
    "strategy_time",
    "framework_time",
    "timestamp",
];

/// Returns the document of a cache that was not closed, up to its last whole entry. Returns `None`
/// for anything else.
pub(super) fn closed(text: &str) -> Option<Json> {
    let cache = text.find("\"cache\"")?;
    let mut end = text.len();
    // The last entry may be cut anywhere. The document ends at the last closing brace after which
    // it parses. Entries are flat, so that few braces have to be tried.
    for _ in 0..4 {
        let brace = text[cache..end].rfind(['}', '{'])? + cache;
        let document = format!("{}}}}}", &text[..=brace]);
        if let Ok(document) = serde_json::from_str(&document) {
            return Some(document);
        }
        end = brace;
    }
    None
}

/// Returns the recording in `document`, which has `cache`.
///
/// The objective is always the time of the samples (`times`). The tool's own `time`, their mean, is
/// kept beside them.
pub(super) fn read(name: &str, document: &Json) -> Result<Recording, Flaw> {
    let header = |reason: &str| Flaw::new("header", reason, "fetch the file again, or name a cache of Kernel Tuner");
    let keys = document.get("tune_params_keys").and_then(Json::as_array);
    let keys = keys.ok_or_else(|| header("`tune_params_keys` is missing"))?;
    let cache = document.get("cache").and_then(Json::as_object).ok_or_else(|| header("`cache` is not an object"))?;
    let listed = |name: &str| -> Option<Vec<_>> {
        document.get("tune_params")?.get(name)?.as_array()?.iter().map(value).collect()
    };
    let column = |key: &Json| {
        let name = key.as_str().ok_or_else(|| header("`tune_params_keys` is not a list of names"))?;
        Ok(Column { name: name.to_string(), values: listed(name) })
    };
    let columns: Vec<Column> = keys.iter().map(column).collect::<Result<_, Flaw>>()?;
    if let Some(Column { name, .. }) = columns.iter().find(|column| KNOWN.contains(&column.name.as_str())) {
        let reason = format!("parameter `{name}` has the name of a number of every entry, which took its place");
        return Err(Flaw::new("header", reason, "rename the parameter, and tune again"));
    }
    let rows = cache.iter().map(|(key, entry)| row(key, entry, &columns));
    let rows: Vec<Row> = rows.collect::<Result<_, Flaw>>()?;
    let place = |row: usize| format!("entry \"{}\"", cache.keys().nth(row).map_or("", String::as_str));
    let mut recording = Recording::new(name, columns, rows).map_err(|error| Flaw::of(&error, place))?;
    let text = |key: &str| document.get(key).and_then(Json::as_str).map(str::to_string);
    (recording.kernel, recording.device) = (text("kernel_name"), text("device_name"));
    Ok(recording)
}

fn row(key: &str, entry: &Json, columns: &[Column]) -> Result<Row, Flaw> {
    let flaw = |reason: String| Flaw::new(format!("entry \"{key}\""), reason, "remove that entry");
    let entry = entry.as_object().ok_or_else(|| flaw("no object".to_string()))?;
    let parameter = |column: &Column| {
        let found = entry.get(&column.name).and_then(value);
        found.ok_or_else(|| flaw(format!("no value of parameter `{}`", column.name)))
    };
    let values = columns.iter().map(parameter).collect::<Result<_, Flaw>>()?;
    let number = |key: &str| entry.get(key).and_then(Json::as_f64).and_then(time);
    let stated_ms = number("time");
    let failure = match entry.get("time") {
        Some(Json::String(word)) => status::failure(word),
        _ if stated_ms.is_some() => None,
        _ => return Err(flaw("`time` is neither a time nor the name of a failure".to_string())),
    };
    let times = entry.get("times").and_then(Json::as_array);
    let mut times_ms: Vec<f64> = times.into_iter().flatten().filter_map(Json::as_f64).filter_map(time).collect();
    if times_ms.is_empty() {
        times_ms.extend(stated_ms);
    }
    let compile = number("compile_time").map(|time_ms| CompileData { time_ms, ..CompileData::default() });
    let values_of_run = further(entry, columns);
    let measurement = Measurement { times_ms, compile, values: values_of_run, ..Measurement::default() };
    let costs = Costs {
        benchmark_ms: number("benchmark_time"),
        verification_ms: number("verification_time"),
        framework_ms: number("framework_time"),
        search_ms: number("strategy_time"),
    };
    Ok(Row { values, failure, measurement, stated_ms, rel_std: None, costs })
}

/// Returns the numbers of an entry that metrics added, such as `GFLOP/s`.
fn further(entry: &Map<String, Json>, columns: &[Column]) -> BTreeMap<String, Vec<f64>> {
    let is_own = |name: &str| KNOWN.contains(&name) || columns.iter().any(|column| column.name == name);
    let numbers =
        entry.iter().filter(|(name, _)| !is_own(name)).filter_map(|(name, json)| Some((name, json.as_f64()?)));
    numbers.map(|(name, number)| (name.clone(), vec![number])).collect()
}
