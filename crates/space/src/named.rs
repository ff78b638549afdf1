//! Values by name: sizes, device limits, configurations outside of a space.

use crate::Value;

/// Returns the value of `name` in a list of pairs. If the name occurs twice, the first pair counts.
pub fn lookup(pairs: &[(String, Value)], name: &str) -> Option<Value> {
    pairs.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone())
}
