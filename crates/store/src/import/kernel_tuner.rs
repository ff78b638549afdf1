//! Reads cache files of Kernel Tuner: a header, then `"cache"` with an object per configuration.
//!
//! The tool appends to the file and closes the last two braces only when a run ends, so that they
//! may be missing.

use super::error::Flaw;
use super::number::time;
use super::stated::{self, Statement};
use super::{document, status};
use serde_json::{Map, Value as Json};
use std::collections::BTreeMap;
use tunesmith_core::recording::{Column, Costs, Row};
use tunesmith_core::{CompileData, Failure, FailureKind, Measurement, Recording};
use tunesmith_space::{Parameter, Value};

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
        if let Ok(document) = document::parse(&document) {
            return Some(document);
        }
        end = brace;
    }
    None
}

/// Returns the recording in `document`, which has `cache`.
///
/// The tool writes the samples of its objective as a list under the plural (`times`, `scores`), and their
/// mean beside it. A cache whose objective is another number may have no time: the time of benchmarking
/// then stands for it.
pub(super) fn read(name: &str, document: &Json) -> Result<Recording, Flaw> {
    let header = |reason: &str| Flaw::new("header", reason, "fetch the file again, or name a cache of Kernel Tuner");
    let keys = document.get("tune_params_keys").and_then(Json::as_array);
    let keys = keys.ok_or_else(|| header("`tune_params_keys` is missing"))?;
    let cache = document.get("cache").and_then(Json::as_object).ok_or_else(|| header("`cache` is not an object"))?;
    let listed = |name: &str| -> Option<Vec<_>> {
        document.get("tune_params")?.get(name)?.as_array()?.iter().map(Value::of_document).collect()
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
    let text = |key: &str| document.get(key).and_then(Json::as_str).map(str::to_string);
    let direction = document.get("objective_higher_is_better").and_then(stated::direction);
    let front = document.get("front").and_then(stated::front);
    let stated = Statement { name: text("objective"), direction, unit: text("objective_unit"), front };
    let objective = if stated.measures_time() { TIME.to_string() } else { stated.name.clone().unwrap_or_default() };
    let (ranking, assumptions) = stated.ranking();
    let rows = cache.iter().map(|(key, entry)| Entry::new(key, entry, &objective)?.row(&columns));
    let rows: Vec<Row> = rows.collect::<Result<_, Flaw>>()?;
    let place = |row: usize| format!("entry \"{}\"", cache.keys().nth(row).map_or("", String::as_str));
    let recording = Recording::ranked(name, columns, rows, ranking);
    let mut recording = recording.map_err(|error| Flaw::of(&error, place))?;
    (recording.kernel, recording.device) = (text("kernel_name"), text("device_name"));
    recording.assumptions = assumptions;
    stated::add_to_subject(&mut recording, "problem size", document.get("problem_size"));
    let subject = document.get("subject").and_then(Json::as_object);
    subject.into_iter().flatten().for_each(|(name, json)| stated::add_to_subject(&mut recording, name, Some(json)));
    Ok(recording)
}

/// The name of the time in an entry.
const TIME: &str = "time";

/// One entry of a cache.
struct Entry<'a> {
    key: &'a str,
    entry: &'a Map<String, Json>,
    /// The name of the number that the tool optimised.
    objective: &'a str,
}

impl<'a> Entry<'a> {
    fn new(key: &'a str, entry: &'a Json, objective: &'a str) -> Result<Self, Flaw> {
        let entry = entry.as_object().ok_or_else(|| flaw(key, "no object"))?;
        Ok(Self { key, entry, objective })
    }

    fn row(&self, columns: &[Column]) -> Result<Row, Flaw> {
        let parameter = |column: &Column| {
            let found = self.entry.get(&column.name).and_then(Value::of_document);
            found.ok_or_else(|| flaw(self.key, format!("no value of parameter `{}`", column.name)))
        };
        let values: Vec<Value> = columns.iter().map(parameter).collect::<Result<_, Flaw>>()?;
        self.check_key(&values)?;
        let failure = self.failure()?;
        let number = |key: &str| self.entry.get(key).and_then(document::number).and_then(time);
        let mut times_ms: Vec<f64> = self.samples(TIME)?.into_iter().filter_map(time).collect();
        if times_ms.is_empty() && self.objective != TIME {
            times_ms.extend(number("benchmark_time").filter(|ms| *ms > 0.0));
        }
        let mut values_of_run = self.further(columns);
        if self.objective != TIME {
            let samples = self.samples(self.objective)?;
            let stated = self.entry.get(self.objective).and_then(document::number);
            values_of_run.insert(self.objective.to_string(), stated.map_or(samples, |stated| vec![stated]));
        }
        let stated_ms = number(TIME).filter(|_| times_ms.len() > 1);
        let compile = number("compile_time").map(|time_ms| CompileData { time_ms, ..CompileData::default() });
        let measurement = Measurement { times_ms, compile, values: values_of_run, ..Measurement::default() };
        let costs = Costs {
            benchmark_ms: number("benchmark_time"),
            verification_ms: number("verification_time"),
            framework_ms: number("framework_time"),
            search_ms: number("strategy_time"),
        };
        Ok(Row { values, failure, measurement, stated_ms, rel_std: None, costs })
    }

    /// Refuses an entry whose key names another configuration than its values. The key has the values as
    /// Python prints them, with commas between.
    fn check_key(&self, values: &[Value]) -> Result<(), Flaw> {
        let printed: Vec<String> = values.iter().map(Value::python_str).collect();
        if self.key == printed.join(",") {
            return Ok(());
        }
        let parts: Vec<&str> = self.key.split(',').collect();
        let is_alike = |(part, value): (&&str, &Value)| {
            Parameter::new("key", [value.clone()]).is_ok_and(|one| one.index_alike(&Value::from(*part)).is_some())
        };
        if parts.len() == values.len() && parts.iter().zip(values).all(is_alike) {
            return Ok(());
        }
        Err(flaw(self.key, format!("its values are those of \"{}\"", printed.join(","))))
    }

    /// Returns the failure of the entry, or `None` if it is correct. The tool writes the name of a failure in
    /// place of the number.
    fn failure(&self) -> Result<Option<Failure>, Flaw> {
        if let Some(word) = self.entry.get("__error__").and_then(Json::as_str) {
            return Ok(status::failure(word));
        }
        for name in [self.objective, TIME] {
            match self.entry.get(name) {
                Some(json) if document::number(json).is_some() => {}
                Some(json) if document::is_no_number(json) && name != self.objective => {}
                Some(json) if document::is_no_number(json) => {
                    let text = json.as_str().unwrap_or("missing");
                    return Ok(Some(Failure::new(FailureKind::Runtime, format!("its `{name}` is {text}"))));
                }
                Some(Json::String(word)) => return Ok(status::failure(word)),
                None if name != self.objective => {}
                _ => return Err(flaw(self.key, format!("`{name}` is neither a number nor the name of a failure"))),
            }
        }
        let negative = self.entry.get(TIME).and_then(document::number).filter(|time| *time < 0.0);
        negative.map_or(Ok(None), |time| Err(flaw(self.key, format!("`{TIME}` is {time}, which is no time"))))
    }

    /// Returns the samples of a number: those of its list, or else the number itself.
    fn samples(&self, name: &str) -> Result<Vec<f64>, Flaw> {
        let list = self.entry.get(&format!("{name}s")).and_then(Json::as_array);
        let mut samples: Vec<f64> = list.into_iter().flatten().filter_map(document::number).collect();
        if let Some(stated) = self.entry.get(name).and_then(document::number) {
            if let Some(reason) = stated::contradiction(name, stated, &samples) {
                return Err(flaw(self.key, reason));
            }
            if samples.is_empty() {
                samples.push(stated);
            }
        }
        Ok(samples)
    }

    /// Returns the numbers that metrics added, such as `GFLOP/s`.
    fn further(&self, columns: &[Column]) -> BTreeMap<String, Vec<f64>> {
        let is_own = |name: &str| KNOWN.contains(&name) || columns.iter().any(|column| column.name == name);
        let numbers = self.entry.iter().filter(|(name, _)| !is_own(name));
        numbers.filter_map(|(name, json)| Some((name.clone(), vec![json.as_f64()?]))).collect()
    }
}

fn flaw(key: &str, reason: impl Into<String>) -> Flaw {
    Flaw::new(format!("entry \"{key}\""), reason, "correct or remove that entry")
}
