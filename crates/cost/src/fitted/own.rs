//! Properties of the user: formulas of the counted ones.

use super::own_name::OwnName;
use super::property::{CostProperty, PropertyCounts, Resource};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use tunesmith_space::{Expr, Value};

/// A property of the user, with its count as a formula of the counted properties.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "Keys", into = "Keys")]
pub struct OwnProperty {
    /// The property.
    pub property: CostProperty,
    count: Expr,
}

/// A property as it stands in files.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Keys {
    name: String,
    resource: Resource,
    count: String,
}

impl OwnProperty {
    /// Returns the names that the formula may use for a counted property: its text with `_` for
    /// everything that is no letter or digit.
    pub fn variable(property: CostProperty) -> String {
        property.to_string().chars().map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '_' }).collect()
    }

    /// Returns the names in the formula.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.count.names().iter().map(|name| name.text.as_str())
    }

    /// Returns the count for a kernel with these values of the [variables](Self::variable). Others
    /// are 0.
    ///
    /// # Errors
    ///
    /// Fails with the reason if the formula gives no number from 0.
    fn of(&self, values: &BTreeMap<String, f64>) -> Result<f64, String> {
        let scope = |name: &str| Some(Value::Float(values.get(name).copied().unwrap_or(0.0)));
        let value = self.count.evaluate(&scope).map_err(|error| error.to_string())?;
        let count = match value {
            Value::Float(number) => number,
            Value::Int(number) => number as f64,
            Value::Bool(truth) => f64::from(u8::from(truth)),
            Value::Str(text) => return Err(format!("the formula gives the text `{text}`")),
        };
        if count.is_finite() && count >= 0.0 { Ok(count) } else { Err(format!("the formula gives {count}")) }
    }
}

/// Returns the counts with those of the user's properties, and the properties whose formula gives
/// no count, with the reason.
pub(crate) fn with_own(own: &[OwnProperty], counts: &PropertyCounts) -> (PropertyCounts, Vec<(CostProperty, String)>) {
    let values = counts.iter().map(|(property, count)| (OwnProperty::variable(property), count)).collect();
    let (mut all, mut undefined) = (counts.clone(), Vec::new());
    for rule in own {
        match rule.of(&values) {
            Ok(count) if count > 0.0 => all.set(rule.property, count),
            Ok(_) => {}
            Err(reason) => undefined.push((rule.property, reason)),
        }
    }
    (all, undefined)
}

impl PartialEq for OwnProperty {
    fn eq(&self, other: &Self) -> bool {
        (self.property, self.count.text()) == (other.property, other.count.text())
    }
}

impl TryFrom<Keys> for OwnProperty {
    type Error = String;

    fn try_from(Keys { name, resource, count }: Keys) -> Result<Self, String> {
        let own = OwnName::new(&name)
            .ok_or_else(|| format!("`{name}` is no name: write up to 24 letters, digits and `_`, a letter first"))?;
        let count = Expr::parse(&count).map_err(|error| format!("`count` of `{name}`: {error}"))?;
        Ok(Self { property: CostProperty::Own(resource, own), count })
    }
}

impl From<OwnProperty> for Keys {
    fn from(own: OwnProperty) -> Self {
        let (name, resource) = match own.property {
            CostProperty::Own(resource, name) => (name.text().to_string(), resource),
            other => (other.to_string(), other.resource()),
        };
        Self { name, resource, count: own.count.text().to_string() }
    }
}

#[cfg(test)]
mod tests {
    use super::super::property::counts_of;
    use super::*;

    fn own(count: &str) -> OwnProperty {
        let keys = Keys { name: "mine".to_string(), resource: Resource::Memory, count: count.to_string() };
        OwnProperty::try_from(keys).unwrap()
    }

    #[test]
    fn a_formula_takes_the_counts_by_the_names_of_their_properties() {
        let counts = counts_of(&[("lane:g:32:load:1/2", 8.0), ("groups", 3.0)]);
        let of = |formula: &str| {
            let (all, undefined) = with_own(&[own(formula)], &counts);
            undefined.first().map_or(Ok(all.of(own(formula).property)), |(_, reason)| Err(reason.clone()))
        };
        assert_eq!(of("2*lane_g_32_load_1_2 + groups"), Ok(19.0));
        assert_eq!(of("max(0, groups - 5)"), Ok(0.0), "a property that it does not have is left out");
        assert_eq!(of("barriers + 1"), Ok(1.0), "what a kernel does not have is 0");
        assert!(of("groups / barriers").is_err() && of("groups - 5").unwrap_err().contains("-2"));
        let text = serde_json::to_string(&own("groups*2")).unwrap();
        assert_eq!(text, r#"{"name":"mine","resource":"memory","count":"groups*2"}"#);
        assert_eq!(serde_json::from_str::<OwnProperty>(&text).unwrap(), own("groups*2"));
    }
}
