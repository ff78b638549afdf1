//! Reads configurations as users write them.

use crate::Error;
use tunesmith_space::{Configuration, Space, Value};

/// Returns the configuration that `NAME=VALUE` pairs name. Unnamed parameters are as in `base`.
pub(crate) fn configuration(
    space: &Space,
    base: Option<&Configuration>,
    pairs: &[(String, String)],
) -> Result<Configuration, Error> {
    let value = |(name, text): &(String, String)| -> (String, Value) {
        let parameter = space.parameter_index(name).map(|index| &space.parameters()[index]);
        let parsed = parameter.and_then(|parameter| Value::parse_as(text, parameter.values()));
        (name.clone(), parsed.unwrap_or_else(|| Value::Str(text.as_str().into())))
    };
    let pairs: Vec<(String, Value)> = pairs.iter().map(value).collect();
    let pairs: Vec<(&str, Value)> = pairs.iter().map(|(name, value)| (name.as_str(), value.clone())).collect();
    let configuration = space.configuration(&pairs, base).map_err(|error| Error::request(error.to_string(), None))?;
    let violated: Vec<String> =
        space.violated(&configuration).iter().map(|constraint| format!("`{}`", constraint.name())).collect();
    if violated.is_empty() {
        return Ok(configuration);
    }
    Err(Error::request(format!("the configuration violates {}", violated.join(", ")), None))
}
