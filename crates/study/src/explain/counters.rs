//! Explains the configuration of a recording by its counters.

use super::options::ExplainOptions;
use crate::top::{TopConfig, top_of};
use crate::{CounterExplanation, CounterSubject, Error, JudgedRun, REMEDY, Suggestible, read_model, row_with_counters};
use std::collections::HashMap;
use tunesmith_core::Recording;
use tunesmith_core::recording::Row;
use tunesmith_space::{Parameter, Value};
use tunesmith_store::Outline;

/// Explains a configuration of `recording`. Without counters there is nothing to explain, which is an
/// error only if `options` ask about counters.
pub(super) fn explain(
    options: &ExplainOptions,
    recording: &Recording,
    outline: Option<&Outline>,
) -> Result<Option<CounterExplanation>, Error> {
    let model = options.model.as_deref().map(read_model).transpose()?;
    let is_asked = model.is_some() || !options.config.is_empty();
    if !is_asked && recording.rows().iter().all(|row| row.measurement.counters.is_empty()) {
        return Ok(None);
    }
    let row = row_with_counters(recording, &options.run, &options.config, &ranked(recording, outline))?;
    let rows: HashMap<&[Value], &Row> = recording.rows().iter().map(|row| (row.values.as_slice(), row)).collect();
    // A configuration that failed is not suggested. One that was not recorded may be.
    let look = |values: &[Value]| match rows.get(values) {
        Some(row) if row.failure.is_some() => Suggestible::No,
        row => row.and_then(|row| row.time_ms()).map_or(Suggestible::Unmeasured, Suggestible::Measured),
    };
    let subject = CounterSubject {
        parameters: recording.parameters(),
        values: &row.values,
        hardware: &recording.hardware,
        time_ms: row.time_ms(),
    };
    match subject.explain(&row.measurement, model.as_ref(), &look) {
        Ok(explained) => Ok(Some(explained.with_gaps(&row.measurement))),
        Err(_) if !is_asked => Ok(None),
        Err(text) => Err(Error::request(format!("`{}`: {text}", options.run.display()), Some(REMEDY.to_string()))),
    }
}

/// Returns the correct rows, best first: of a journal in the order of its verdict, else by their
/// times.
fn ranked<'a>(recording: &'a Recording, outline: Option<&Outline>) -> Vec<&'a Row> {
    if let Some(outline) = outline {
        let order = top_of(&JudgedRun::new(outline), usize::MAX).configs;
        let names: Vec<&str> = recording.parameters().iter().map(Parameter::name).collect();
        let values = |config: &TopConfig| -> Option<Vec<Value>> {
            names.iter().map(|name| Value::of_document(config.config.get(*name)?)).collect()
        };
        let rows: HashMap<&[Value], &Row> = recording.rows().iter().map(|row| (row.values.as_slice(), row)).collect();
        let row = |values: Vec<Value>| rows.get(values.as_slice()).copied();
        return order.iter().filter_map(|config| row(values(config)?)).collect();
    }
    let mut rows: Vec<(f64, &Row)> = recording.rows().iter().filter_map(|row| Some((row.time_ms()?, row))).collect();
    rows.sort_by(|a, b| a.0.total_cmp(&b.0));
    rows.into_iter().map(|(_, row)| row).collect()
}
