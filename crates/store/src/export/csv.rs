//! Writes a CSV with one row per configuration, and the JSON file that describes it.

use super::number_names::NumberNames;
use super::objective_names::ObjectiveNames;
use super::origin::{WRITTEN_BY, written_by};
use crate::formula::neutralised;
use serde_json::{Map, Value as Json, json};
use std::fmt::Write as _;
use tunesmith_core::recording::Row;
use tunesmith_core::{Launch, Recording};
use tunesmith_space::Expr;

/// A column after the parameters: its name and the number a row has there.
type Number = (&'static str, fn(&Row) -> Option<f64>);

/// The columns behind the parameters.
const OUTCOME: [&str; 2] = ["time_ms", "status"];

/// The columns behind these. A column is left out if no row has a number for it.
const NUMBERS: [Number; 8] = [
    ("rel_std", |row| row.rel_std),
    ("compile_ms", |row| row.measurement.compile.as_ref().map(|compile| compile.time_ms)),
    ("benchmark_ms", |row| row.costs.benchmark_ms),
    ("verification_ms", |row| row.costs.verification_ms),
    ("framework_ms", |row| row.costs.framework_ms),
    ("search_ms", |row| row.costs.search_ms),
    ("cut_limit_ms", |row| row.cut().map(|cut| cut.limit_ms)),
    ("cut_best_ms", |row| row.cut().map(|cut| cut.best_ms)),
];

/// Returns true for the name of a column that is written beside the parameters.
pub(super) fn is_own(name: &str) -> bool {
    OUTCOME.contains(&name) || NUMBERS.iter().any(|(known, _)| *known == name)
}

/// Returns the table: parameters, time, status, costs, other single numbers of a run, then
/// counters.
pub(super) fn table(recording: &Recording, kept: &NumberNames<'_>) -> String {
    let rows = recording.rows();
    let has = |(_, number): &&Number| rows.iter().any(|row| number(row).is_some());
    let numbers: Vec<&Number> = NUMBERS.iter().filter(has).collect();
    let NumberNames { values, counters } = kept;
    let ranking = recording.ranking().numbers();
    let parameters = recording.parameters().iter().map(|parameter| parameter.name());
    let header = parameters.chain(OUTCOME).chain(numbers.iter().map(|(name, _)| *name));
    let header: Vec<String> = header.chain(values.iter().chain(counters).copied()).map(field).collect();
    let mut text = header.join(",") + "\n";
    for row in rows {
        let number = |number: Option<f64>| number.map(|number| number.to_string()).unwrap_or_default();
        let mut fields: Vec<String> = row.values.iter().map(|value| field(&value.to_string())).collect();
        fields.push(number(row.time_ms()));
        fields.push(row.failure.as_ref().map_or("ok", |failure| failure.kind.word()).to_string());
        fields.extend(numbers.iter().map(|(_, of)| number(of(row))));
        fields.extend(values.iter().map(|name| number(value(row, name, &ranking))));
        fields.extend(counters.iter().map(|name| number(row.measurement.counters.get(*name).copied())));
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{}", fields.join(","));
    }
    text
}

/// Returns the description of the table: names, values, constraints, and facts that a reader cannot
/// tell from the columns' names.
pub(super) fn sidecar(recording: &Recording, kept: &NumberNames<'_>) -> String {
    let parameter = |parameter: &tunesmith_space::Parameter| (parameter.name().to_string(), json!(parameter.values()));
    let params: Map<String, Json> = recording.parameters().iter().map(parameter).collect();
    let objective = ObjectiveNames::of(recording);
    let document = json!({
        WRITTEN_BY: written_by(),
        "name": recording.name,
        "kernel": recording.kernel,
        "device": recording.device,
        "device_class": recording.device_class,
        "hardware": hardware(recording),
        "objective": objective.name,
        "objective_direction": objective.direction,
        "objective_unit": objective.unit,
        "front": objective.front,
        "time_unit": "ms",
        "subject": recording.subject,
        "params": params,
        "constraints": recording.constraints,
        "launch": recording.launch.as_ref().map(launch),
        "counters": kept.counters,
        "n_configs": recording.rows().len(),
        "n_valid": recording.correct(),
        "n_failed": recording.rows().len() - recording.correct(),
        "optimum_ms": recording.optimum_ms(),
    });
    format!("{document:#}\n")
}

fn hardware(recording: &Recording) -> Json {
    let hardware = recording.hardware;
    let sizes = [("cc", hardware.compute_capability), ("sm", hardware.multiprocessors), ("cores", hardware.cores)];
    Json::Object(sizes.into_iter().filter_map(|(name, size)| Some((name.to_string(), Json::from(size?)))).collect())
}

fn launch(launch: &Launch) -> Json {
    let texts = |factors: &[Expr]| Json::from_iter(factors.iter().map(Expr::text));
    json!({ "local": texts(&launch.local), "groups": texts(&launch.groups) })
}

/// Returns the number of a row that is called `name`. Of those that rank the rows, it is the median of the samples.
fn value(row: &Row, name: &str, ranking: &[&str]) -> Option<f64> {
    match row.measurement.values.get(name).map(Vec::as_slice) {
        Some([value]) => Some(*value),
        _ => ranking.contains(&name).then(|| row.value(name)).flatten(),
    }
}

/// Returns a field that no spreadsheet computes, quoted if necessary.
fn field(text: &str) -> String {
    let text = neutralised(text);
    // A file that begins with a bracket is JSON.
    let is_quoted = text.contains([',', '"', '\n', '\r']) || text.starts_with(['[', '{']);
    if is_quoted { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.into_owned() }
}
