//! Reads configurations as users write them.

use tunesmith_core::Refusal;
use tunesmith_space::{Configuration, Space, Value};

/// Returns the configuration that `NAME=VALUE` pairs name. Unnamed parameters are as in `base`.
///
/// # Errors
/// A name or value is unknown, or a constraint excludes the configuration.
pub fn configuration(
    space: &Space,
    base: Option<&Configuration>,
    pairs: &[(String, String)],
) -> Result<Configuration, Refusal> {
    let value = |(name, text): &(String, String)| -> (String, Value) {
        let parameter = space.parameter_index(name).map(|index| &space.parameters()[index]);
        let parsed = parameter.and_then(|parameter| Value::parse_as(text, parameter.values()));
        (name.clone(), parsed.unwrap_or_else(|| Value::Str(text.as_str().into())))
    };
    let pairs: Vec<(String, Value)> = pairs.iter().map(value).collect();
    let pairs: Vec<(&str, Value)> = pairs.iter().map(|(name, value)| (name.as_str(), value.clone())).collect();
    let configuration = space.configuration(&pairs, base).map_err(|error| Refusal::new(error.to_string(), None))?;
    let violated: Vec<String> =
        space.violated(&configuration).iter().map(|constraint| format!("`{}`", constraint.name())).collect();
    if violated.is_empty() {
        return Ok(configuration);
    }
    Err(Refusal::new(format!("the configuration violates {}", violated.join(", ")), None))
}
