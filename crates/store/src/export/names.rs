//! The names in files that are written: parameters, measured numbers, and the keys of the format.
//!
//! They share one table, one object or one list. Whatever the reader of a format takes for a key of
//! its own ([`reads_as_key`]) cannot be the name of anything else there. A parameter with such a name
//! is refused, because no configuration is whole without it. A measured number is left out.

use super::format::Format;
use super::number_names::NumberNames;
use super::{csv, kernel_tuner};
use crate::import::{self, columns};
use std::collections::BTreeSet;
use tunesmith_core::Recording;
use tunesmith_core::recording::Row;
use tunesmith_space::Value;

/// Returns the names that `format` keeps of the recording, or the reason why it cannot hold the
/// recording: written, the file would be read as another one. Costs a look at every row.
pub(super) fn kept(recording: &Recording, format: Format) -> Result<NumberNames<'_>, String> {
    let rows = recording.rows();
    let counters: BTreeSet<&str> = match format {
        Format::KernelTuner => BTreeSet::new(),
        Format::Csv | Format::T4 => rows.iter().flat_map(|row| row.measurement.counters.keys()).map(|x| &**x).collect(),
    };
    let ranking = recording.ranking().numbers();
    let values = names_of_values(rows, format, &ranking);
    check(recording, format, &[&values, &counters])?;
    let is_kept = |name: &&str| !reads_as_key(format, name) && (format != Format::Csv || is_plain(name));
    let values: BTreeSet<&str> = values.into_iter().filter(is_kept).collect();
    if let Some(name) = ranking.iter().find(|name| !values.contains(*name)) {
        return Err(format!(
            "this format has a number of its own called `{name}`, which is the objective; choose another format"
        ));
    }
    let counters = counters.into_iter().filter(is_kept).filter(|name| !values.contains(name)).collect();
    Ok(NumberNames { values, counters })
}

/// Returns the names of the values that `format` can hold: a cell of a CSV has one number. Of the numbers that rank
/// the rows, that is their median. They have a name even if every row lacks them, since the file names its objective.
fn names_of_values<'a>(rows: &'a [Row], format: Format, ranking: &[&'a str]) -> BTreeSet<&'a str> {
    let all = rows.iter().flat_map(|row| &row.measurement.values);
    let is_held = |name: &str, values: &[f64]| match format {
        Format::Csv => values.len() == 1 || ranking.contains(&name),
        _ => !values.is_empty(),
    };
    let held = all.filter(|(name, values)| is_held(name, values)).map(|(name, _)| name.as_str());
    held.chain(ranking.iter().copied()).collect()
}

/// Returns true if the reader of `format` takes `name` for a key, where the name of a measured number
/// may stand. What is written under such a name is not read as written.
fn reads_as_key(format: Format, name: &str) -> bool {
    match format {
        Format::Csv => columns::is_key(name),
        Format::T4 => name == import::t4::TIME,
        Format::KernelTuner => import::kernel_tuner::KNOWN.contains(&name),
    }
}

/// Refuses a recording whose configurations the format cannot hold.
fn check(recording: &Recording, format: Format, numbers: &[&BTreeSet<&str>]) -> Result<(), String> {
    match format {
        Format::Csv => check_parameters(recording, format, numbers).and_then(|()| check_texts(recording)),
        // The parameters have an object of their own.
        Format::T4 => Ok(()),
        Format::KernelTuner => check_parameters(recording, format, numbers).and_then(|()| check_keys(recording)),
    }
}

/// Refuses a parameter with the name of a key, or of one of the `numbers`, that stands beside it.
fn check_parameters(recording: &Recording, format: Format, numbers: &[&BTreeSet<&str>]) -> Result<(), String> {
    let is_key = |name: &str| match format {
        // The description of the table tells parameters from what the reader would take them for.
        Format::Csv => csv::is_own(name),
        _ => reads_as_key(format, name),
    };
    for name in recording.parameters().iter().map(|parameter| parameter.name()) {
        if is_key(name) {
            return Err(format!("this format has a number of its own called `{name}`; rename the parameter `{name}`"));
        }
        if numbers.iter().any(|numbers| numbers.contains(name)) {
            return Err(format!("a measured number is called `{name}` as well; rename the parameter `{name}`"));
        }
    }
    Ok(())
}

/// Returns true if a CSV keeps a text: it has one line for each row, and blanks around a field do not
/// count.
fn is_plain(text: &str) -> bool {
    text.trim() == text && !text.contains(['\n', '\r'])
}

/// Refuses names and values of parameters that a CSV would change.
fn check_texts(recording: &Recording) -> Result<(), String> {
    let parameters = recording.parameters();
    let texts = parameters.iter().flat_map(|parameter| parameter.values()).filter_map(|value| match value {
        Value::Str(text) => Some(&**text),
        _ => None,
    });
    let mut all = parameters.iter().map(|parameter| parameter.name()).chain(texts);
    match all.find(|text| !is_plain(text)) {
        Some(odd) => Err(format!("a CSV cannot hold {odd:?}, with its blanks or line ends; choose another format")),
        None => Ok(()),
    }
}

/// Refuses configurations that Kernel Tuner's caches cannot tell apart: `"a,b"` and `"c"` have the key
/// of `"a"` and `"b,c"`.
fn check_keys(recording: &Recording) -> Result<(), String> {
    let mut seen = BTreeSet::new();
    match recording.rows().iter().map(kernel_tuner::key).find(|key| !seen.insert(key.clone())) {
        Some(key) => {
            let remedy = "choose another format, or values without commas";
            Err(format!("two configurations have the key `{key}` in this format; {remedy}"))
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tunesmith_core::Measurement;
    use tunesmith_core::recording::Column;

    fn of(name: &str, value: Value) -> Recording {
        let measurement = Measurement { times_ms: vec![1.0], ..Measurement::default() };
        let row = Row { values: vec![value], measurement, ..Row::default() };
        Recording::new("odd", vec![Column::of_rows(name)], vec![row]).unwrap()
    }

    #[test]
    fn a_parameter_called_like_a_number_of_the_format_is_refused() {
        let refused = |name: &str| Format::ALL.map(|format| kept(&of(name, Value::Int(1)), format).is_err());
        assert_eq!(refused("tile"), [false, false, false]);
        assert_eq!(refused("time"), [false, false, true]);
        assert_eq!(refused("status"), [true, false, false]);
        assert_eq!(refused("compile_ms"), [true, false, false]);
    }

    #[test]
    fn a_text_that_a_csv_would_change_is_refused() {
        let refused = |text: &str| kept(&of("KIND", Value::Str(text.into())), Format::Csv).is_err();
        assert!(!refused("a, \"b\" c"));
        assert!(refused("two\nlines") && refused(" blank"));
    }

    #[test]
    fn configurations_with_one_key_are_refused_by_the_format_that_has_keys() {
        let row = |a: &str, b: &str| Row {
            values: vec![a.into(), b.into()],
            measurement: Measurement { times_ms: vec![1.0], ..Measurement::default() },
            ..Row::default()
        };
        let columns = vec![Column::of_rows("A"), Column::of_rows("B")];
        let recording = Recording::new("odd", columns, vec![row("a,b", "c"), row("a", "b,c")]).unwrap();
        assert!(kept(&recording, Format::KernelTuner).unwrap_err().contains("`a,b,c`"));
        assert!(kept(&recording, Format::Csv).is_ok() && kept(&recording, Format::T4).is_ok());
    }
}
