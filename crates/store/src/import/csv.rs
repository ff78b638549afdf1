//! Reads CSV with one row per configuration, with or without its JSON sidecar. KTT's CSV output is
//! such a file.

use super::baco;
use super::checks::MAX_COLUMNS;
use super::columns::{Columns, Role, further};
use super::error::Flaw;
use super::number::{self, scaled, time};
use super::sidecar::Sidecar;
use super::{stated, status};
use crate::formula::restored;
use std::borrow::Cow;
use std::collections::HashSet;
use tunesmith_core::recording::{Column, Context, Ranking, Row};
use tunesmith_core::{CompileData, Cut, Failure, FailureKind, Recording};
use tunesmith_space::{Parameter, Value};

/// The words of R, of pandas and of databases for a number that is missing.
const MISSING: [&str; 6] = ["NA", "N/A", "<NA>", "None", "null", "NULL"];

/// The fields of one line with its number, counted from 1.
struct Line<'a> {
    number: usize,
    fields: Vec<Cow<'a, str>>,
}

/// Returns the recording in `text`, completed from its sidecar.
///
/// The status column tells correct configurations. Without it, every configuration with a time is
/// correct. Counters are kept if the row has them. Numbers in columns of no known role become
/// further values of the run.
pub(super) fn read(name: &str, text: &str, sidecar: Option<&str>) -> Result<Recording, Flaw> {
    let sidecar = sidecar.map_or_else(|| Ok(Sidecar::default()), Sidecar::parse)?;
    let mut lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let nothing = || Flaw::new("whole file", "the file is empty", "name a recording");
    let (_, header) = lines.next().ok_or_else(nothing)?;
    let header = fields(header);
    let names: Vec<&str> = header.iter().map(AsRef::as_ref).collect();
    if names.len() > MAX_COLUMNS {
        let reason = format!("the table has {} columns; at most {MAX_COLUMNS} are read", names.len());
        return Err(Flaw::new("line 1", reason, "remove the columns that are not needed"));
    }
    let lines: Vec<Line<'_>> = lines.map(|(at, line)| Line { number: at + 1, fields: fields(line) }).collect();
    if let [only] = &names[..]
        && let Some(separator) = [';', '\t', '|'].into_iter().find(|separator| only.contains(*separator))
    {
        let reason = format!("its columns are separated by {separator:?}");
        return Err(Flaw::new("line 1", reason, "write commas between columns, and points in numbers"));
    }
    if let Some(line) = lines.iter().find(|line| line.fields.len() != names.len()) {
        let reason = format!("the line has {} fields, but the header has {}", line.fields.len(), names.len());
        return Err(Flaw::new(format!("line {}", line.number), reason, "complete or remove that line"));
    }
    let baco = sidecar.columns.is_empty().then(|| baco::columns(&names, lines.iter().map(|line| &line.fields[..])));
    let (columns, stated, assumption) = match baco.flatten() {
        Some((columns, stated, assumption)) => (columns, stated, Some(assumption)),
        None => (Columns::new(&names, &sidecar), sidecar.stated.clone(), None),
    };
    let objective = stated.name.clone().filter(|_| !stated.measures_time());
    check(&columns, &names, objective.as_deref())?;
    let values = values(&columns, &lines)?;
    let rows = lines.iter().zip(values).map(|(line, values)| row(line, &names, &columns.roles, values));
    let rows: Vec<Row> = rows.collect::<Result<_, Flaw>>()?;
    let place = |row: usize| format!("line {}", lines[row].number);
    let kernel = kernel(&columns, &lines)?;
    // A column of times says what it is.
    let ranking = if objective.is_some() { stated.ranking() } else { (Ranking::default(), Vec::new()) };
    let recording = Recording::ranked(name, columns.parameters, rows, ranking.0);
    let mut recording = recording.map_err(|error| Flaw::of(&error, place))?;
    recording.assumptions = ranking.1.into_iter().chain(assumption).collect();
    sidecar.subject.iter().for_each(|(name, json)| stated::add_to_subject(&mut recording, name, Some(json)));
    recording.kernel = sidecar.kernel.or(kernel);
    recording.device = sidecar.device;
    recording.context = Context::of_hardware(&sidecar.hardware);
    recording.hardware = sidecar.hardware;
    recording.constraints = sidecar.constraints;
    recording.device_class = sidecar.device_class;
    recording.launch = sidecar.launch;
    Ok(recording)
}

/// Returns the kernel that the table names, which is the same in every line.
fn kernel(columns: &Columns, lines: &[Line<'_>]) -> Result<Option<String>, Flaw> {
    let Some(at) = columns.roles.iter().position(|role| *role == Role::Kernel) else { return Ok(None) };
    let kernel = lines.first().map(|line| line.fields[at].to_string());
    match lines.iter().find(|line| Some(line.fields[at].as_ref()) != kernel.as_deref()) {
        Some(other) => Err(Flaw::other_kernel(format!("line {}", other.number), kernel.as_deref())),
        None => Ok(kernel),
    }
}

/// The form of a table.
const TABLE: &str = "name a CSV with a column per parameter, then time_ms and status; or Kernel Tuner's or KTT's files";

/// Refuses headers without the `objective`, or without a time if that is the objective.
fn check_ranking(columns: &Columns, header: &[&str], objective: Option<&str>) -> Result<(), Flaw> {
    let is_time = |role: &Role| matches!(role, Role::Time(_) | Role::Sample);
    match objective {
        None if columns.roles.iter().any(is_time) => Ok(()),
        None => Err(Flaw::new("line 1", "no column `time_ms`, `duration_us` or the like", TABLE)),
        Some(name) if header.iter().zip(&columns.roles).any(|one| one == (&name, &Role::Further)) => Ok(()),
        Some(name) => {
            let reason = format!("no column `{name}`, which is the objective by its sidecar");
            Err(Flaw::new("line 1", reason, "use the sidecar that belongs to the file"))
        }
    }
}

/// Refuses headers without the `objective` or without a time, without a parameter, or with a parameter twice.
fn check(columns: &Columns, header: &[&str], objective: Option<&str>) -> Result<(), Flaw> {
    check_ranking(columns, header, objective)?;
    let mut seen = HashSet::new();
    let twice: HashSet<&str> = header.iter().filter(|name| !seen.insert(**name)).copied().collect();
    if let Some(parameter) = columns.parameters.iter().find(|parameter| twice.contains(parameter.name.as_str())) {
        let reason = format!("two columns have the name `{}`", parameter.name);
        return Err(Flaw::new("line 1", reason, "rename one of them, or remove it"));
    }
    if let Some(at) = columns.places().iter().position(Option::is_none) {
        let reason = format!("parameter `{}` of the sidecar has no column", columns.parameters[at].name);
        return Err(Flaw::new("line 1", reason, "use the sidecar that belongs to the file"));
    }
    if columns.parameters.is_empty() {
        return Err(Flaw::new("line 1", "no column is a parameter", TABLE));
    }
    Ok(())
}

/// Returns the values of the parameters, row by row.
fn values(columns: &Columns, lines: &[Line<'_>]) -> Result<Vec<Vec<Value>>, Flaw> {
    let mut rows: Vec<Vec<Value>> = lines.iter().map(|_| Vec::with_capacity(columns.parameters.len())).collect();
    for (parameter, place) in columns.parameters.iter().zip(columns.places()) {
        let at = place.unwrap_or_default();
        let texts: Vec<&str> = lines.iter().map(|line| line.fields[at].as_ref()).collect();
        let column = match &parameter.values {
            None => number::column(&texts),
            Some(listed) => read_as(parameter, listed, &texts, lines)?,
        };
        rows.iter_mut().zip(column).for_each(|(row, value)| row.push(value));
    }
    Ok(rows)
}

/// Returns the texts as values of the same kind as the listed ones.
fn read_as(parameter: &Column, listed: &[Value], texts: &[&str], lines: &[Line<'_>]) -> Result<Vec<Value>, Flaw> {
    let float = listed.iter().find(|value| matches!(value, Value::Float(_))).cloned();
    let like: Vec<Value> = float.into_iter().chain(listed.iter().cloned()).collect();
    // A spreadsheet writes 32 as 32.0 and true as TRUE.
    let known = Parameter::new(parameter.name.as_str(), listed.iter().cloned()).ok();
    let alike = |text: &str| known.as_ref()?.index_alike(&Value::from(text)).map(|at| listed[at].clone());
    let value = |(text, line): (&&str, &Line<'_>)| {
        Value::parse_as(text, &like).or_else(|| alike(text)).ok_or_else(|| {
            let reason = format!("`{text}` is not a value of parameter `{}`", parameter.name);
            Flaw::new(format!("line {}", line.number), reason, "correct or remove that line")
        })
    };
    texts.iter().zip(lines).map(value).collect()
}

fn row(line: &Line<'_>, names: &[&str], roles: &[Role], values: Vec<Value>) -> Result<Row, Flaw> {
    let flaw = |reason| Flaw::new(format!("line {}", line.number), reason, "correct or remove that line");
    let mut row = Row { values, ..Row::default() };
    let mut missing = None;
    for ((name, role), field) in names.iter().zip(roles).zip(&line.fields) {
        let field = field.as_ref();
        // Empty is unknown, for example the time of a configuration that failed.
        if field.is_empty() || matches!(role, Role::Parameter(_) | Role::Kernel) {
            continue;
        }
        if *role == Role::Status {
            row.failure = status::failure(field);
            continue;
        }
        if *role == Role::Feasible {
            let feasible = baco::truth(field) == Some(true);
            row.failure = (!feasible).then(|| Failure::new(FailureKind::Runtime, "infeasible"));
            continue;
        }
        let number = field.parse().ok().filter(|number: &f64| number.is_finite());
        // A number that is none, such as `nan`, was not measured. A configuration without a time has failed.
        let is_missing = number.is_none() && (field.parse::<f64>().is_ok() || MISSING.contains(&field));
        match (role, number) {
            (Role::Further, None) => {}
            (Role::Time(_), None) if is_missing && row.failure.is_none() => missing = Some(field),
            (_, None) if is_missing => {}
            (_, None) => return Err(flaw(format!("`{field}` in column `{name}` is no number"))),
            (_, Some(number)) => keep(&mut row, name, role, number),
        }
    }
    if let (None, Some(field)) = (&row.failure, missing) {
        row.failure = Some(Failure::new(FailureKind::Runtime, format!("its time is {field}")));
    }
    let count = row.measurement.times_ms.iter().filter_map(|ms| time(*ms)).count();
    let has_times = roles.iter().any(|role| matches!(role, Role::Time(_) | Role::Sample));
    if row.failure.is_none() && has_times && (count == 0 || count > 1 && !roles.contains(&Role::Sample)) {
        return Err(flaw("the configuration is correct but has no time".to_string()));
    }
    Ok(row)
}

/// Stores `number` in the field of its column.
fn keep(row: &mut Row, name: &str, role: &Role, number: f64) {
    let (measurement, costs) = (&mut row.measurement, &mut row.costs);
    match role {
        Role::Time(unit_ms) => measurement.times_ms.push(scaled(number, *unit_ms)),
        // A sample that no clock shows is none.
        Role::Sample => measurement.times_ms.extend(time(number)),
        Role::RelStd => row.rel_std = Some(number),
        Role::Compile(unit_ms) => {
            measurement.compile = Some(CompileData { time_ms: scaled(number, *unit_ms), ..CompileData::default() });
        }
        Role::Benchmark => costs.benchmark_ms = Some(number),
        Role::Verification => costs.verification_ms = Some(number),
        Role::Framework(unit_ms) => costs.framework_ms = Some(scaled(number, *unit_ms)),
        Role::Search => costs.search_ms = Some(number),
        Role::CutLimit | Role::CutBest => keep_cut(row, role, number),
        Role::Counter => {
            measurement.counters.insert(name.to_string(), number);
        }
        Role::Further => {
            measurement.values.insert(further(name).to_string(), vec![number]);
        }
        Role::Parameter(_) | Role::Status | Role::Feasible | Role::Kernel => {}
    }
}

/// Stores one of the two times of the limit that cut a configuration. Without the other one, they are equal.
fn keep_cut(row: &mut Row, role: &Role, number: f64) {
    if let (Some(failure), Some(ms)) = (&mut row.failure, time(number)) {
        let cut = failure.cut.get_or_insert(Cut { limit_ms: ms, best_ms: ms });
        let part = if *role == Role::CutLimit { &mut cut.limit_ms } else { &mut cut.best_ms };
        *part = ms;
    }
}

/// Returns the fields of a line without blanks around them. Quotes protect commas; two quotes stand
/// for one. An apostrophe that keeps spreadsheets from computing a field is taken away.
fn fields(line: &str) -> Vec<Cow<'_, str>> {
    if !line.contains('"') {
        return line.split(',').map(|field| Cow::from(restored(field.trim()))).collect();
    }
    let (mut fields, mut field) = (Vec::new(), String::new());
    let (mut quoted, mut characters) = (false, line.chars().peekable());
    while let Some(character) = characters.next() {
        match character {
            '"' if quoted && characters.peek() == Some(&'"') => {
                characters.next();
                field.push('"');
            }
            '"' => quoted = !quoted,
            ',' if !quoted => fields.push(std::mem::take(&mut field)),
            other => field.push(other),
        }
    }
    fields.push(field);
    fields.iter().map(|field| Cow::from(restored(field.trim()).to_owned())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_fields_keep_commas_and_quotes() {
        assert_eq!(fields("a,\"b,c\",\"d\"\"e\","), ["a", "b,c", "d\"e", ""]);
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        let flaw = |text: &str| {
            let flaw = read("r", text, None).unwrap_err();
            format!("{}: {}", flaw.place, flaw.reason)
        };
        assert_eq!(flaw("X,time_ms\n1,2\n2\n"), "line 3: the line has 1 fields, but the header has 2");
        assert_eq!(flaw("X;time_ms\n1;2,5\n"), "line 1: its columns are separated by ';'");
        assert_eq!(flaw("X,time_ms\n1,2\n\n2,fast\n"), "line 4: `fast` in column `time_ms` is no number");
        assert_eq!(flaw("X,time_ms,status\n1,,ok\n"), "line 2: the configuration is correct but has no time");
        assert_eq!(flaw("X,Y\n1,2\n"), "line 1: no column `time_ms`, `duration_us` or the like");
        assert_eq!(flaw("time_ms\n1\n"), "line 1: no column is a parameter");
        assert_eq!(flaw("X,time_ms\n"), "whole file: no configuration was recorded");
        assert_eq!(flaw(""), "whole file: the file is empty");
    }

    #[test]
    fn the_sidecar_decides_kinds_and_order_of_values() {
        let sidecar = r#"{"params": {"X": [2, 1], "S": [0.5, 1], "F": [true, false], "N": ["10", "9"]}}"#;
        let recording = read("r", "X,S,F,N,time_us\n1,1,True,9,2500\n", Some(sidecar)).unwrap();
        assert_eq!(recording.parameters()[0].values(), [Value::Int(2), Value::Int(1)]);
        let values = [Value::Int(1), Value::Float(1.0), Value::Bool(true), "9".into()];
        assert_eq!(recording.rows()[0].values, values);
        assert_eq!(recording.rows()[0].time_ms(), Some(2.5));
    }
}
