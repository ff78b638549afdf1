//! Reads the tuning parameters and the conditions between them.

use super::expressions::Terms;
use super::json::Item;
use std::ops::Range;
use tunesmith_space::{Constraint, Expr, Parameter, Value, parse_values};
use tunesmith_spec::{Messages, remedy};

/// Returns the parameters with the places of their names.
pub(super) fn parameters(root: &Item<'_>, messages: &Messages) -> Vec<(Parameter, Range<usize>)> {
    let list = root.get("ConfigurationSpace").and_then(|space| space.get("TuningParameters"));
    let Some(list) = list.filter(|list| list.json.is_array()) else {
        let remedy = "a T1 file has ConfigurationSpace with TuningParameters".to_string();
        messages.error(0..0, "there are no tuning parameters", Some(remedy));
        return Vec::new();
    };
    let mut parameters: Vec<(Parameter, Range<usize>)> = Vec::new();
    for (parameter, place) in list.items().iter().filter_map(|entry| parameter(entry, messages)) {
        if parameters.iter().any(|(known, _)| known.name() == parameter.name()) {
            let text = format!("there is another parameter `{}` before this one", parameter.name());
            messages.error(place, text, Some("rename or remove one of them".to_string()));
        } else {
            parameters.push((parameter, place));
        }
    }
    parameters
}

fn parameter(entry: &Item<'_>, messages: &Messages) -> Option<(Parameter, Range<usize>)> {
    let named = entry.get("Name").and_then(|item| Some((item.string()?, item.span)));
    let Some((name, place)) = named else {
        messages.error(entry.span.clone(), "a tuning parameter has no Name", None);
        return None;
    };
    let values = values(entry, name, &place, messages)?;
    let fail = |error: tunesmith_space::SpaceError| {
        messages.error(place.clone(), error.to_string(), remedy(&error));
    };
    let parameter = Parameter::new(name, values).map_err(fail).ok()?;
    Some((parameter, place))
}

fn values(entry: &Item<'_>, name: &str, place: &Range<usize>, messages: &Messages) -> Option<Vec<Value>> {
    let values = entry.get("Values");
    if let Some(text) = values.as_ref().and_then(Item::string) {
        let fail = |error: tunesmith_space::ExprError| {
            let text = format!("parameter `{name}`: in `{text}`: {error}");
            messages.error(place.clone(), text, error.remedy);
        };
        return parse_values(text, &|_| None).map_err(fail).ok();
    }
    match values.filter(|values| values.json.is_array()) {
        Some(list) => list.items().iter().map(|item| value(item, name, messages)).collect(),
        None => {
            let remedy = "write \"Values\": \"[1, 2, 4]\"".to_string();
            messages.error(place.clone(), format!("parameter `{name}`: it has no Values"), Some(remedy));
            None
        }
    }
}

fn value(item: &Item<'_>, name: &str, messages: &Messages) -> Option<Value> {
    let value = item.scalar();
    if value.is_none() {
        let text = format!("parameter `{name}`: a value is a number, a string or a truth value");
        messages.error(item.span.clone(), text, None);
    }
    value
}

/// Returns the conditions, each called by its own text, with the places of their expressions.
pub(super) fn constraints(
    root: &Item<'_>,
    parameters: &[(Parameter, Range<usize>)],
    messages: &Messages,
) -> Vec<(Constraint, Range<usize>)> {
    let list = root.get("ConfigurationSpace").and_then(|space| space.get("Conditions"));
    let entries = list.map(|list| list.items()).unwrap_or_default();
    let terms = Terms::of(parameters.iter().map(|(parameter, _)| parameter).collect());
    entries.iter().filter_map(|entry| constraint(entry, &terms, messages)).collect()
}

fn constraint(entry: &Item<'_>, terms: &Terms<'_>, messages: &Messages) -> Option<(Constraint, Range<usize>)> {
    let Some(item) = entry.get("Expression").filter(|item| item.string().is_some()) else {
        let remedy = "write \"Expression\": \"A % B == 0\"".to_string();
        messages.error(entry.span.clone(), "a condition has no Expression", Some(remedy));
        return None;
    };
    let text = item.string().unwrap_or_default();
    // If the text does not resolve, the error is reported for the text as written.
    let resolved = terms.resolve(text).unwrap_or_else(|_| text.to_string());
    let expr = Expr::parse(&resolved).map_err(|error| messages.expression(&item.span, text, &error)).ok()?;
    Some((Constraint::new(text, expr), item.span))
}
