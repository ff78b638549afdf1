//! Checks of the tables and results of other tools.

use super::error::Flaw;
use serde_json::Value as Json;
use tunesmith_core::recording::Column;

/// Maximum number of columns of a table, or of numbers of one result. GPUs have some thousands of
/// counters.
pub(super) const MAX_COLUMNS: usize = 20_000;

/// Refuses a parameter of the record with the number `at` that the first record lacks: it would be lost.
pub(super) fn check_known<'a>(
    at: usize,
    mut names: impl Iterator<Item = &'a str>,
    columns: &[Column],
) -> Result<(), Flaw> {
    match names.find(|name| columns.iter().all(|column| column.name != *name)) {
        Some(name) => Err(Flaw::record(at, format!("it has a parameter `{name}`, which the first result lacks"))),
        None => Ok(()),
    }
}

/// Refuses a result with more keys than a table may have columns. Every one of them may be a column
/// of its own, so that all results together could need their square.
pub(super) fn check_columns(document: &Json) -> Result<(), Flaw> {
    let entries = |key: &str| document.get(key).and_then(Json::as_array).into_iter().flatten();
    let cached = document.get("cache").and_then(Json::as_object).into_iter().flat_map(|cache| cache.values());
    let results = entries("Results").chain(entries("results")).chain(cached);
    for (at, result) in results.enumerate() {
        let most = columns(result);
        if most > MAX_COLUMNS {
            return Err(Flaw::record(at, format!("it has {most} values; at most {MAX_COLUMNS} are read")));
        }
    }
    Ok(())
}

/// Returns the largest number of values in one place of a result.
fn columns(json: &Json) -> usize {
    match json {
        Json::Object(map) => map.values().map(columns).fold(map.len(), usize::max),
        Json::Array(list) => list.iter().map(columns).fold(0, usize::max),
        _ => 0,
    }
}
