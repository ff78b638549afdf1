//! Reads results of KTT as JSON, with hardware counters.

use super::checks::check_known;
use super::error::Flaw;
use super::number::{milliseconds, scaled, time};
use super::{document, status};
use serde_json::Value as Json;
use tunesmith_core::counters::{GLOBAL_SIZE, LOCAL_SIZE, REGISTERS};
use tunesmith_core::recording::{Column, Row};
use tunesmith_core::{Measurement, Recording};
use tunesmith_space::Value;

/// The units of a file.
#[derive(Clone, Copy)]
struct Units {
    /// Milliseconds in its unit of time.
    ms: f64,
    /// True if its global sizes are numbers of work-groups, as KTT 2 writes them for CUDA, rather
    /// than of work-items.
    in_blocks: bool,
}

/// Returns the recording in `results`. Times are in the unit of `Metadata.TimeUnit`.
pub(super) fn read(name: &str, document: &Json, results: &Json) -> Result<Recording, Flaw> {
    let metadata = |key: &str| document.get("Metadata").and_then(|metadata| metadata.get(key)).and_then(Json::as_str);
    let unit = metadata("TimeUnit").unwrap_or("Milliseconds");
    let mut assumptions = Vec::new();
    if metadata("TimeUnit").is_none() {
        assumptions.push("the file states no Metadata.TimeUnit: milliseconds are taken".to_string());
    }
    let unit_ms = milliseconds(unit).ok_or_else(|| {
        let reason = format!("`{unit}` is not a unit of time");
        Flaw::new("Metadata.TimeUnit", reason, "write Seconds, Milliseconds, Microseconds or Nanoseconds")
    })?;
    let list = || Flaw::new("Results", "no list", "fetch the file again, or name results of KTT");
    let results = results.as_array().ok_or_else(list)?;
    let kernel_of = |result: &Json| result.get("KernelName").and_then(Json::as_str).map(str::to_string);
    let kernel = results.first().and_then(kernel_of);
    if let Some(at) = results.iter().position(|result| kernel_of(result) != kernel) {
        return Err(Flaw::other_kernel(format!("result {}", at + 1), kernel.as_deref()));
    }
    let columns: Vec<Column> = pairs(results.first()).map(|(name, _)| Column::of_rows(name)).collect();
    let units = Units { ms: unit_ms, in_blocks: metadata("GlobalSizeType").is_none_or(|kind| kind == "CUDA") };
    let rows = results.iter().enumerate().map(|(at, result)| row(at, result, &columns, units));
    let rows: Vec<Row> = rows.collect::<Result<_, Flaw>>()?;
    let place = |row: usize| format!("result {}", row + 1);
    let mut recording = Recording::new(name, columns, rows).map_err(|error| Flaw::of(&error, place))?;
    recording.device = metadata("Device").map(str::to_string);
    (recording.kernel, recording.assumptions) = (kernel, assumptions);
    Ok(recording)
}

/// Returns the parameters of a result with their values.
fn pairs(result: Option<&Json>) -> impl Iterator<Item = (&str, &Json)> {
    let list = result.and_then(|result| result.get("Configuration")).and_then(Json::as_array);
    list.into_iter().flatten().filter_map(|pair| Some((pair.get("Name")?.as_str()?, pair.get("Value")?)))
}

fn row(at: usize, result: &Json, columns: &[Column], units: Units) -> Result<Row, Flaw> {
    let parameter = |column: &Column| {
        let found =
            pairs(Some(result)).find(|(name, _)| *name == column.name).and_then(|(_, json)| Value::of_document(json));
        found.ok_or_else(|| Flaw::record(at, format!("no value of parameter `{}`", column.name)))
    };
    let values = columns.iter().map(parameter).collect::<Result<_, Flaw>>()?;
    check_known(at, pairs(Some(result)).map(|(name, _)| name), columns)?;
    let word = result.get("Status").and_then(Json::as_str);
    let failure = status::failure(word.ok_or_else(|| Flaw::record(at, "`Status` is missing"))?);
    let mut measurement = Measurement::default();
    // Without a number for the time, the recording makes the row a failure.
    if failure.is_none() && !result.get("TotalDuration").is_some_and(document::is_no_number) {
        let total = result.get("TotalDuration").and_then(document::number).and_then(time);
        let total = total.ok_or_else(|| Flaw::record(at, "a correct configuration without `TotalDuration`"))?;
        measurement.times_ms.push(scaled(total, units.ms));
    }
    add_computations(&mut measurement, result, units);
    Ok(Row { values, failure, measurement, ..Row::default() })
}

/// Adds counters, compilation data and the times of each kernel. If several kernels were run, each
/// name begins with the kernel's.
fn add_computations(measurement: &mut Measurement, result: &Json, units: Units) {
    let list = result.get("ComputationResults").and_then(Json::as_array).map(Vec::as_slice).unwrap_or_default();
    for computation in list {
        let function = computation.get("KernelFunction").and_then(Json::as_str).unwrap_or_default();
        let named = |name: &str| if list.len() > 1 { format!("{function}/{name}") } else { name.to_string() };
        let counters = computation.get("ProfilingData").and_then(|data| data.get("Counters")).and_then(Json::as_array);
        for counter in counters.into_iter().flatten() {
            let name = counter.get("Name").and_then(Json::as_str);
            if let (Some(name), Some(value)) = (name, counter.get("Value").and_then(Json::as_f64)) {
                measurement.counters.insert(named(name), value);
            }
        }
        for (name, value) in computation.get("CompilationData").and_then(Json::as_object).into_iter().flatten() {
            let name = if name == "RegistersCount" { REGISTERS } else { name };
            measurement.values.extend(value.as_f64().map(|value| (named(name), vec![value])));
        }
        let sizes = sizes(computation, units).into_iter().flatten();
        measurement.values.extend(sizes.map(|(name, size)| (named(name), vec![size])));
        let duration = computation.get("Duration").and_then(Json::as_f64).and_then(time);
        if let (true, Some(duration)) = (list.len() > 1, duration) {
            measurement.parts_ms.entry(function.to_string()).or_default().push(scaled(duration, units.ms));
        }
    }
}

/// Returns the numbers of work-items of a launch and of one of its work-groups, if both are
/// present.
fn sizes(computation: &Json, units: Units) -> Option<[(&'static str, f64); 2]> {
    let size = |key: &str| -> Option<f64> {
        let axes = computation.get(key)?;
        ["X", "Y", "Z"].into_iter().map(|axis| axes.get(axis).and_then(Json::as_f64)).product()
    };
    let (global, local) = (size("GlobalSize")?, size("LocalSize")?);
    let threads = if units.in_blocks { global * local } else { global };
    Some([(GLOBAL_SIZE, threads), (LOCAL_SIZE, local)])
}
