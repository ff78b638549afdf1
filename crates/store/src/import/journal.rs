//! Reads our own journals as recordings.

use super::{Flaw, ImportError, stated};
use crate::{Entry, Header, Outline, StoreError};
use serde_json::{Map, Value as Json};
use std::path::Path;
use tunesmith_core::Recording;
use tunesmith_core::recording::{Column, Context, Row};
use tunesmith_space::{Parameter, Value};

/// Returns true if the first line is a journal's header.
pub(super) fn is_journal(text: &str) -> bool {
    let first = text.lines().next().unwrap_or_default();
    serde_json::from_str::<Map<String, Json>>(first)
        .is_ok_and(|header| header.contains_key("format") && header.contains_key("parameters"))
}

/// Reads the journal `text`, the content of `path`.
pub(super) fn read(path: &Path, text: String) -> Result<Outline, StoreError> {
    crate::read::parse_brief(path, text.into_bytes())
}

/// Returns the evaluations of the journal at `path` as the recording `name`. Leaves out later measurements: the final
/// re-measurement covers only the leaders, so that its samples would set them apart from the rest.
pub(super) fn recording(path: &Path, name: &str, outline: &Outline) -> Result<Recording, ImportError> {
    let located = |Flaw { place, reason, remedy }| ImportError::Malformed { path: path.into(), place, reason, remedy };
    let header = &outline.header;
    let values = |json: &Json| -> Option<Vec<Value>> { json.as_array()?.iter().map(Value::of_document).collect() };
    let columns = header.parameters.iter().map(|(name, json)| Column { name: name.clone(), values: values(json) });
    let columns: Vec<Column> = columns.collect();
    let mut rows: Vec<Row> = Vec::with_capacity(outline.entries.len());
    for entry in outline.entries.iter() {
        rows.push(row(&entry?, &columns).map_err(located)?);
    }
    let place = |row: usize| format!("line {}", outline.entries.briefs()[row].line);
    // Rows have only what was measured. Who knows the metrics computes the objective from it.
    let recording = Recording::new(name, columns, rows);
    let mut recording = recording.map_err(|error| located(Flaw::of(&error, place)))?;
    header.sizes.iter().for_each(|(name, json)| {
        stated::add_to_subject(&mut recording, &format!("size {name}"), Some(json));
    });
    recording.kernel = Some(header.problem.clone()).filter(|problem| !problem.is_empty());
    recording.context = context(header, &recording);
    recording.device_class = header.device_class;
    recording.device = header.identity.get("device").and_then(Json::as_str).map(str::to_string);
    Ok(recording)
}

/// Returns the input and the device that the header describes.
fn context(header: &Header, recording: &Recording) -> Context {
    let texts = |map: &Map<String, Json>| -> Vec<(String, String)> {
        map.iter().filter_map(|(name, json)| Some((name.clone(), json.as_str()?.to_string()))).collect()
    };
    let sizes = header.sizes.iter().filter_map(|(name, json)| Some((name.clone(), Value::of_document(json)?)));
    let named = |parameter: &Parameter| Value::of_document(header.default.as_ref()?.get(parameter.name())?);
    Context {
        sizes: sizes.collect(),
        features: texts(&header.features),
        constraints: texts(&header.constraints),
        device: header.device_features.clone(),
        reference: recording.parameters().iter().map(named).collect(),
    }
}

fn row(entry: &Entry, columns: &[Column]) -> Result<Row, Flaw> {
    let flaw = |reason| Flaw::new(format!("line {}", entry.line), reason, "remove that line");
    let value = |column: &Column| {
        let json = entry.config.get(&column.name);
        json.and_then(Value::of_document)
            .ok_or_else(|| flaw(format!("the configuration has no value of `{}`", column.name)))
    };
    let values = columns.iter().map(value).collect::<Result<_, Flaw>>()?;
    let failure = entry.failure().map_err(flaw)?;
    Ok(Row { values, failure, measurement: entry.measurement(), ..Row::default() })
}
