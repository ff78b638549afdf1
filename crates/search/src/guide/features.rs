//! Configurations as rows of numbers, and recordings as training data of counter models.

use super::readings::name_of;
use std::collections::BTreeMap;
use tunesmith_core::Recording;
use tunesmith_core::counters::{CounterSet, GLOBAL_SIZE};
use tunesmith_core::recording::Row;
use tunesmith_model::bottleneck::Quantity;
use tunesmith_model::counters::{CounterData, Provenance};
use tunesmith_model::{Column, Kind, Table};
use tunesmith_space::{Parameter, Value, ValueKind};

/// Returns the column of a parameter. Numbers and truth values are ordinal; texts are levels.
pub(super) fn column(parameter: &Parameter) -> Column {
    if parameter.kind() == ValueKind::Str {
        return Column::categorical(parameter.name(), parameter.values().iter().map(ToString::to_string));
    }
    Column::ordinal(parameter.name())
}

/// Returns the number of a value in `column`, or NaN if it has none.
pub fn number(value: &Value, column: &Column) -> f64 {
    match (&column.kind, value) {
        (Kind::Ordinal, Value::Bool(truth)) => f64::from(u8::from(*truth)),
        (Kind::Ordinal, value) => value.as_float().unwrap_or(f64::NAN),
        (Kind::Categorical(levels), value) => {
            let text = value.to_string();
            levels.iter().position(|level| *level == text).map_or(f64::NAN, |at| at as f64)
        }
    }
}

/// Returns the training data for a counter model from `recording`: the counters that have a meaning
/// on other architectures, and the number of work-items of the launches. It covers all
/// configurations that have them. Times are left out.
///
/// Returns `None` if the recording has no counters of a known set.
pub fn counter_data(recording: &Recording) -> Option<(CounterData, Provenance)> {
    let profiled: Vec<&Row> = recording.rows().iter().filter(|row| !row.measurement.counters.is_empty()).collect();
    let first = profiled.first()?;
    let set = CounterSet::of(first.measurement.counters.keys().map(String::as_str))?;
    let names = Quantity::ALL.iter().filter_map(|quantity| name_of(set, *quantity));
    let counter = |name: &'static str| {
        let values = profiled.iter().map(|row| value(row, name)).collect::<Option<Vec<f64>>>()?;
        Some((name.to_string(), values))
    };
    let counters: BTreeMap<String, Vec<f64>> = names.filter_map(counter).collect();
    let columns: Vec<Column> = recording.parameters().iter().map(column).collect();
    let numbers = |row: &&Row| row.values.iter().zip(&columns).map(|(value, column)| number(value, column)).collect();
    let rows: Vec<Vec<f64>> = profiled.iter().map(numbers).collect();
    let data = CounterData::new(Table::from_rows(columns, rows), counters).ok()?;
    let provenance = Provenance {
        kernel: recording.kernel.clone(),
        device: recording.device.clone(),
        counter_set: set.name.to_string(),
        ..Provenance::default()
    };
    Some((data, provenance))
}

fn value(row: &Row, name: &str) -> Option<f64> {
    if name == GLOBAL_SIZE {
        return row.measurement.values.get(name)?.first().copied();
    }
    row.measurement.counters.get(name).copied()
}
