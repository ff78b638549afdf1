//! What the files of all models begin with.

use crate::ModelError;
use serde_json::Value as Json;

/// Returns the JSON document in `text`, a saved model whose `kind` is `kind` and whose `version` is
/// from 1 to `latest`.
///
/// # Errors
/// No JSON, or a document without a kind, of another one, or of a later version.
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
