//! The evaluations of a run as a table: lists for Python, or a stream of Arrow.

use arrow_array::builder::{BooleanBuilder, Float64Builder, Int64Builder, ListBuilder, StringBuilder};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{ArrayRef, RecordBatch, RecordBatchIterator};
use arrow_schema::{ArrowError, Field, Schema};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::Value as Json;
use std::collections::BTreeSet;
use std::sync::Arc;
use tunesmith::core::statistics::median;
use tunesmith::store::{Entry, Recorded};

/// A table with a row for every evaluation.
pub(crate) struct Table {
    columns: Vec<(String, Column)>,
}

/// The cells of a column. `None` is a cell without a value.
enum Column {
    Ints(Vec<Option<i64>>),
    Floats(Vec<Option<f64>>),
    Truths(Vec<Option<bool>>),
    Texts(Vec<Option<String>>),
    Samples(Vec<Vec<f64>>),
}

impl Table {
    /// Returns the table of a journal: the parameters, then the facts about each evaluation, then
    /// the medians of other measured numbers.
    pub(crate) fn new(recorded: &Recorded) -> Self {
        let entries = &recorded.entries;
        let parameters = recorded.header.parameters.iter();
        let mut columns: Vec<(String, Column)> =
            parameters.map(|(name, values)| (name.clone(), Column::of_parameter(name, values, entries))).collect();
        let texts = |text: fn(&Entry) -> Option<String>| Column::Texts(entries.iter().map(text).collect());
        let facts = [
            ("index", texts(|entry| Some(entry.index.clone()))),
            ("status", texts(|entry| Some(entry.status.clone()))),
            ("time_ms", Column::Floats(entries.iter().map(time_ms).collect())),
            ("times_ms", Column::Samples(entries.iter().map(|entry| entry.times_ms.clone()).collect())),
            ("clock", Column::Floats(entries.iter().map(|entry| Some(entry.clock)).collect())),
            ("message", texts(|entry| entry.message.clone())),
        ];
        for (name, column) in facts {
            columns.push((free(&columns, name), column));
        }
        let names: BTreeSet<&String> = entries.iter().flat_map(|entry| entry.values.keys()).collect();
        for name in names {
            let values = entries.iter().map(|entry| entry.values.get(name).and_then(|values| median(values)));
            let column = Column::Floats(values.collect());
            columns.push((free(&columns, name), column));
        }
        Self { columns }
    }

    /// Returns the columns as lists.
    pub(crate) fn lists<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let lists = PyDict::new(py);
        for (name, column) in &self.columns {
            let list = match column {
                Column::Ints(cells) => cells.into_pyobject(py)?,
                Column::Floats(cells) => cells.into_pyobject(py)?,
                Column::Truths(cells) => cells.into_pyobject(py)?,
                Column::Texts(cells) => cells.into_pyobject(py)?,
                Column::Samples(cells) => cells.into_pyobject(py)?,
            };
            lists.set_item(name, list)?;
        }
        Ok(lists)
    }

    /// Returns the table as a stream of one batch.
    pub(crate) fn stream(self) -> Result<FFI_ArrowArrayStream, ArrowError> {
        let (names, columns): (Vec<String>, Vec<Column>) = self.columns.into_iter().unzip();
        let arrays: Vec<ArrayRef> = columns.into_iter().map(Column::array).collect();
        let field = |(name, array): (&String, &ArrayRef)| Field::new(name, array.data_type().clone(), true);
        let schema = Arc::new(Schema::new(names.iter().zip(&arrays).map(field).collect::<Vec<Field>>()));
        let batch = RecordBatch::try_new(schema.clone(), arrays)?;
        Ok(FFI_ArrowArrayStream::new(Box::new(RecordBatchIterator::new([Ok(batch)], schema))))
    }
}

/// Returns `name`, or a longer one if a column has it already: a parameter keeps its own.
fn free(columns: &[(String, Column)], name: &str) -> String {
    let mut name = name.to_string();
    while columns.iter().any(|(taken, _)| *taken == name) {
        name.push('_');
    }
    name
}

/// Returns the median time of a correct evaluation.
fn time_ms(entry: &Entry) -> Option<f64> {
    median(&entry.times_ms).filter(|_| entry.status == "correct")
}

impl Column {
    /// Returns the column of a parameter, in the type of its list of values.
    fn of_parameter(name: &str, values: &Json, entries: &[Entry]) -> Self {
        let value = |entry: &Entry| entry.config.get(name).cloned();
        let first = values.as_array().and_then(|values| values.first());
        match first {
            Some(Json::Bool(_)) => {
                Self::Truths(entries.iter().map(|entry| value(entry).and_then(|json| json.as_bool())).collect())
            }
            Some(Json::Number(number)) if number.is_i64() || number.is_u64() => {
                Self::Ints(entries.iter().map(|entry| value(entry).and_then(|json| json.as_i64())).collect())
            }
            Some(Json::Number(_)) => {
                Self::Floats(entries.iter().map(|entry| value(entry).and_then(|json| json.as_f64())).collect())
            }
            _ => {
                let text = |json: Json| json.as_str().map_or_else(|| json.to_string(), str::to_string);
                Self::Texts(entries.iter().map(|entry| value(entry).map(text)).collect())
            }
        }
    }

    fn array(self) -> ArrayRef {
        match self {
            Self::Ints(cells) => {
                let mut builder = Int64Builder::with_capacity(cells.len());
                cells.into_iter().for_each(|cell| builder.append_option(cell));
                Arc::new(builder.finish())
            }
            Self::Floats(cells) => {
                let mut builder = Float64Builder::with_capacity(cells.len());
                cells.into_iter().for_each(|cell| builder.append_option(cell));
                Arc::new(builder.finish())
            }
            Self::Truths(cells) => {
                let mut builder = BooleanBuilder::with_capacity(cells.len());
                cells.into_iter().for_each(|cell| builder.append_option(cell));
                Arc::new(builder.finish())
            }
            Self::Texts(cells) => {
                let mut builder = StringBuilder::new();
                cells.into_iter().for_each(|cell| builder.append_option(cell));
                Arc::new(builder.finish())
            }
            Self::Samples(cells) => {
                let mut builder = ListBuilder::new(Float64Builder::new());
                cells.into_iter().for_each(|cell| builder.append_value(cell.into_iter().map(Some)));
                Arc::new(builder.finish())
            }
        }
    }
}
