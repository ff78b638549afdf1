//! The header of the files of all models.

use crate::ModelError;
use serde_json::Value as Json;

/// Parses the JSON of a saved model. Its `kind` must be `kind`, and its `version` must be from 1 to
/// `latest`.
///
/// # Errors
///
/// Fails if the text is not JSON, or if the document has no kind, another kind, or a later version.
pub fn saved(text: &str, kind: &'static str, latest: u64) -> Result<Json, ModelError> {
    let json: Json = serde_json::from_str(text).map_err(ModelError::Json)?;
    let found = json.get("kind").and_then(Json::as_str).ok_or(ModelError::NoKind { expected: kind })?;
    if found != kind {
        return Err(ModelError::Kind { found: found.to_string(), expected: kind });
    }
    match json.get("version").and_then(Json::as_u64) {
        Some(found) if found > latest => Err(ModelError::Newer { found, known: latest }),
        Some(1..) => Ok(json),
        _ => Err(ModelError::Damaged { what: "`version` is not a whole number from 1".to_string() }),
    }
}
