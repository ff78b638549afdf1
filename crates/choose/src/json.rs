//! Converts values and numbers to and from JSON.

use serde_json::Value as Json;
use tunesmith_space::Value;

/// Returns the value of a parameter as a JSON scalar.
pub(crate) fn value_json(value: &Value) -> Json {
    match value {
        Value::Int(value) => Json::from(*value),
        Value::Float(value) => Json::from(*value),
        Value::Bool(value) => Json::from(*value),
        Value::Str(value) => Json::from(&**value),
    }
}

/// Returns the value of a parameter for a JSON scalar, and `None` for anything else.
pub(crate) fn value_of(json: &Json) -> Option<Value> {
    match json {
        Json::Bool(value) => Some(Value::Bool(*value)),
        Json::Number(number) => number.as_i64().map(Value::Int).or_else(|| number.as_f64().map(Value::Float)),
        Json::String(text) => Some(Value::Str(text.as_str().into())),
        _ => None,
    }
}

/// Returns a number as people write it: 128 rather than 128.0.
pub(crate) fn number_json(value: f64) -> Json {
    let whole = value as i64;
    if whole as f64 == value && whole.unsigned_abs() < 1 << 53 { Json::from(whole) } else { Json::from(value) }
}
