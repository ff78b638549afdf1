//! Reads T4 results (schema 1.0.0 of the auto-tuning community), in the schema's form and in Kernel
//! Tuner's. The latter has `compilation` and `benchmark` in place of `compilation_time`, and the
//! failure's class in place of a number.

use super::checks::check_known;
use super::error::Flaw;
use super::number::{milliseconds, scaled, time};
use super::stated::{self, Statement};
use super::{document, number, status};
use crate::line::CutLine;
use serde::Deserialize as _;
use serde_json::Value as Json;
use tunesmith_core::recording::{Column, Costs, Row};
use tunesmith_core::{CompileData, Cut, Failure, Measurement, Recording};
use tunesmith_space::Value;

/// The name of the measurement that is the time of a result.
pub(crate) const TIME: &str = "time";

/// The field of a time-out that a limit from the best time made, as lines of a journal have it.
pub(crate) const CUT: &str = "cut";

/// Returns the recording in `results`.
///
/// The objective is the one that every result names, in the unit of its measurement. The unit of the other
/// times is that of `metadata.timeunit`, or else that of a time that was measured, or else milliseconds. A
/// result whose measured time is not among its `runtimes` in these units is refused.
pub(super) fn read(name: &str, document: &Json, results: &Json) -> Result<Recording, Flaw> {
    let metadata = |key: &str| document.get("metadata").and_then(|metadata| metadata.get(key));
    let text = |key: &str| metadata(key).and_then(Json::as_str);
    let list = || Flaw::new("results", "no list", "fetch the file again, or name T4 results");
    let results = results.as_array().ok_or_else(list)?;
    let mut assumptions = Vec::new();
    let stated = objective(results, metadata("objective"))?;
    let unit = time_unit(text("timeunit"), &stated, &mut assumptions)?;
    let first = results.first().and_then(|result| result.get("configuration")).and_then(Json::as_object);
    let columns: Vec<Column> = first.into_iter().flat_map(|config| config.keys().map(Column::of_rows)).collect();
    let reader =
        Reader { columns: &columns, unit: &unit, objective: stated.name.as_deref(), is_time: stated.measures_time() };
    let rows = results.iter().enumerate().map(|(at, result)| reader.row(at, result));
    let rows: Vec<Row> = rows.collect::<Result<_, Flaw>>()?;
    let (ranking, assumed) = stated.ranking();
    assumptions.extend(assumed);
    let place = |row: usize| format!("result {}", row + 1);
    let recording = Recording::ranked(name, columns, rows, ranking);
    let mut recording = recording.map_err(|error| Flaw::of(&error, place))?;
    (recording.kernel, recording.device) = (text("kernel").map(str::to_string), text("device").map(str::to_string));
    for (key, name) in [("problem_size", "problem size"), ("precision", "precision")] {
        stated::add_to_subject(&mut recording, name, metadata(key));
    }
    let subject = metadata("subject").and_then(Json::as_object);
    subject.into_iter().flatten().for_each(|(name, json)| stated::add_to_subject(&mut recording, name, Some(json)));
    recording.assumptions = assumptions;
    Ok(recording)
}

/// Returns the objective of the results, which must agree. `described` is what our own files say about it.
fn objective(results: &[Json], described: Option<&Json>) -> Result<Statement, Flaw> {
    let names = |result: &Json| -> Vec<String> {
        let list = result.get("objectives").and_then(Json::as_array);
        list.into_iter().flatten().filter_map(|name| name.as_str().map(str::to_string)).collect()
    };
    let shown =
        |names: &[String]| if names.is_empty() { "none".to_string() } else { format!("`{}`", names.join(", ")) };
    let first = results.first().map(names).unwrap_or_default();
    if let Some((at, other)) = results.iter().map(names).enumerate().find(|(_, names)| *names != first) {
        let reason = format!("its objective is {}, but that of the first result is {}", shown(&other), shown(&first));
        return Err(Flaw::new(format!("result {}", at + 1), reason, "keep the results of one objective in a file"));
    }
    let front = described.and_then(stated::front);
    if first.len() > 1 && front.is_none() {
        let reason = format!("it has several objectives: {}", shown(&first));
        return Err(Flaw::new("result 1", reason, "leave the name of one of them in `objectives` of every result"));
    }
    let Some(name) = first.into_iter().next() else { return Ok(Statement::default()) };
    let mut unit: Option<(usize, String)> = None;
    for (at, result) in results.iter().enumerate() {
        let Some(own) = measured(result, &name).and_then(|one| text_in(one, "unit")).filter(|own| !own.is_empty())
        else {
            continue;
        };
        let is_number =
            measured(result, &name).and_then(|one| one.get("value")).is_some_and(|value| !value.is_string());
        match &unit {
            _ if !is_number => {}
            None => unit = Some((at, own.to_string())),
            Some((_, before)) if before == own => {}
            Some((first, before)) => {
                let reason = format!("`{name}` is in `{own}`, but in `{before}` in result {}", first + 1);
                return Err(Flaw::new(format!("result {}", at + 1), reason, "write all results in one unit"));
            }
        }
    }
    let direction = described.and_then(|described| described.get("direction")).and_then(stated::direction);
    Ok(Statement { name: Some(name), direction, unit: unit.map(|(_, unit)| unit), front })
}

/// The units of the times of a file.
struct TimeUnit {
    /// Milliseconds in the unit of `runtimes` and the costs.
    ms: f64,
    /// Milliseconds in the unit of the measured objective, if that is a time.
    stated_ms: f64,
    /// The words for both, for messages.
    words: [String; 2],
}

/// Returns the units of the file, and adds what had to be assumed.
fn time_unit(of_file: Option<&str>, stated: &Statement, assumptions: &mut Vec<String>) -> Result<TimeUnit, Flaw> {
    let known = |unit: &str| {
        milliseconds(unit).ok_or_else(|| {
            let reason = format!("`{unit}` is not a unit of time");
            Flaw::new("metadata.timeunit", reason, "write seconds, milliseconds, microseconds or nanoseconds")
        })
    };
    let of_file = of_file.filter(|unit| !unit.is_empty());
    if of_file == Some("miliseconds") {
        assumptions.push("`miliseconds` in metadata.timeunit is read as milliseconds".to_string());
    }
    if let Some(unit) = stated.unit.as_deref().filter(|unit| stated.is_called_time() && milliseconds(unit).is_none()) {
        let reason = format!("`{unit}` is not a unit of time");
        return Err(Flaw::new("measurements", reason, "write a unit of time, or another name for the objective"));
    }
    let measured = stated.unit.as_deref().filter(|_| stated.is_called_time());
    let default = of_file.or(measured);
    if default.is_none() {
        assumptions.push("the file states no unit of time: milliseconds are taken".to_string());
    }
    let (of_runtimes, of_measured) = (default.unwrap_or("ms"), measured.or(default).unwrap_or("ms"));
    let words = [of_measured.to_string(), of_runtimes.to_string()];
    Ok(TimeUnit { ms: known(of_runtimes)?, stated_ms: known(of_measured)?, words })
}

/// The parts that the rows of a file share.
struct Reader<'a> {
    columns: &'a [Column],
    unit: &'a TimeUnit,
    /// The name of the objective.
    objective: Option<&'a str>,
    /// True if the objective is the time.
    is_time: bool,
}

impl Reader<'_> {
    fn row(&self, at: usize, result: &Json) -> Result<Row, Flaw> {
        let values = self.configuration(at, result)?;
        let word = result.get("invalidity").and_then(Json::as_str);
        let word = word.ok_or_else(|| Flaw::record(at, "`invalidity` is missing"))?;
        let (mut measurement, mut reason) = (Measurement::default(), None);
        // A further number of that name is another one.
        let mut time = self.is_time.then_some(self.objective.unwrap_or(TIME));
        for one in measurements(result) {
            match (text_in(one, "name"), one.get("value")) {
                (Some(name), _) if time == Some(name) => time = None,
                (_, Some(json)) if document::is_no_number(json) => {}
                (_, Some(Json::String(text))) => reason = Some(text.clone()),
                (Some(name), Some(json)) => {
                    let numbers = numbers(json);
                    measurement.values.extend((!numbers.is_empty()).then(|| (name.to_string(), numbers)));
                }
                _ => {}
            }
        }
        let stated = measured(result, self.objective.unwrap_or(TIME)).and_then(|one| one.get("value"));
        if let Some(Json::String(text)) = stated.filter(|json| !document::is_no_number(json)) {
            reason = Some(text.clone());
        }
        let cut = result.get(CUT).and_then(|cut| CutLine::deserialize(cut).ok()).map(Cut::from);
        let failure = status::failure(word);
        let failure = failure.map(|own| Failure { cut, ..Failure::new(own.kind, reason.unwrap_or(own.message)) });
        let times = result.get("times");
        let cost = |key: &str| times?.get(key)?.as_f64().and_then(number::time).map(|time| scaled(time, self.unit.ms));
        let stated_ms;
        (measurement.times_ms, stated_ms) = self.times_ms(at, times, stated.filter(|_| failure.is_none()))?;
        let is_known = !measurement.times_ms.is_empty() || !self.is_time || stated.is_some_and(document::is_no_number);
        if failure.is_none() && !is_known {
            return Err(Flaw::record(at, "a correct configuration without `runtimes` and without a measured `time`"));
        }
        let compile = cost("compilation_time").or_else(|| cost("compilation"));
        measurement.compile = compile.map(|time_ms| CompileData { time_ms, ..CompileData::default() });
        let costs = Costs {
            benchmark_ms: cost("benchmark"),
            verification_ms: cost("validation"),
            framework_ms: cost("framework"),
            search_ms: cost("search_algorithm"),
        };
        Ok(Row { values, failure, measurement, stated_ms, rel_std: None, costs })
    }

    fn configuration(&self, at: usize, result: &Json) -> Result<Vec<Value>, Flaw> {
        let config = result.get("configuration").and_then(Json::as_object);
        let config = config.ok_or_else(|| Flaw::record(at, "`configuration` is missing"))?;
        let parameter = |column: &Column| {
            let found = config.get(&column.name).and_then(Value::of_document);
            found.ok_or_else(|| Flaw::record(at, format!("no value of parameter `{}`", column.name)))
        };
        let values = self.columns.iter().map(parameter).collect::<Result<_, Flaw>>()?;
        check_known(at, config.keys().map(String::as_str), self.columns)?;
        Ok(values)
    }

    /// Returns the samples of the time and the time that the result states besides. KTT's `runtimes` are those of the
    /// kernels of one launch, whose sum is the time. NaN in place of the measured time leaves none.
    fn times_ms(&self, at: usize, times: Option<&Json>, stated: Option<&Json>) -> Result<Times, Flaw> {
        let TimeUnit { ms, stated_ms, words } = self.unit;
        let runtimes = times.and_then(|times| times.get("runtimes")).and_then(Json::as_array);
        let runtimes = runtimes.into_iter().flatten().filter_map(document::number).filter_map(time);
        let runtimes: Vec<f64> = runtimes.map(|time| scaled(time, *ms)).collect();
        let Some(stated) = stated.filter(|_| self.is_time) else { return Ok((runtimes, None)) };
        if document::is_no_number(stated) {
            return Ok((Vec::new(), None));
        }
        let Some(measured) = document::number(stated).and_then(time).map(|time| scaled(time, *stated_ms)) else {
            return Ok((runtimes, None));
        };
        let sum: f64 = runtimes.iter().sum();
        if runtimes.is_empty() || runtimes.len() > 1 && (sum - measured).abs() <= 1e-6 * sum {
            return Ok((vec![measured], None));
        }
        match stated::contradiction(self.objective.unwrap_or(TIME), measured, &runtimes) {
            None => Ok((runtimes, Some(measured))),
            Some(reason) => {
                let units = format!("in milliseconds, from {} (measured) and {} (`runtimes`)", words[0], words[1]);
                let remedy = "correct the unit of the measurement, metadata.timeunit or the numbers";
                Err(Flaw::new(format!("result {}", at + 1), format!("{reason}, {units}"), remedy))
            }
        }
    }
}

/// Samples of a time, and the time that the file states besides.
type Times = (Vec<f64>, Option<f64>);

/// Returns the measurements of a result.
fn measurements(result: &Json) -> impl Iterator<Item = &Json> {
    result.get("measurements").and_then(Json::as_array).into_iter().flatten()
}

/// Returns the first measurement called `name`. A further one is another number of that name.
fn measured<'a>(result: &'a Json, name: &str) -> Option<&'a Json> {
    measurements(result).find(|one| text_in(one, "name") == Some(name))
}

fn text_in<'a>(json: &'a Json, key: &str) -> Option<&'a str> {
    json.get(key).and_then(Json::as_str)
}

/// Returns a number, or the numbers of a list.
fn numbers(json: &Json) -> Vec<f64> {
    let list = json.as_array().map_or(std::slice::from_ref(json), Vec::as_slice);
    list.iter().filter_map(Json::as_f64).collect()
}
