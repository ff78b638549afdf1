//! Errors of building a search space and of requests to it.

use std::ops::Range;

use crate::expr::ExprError;
use crate::value::{Value, ValueKind};

/// The reason why a space cannot be built or a request does not fit it.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SpaceError {
    /// The space has no tuning parameter.
    #[error("the space has no tuning parameters")]
    NoParameters,
    /// Two parameters, or a parameter and a constant, share a name.
    #[error("the name `{name}` is given twice")]
    DuplicateName {
        /// The name.
        name: String,
    },
    /// A parameter without values.
    #[error("parameter `{parameter}` has no values")]
    NoValues {
        /// The parameter.
        parameter: String,
    },
    /// A parameter that lists a value twice.
    #[error("parameter `{parameter}` lists the value {value} twice")]
    DuplicateValue {
        /// The parameter.
        parameter: String,
        /// The value.
        value: Value,
    },
    /// A parameter with values of several types.
    #[error("parameter `{parameter}` mixes values of type {first} and {other}; a parameter has one type")]
    MixedKinds {
        /// The parameter.
        parameter: String,
        /// The type of its first value.
        first: ValueKind,
        /// The type that does not fit.
        other: ValueKind,
    },
    /// A parameter with an infinite value or one that is not a number.
    #[error("parameter `{parameter}` has the value {value:?}, which is not a finite number", value = .value.as_float().unwrap_or_default())]
    NotFinite {
        /// The parameter.
        parameter: String,
        /// The value.
        value: Value,
    },
    /// A generated list of values that is empty, too long or never ends.
    #[error("no values {what}: {reason}")]
    BadValues {
        /// The list asked for.
        what: String,
        /// The reason why it cannot be made.
        reason: String,
    },
    /// A constraint uses a name that is neither a parameter nor a constant.
    #[error("constraint `{constraint}` uses `{name}`, which is neither a parameter nor a constant{}", did_you_mean(.suggestion))]
    UnknownName {
        /// The constraint.
        constraint: String,
        /// The name.
        name: String,
        /// The range of the name in the constraint's expression, in bytes.
        span: Range<usize>,
        /// The known name that was probably meant.
        suggestion: Option<String>,
    },
    /// A constraint fails on a configuration that no other constraint excludes.
    #[error("constraint `{constraint}` cannot be evaluated for {}: {error}{}", listed(.configuration), hint(.error))]
    Evaluation {
        /// The constraint.
        constraint: String,
        /// The parameters of the constraint and their values, in the order in which the constraint
        /// names them.
        configuration: Vec<(String, Value)>,
        /// The fault and its position in the constraint's expression.
        error: ExprError,
    },
    /// No configuration satisfies all constraints.
    #[error("no configuration satisfies {}", quoted(.culprits))]
    Empty {
        /// A smallest set of constraints that no configuration satisfies. Every one of them is
        /// needed for that.
        culprits: Vec<String>,
    },
    /// Somebody cancelled the construction.
    #[error("the construction of the space was cancelled")]
    Cancelled,
    /// The diagram grew beyond the [`Limits`](crate::Limits).
    #[error("the diagram of the space grows beyond {limit}, because of {}; {remedy}", quoted(.culprits), remedy = "shorten the parameters' lists, or write the constraint as several that each join fewer parameters")]
    TooLarge {
        /// The limit that was reached.
        limit: String,
        /// The constraints in force at that point of the diagram, widest first.
        culprits: Vec<String>,
    },
    /// A configuration names a parameter that the space does not have.
    #[error("there is no parameter `{name}`{}", did_you_mean(.suggestion))]
    UnknownParameter {
        /// The name.
        name: String,
        /// The parameter that was probably meant.
        suggestion: Option<String>,
    },
    /// A configuration gives a parameter a value that it does not take.
    #[error("parameter `{parameter}` does not take {value}; it takes {}", abridged(.allowed))]
    NotAllowed {
        /// The parameter.
        parameter: String,
        /// The value.
        value: Value,
        /// The parameter's values.
        allowed: Vec<Value>,
    },
}

fn did_you_mean(suggestion: &Option<String>) -> String {
    suggestion.as_ref().map(|name| format!("; did you mean `{name}`?")).unwrap_or_default()
}

fn hint(error: &ExprError) -> String {
    error.remedy.as_ref().map(|remedy| format!("; {remedy}")).unwrap_or_default()
}

fn listed(configuration: &[(String, Value)]) -> String {
    if configuration.is_empty() {
        return "any configuration".into();
    }
    configuration.iter().map(|(name, value)| format!("{name} = {value}")).collect::<Vec<_>>().join(", ")
}

fn quoted(names: &[String]) -> String {
    match names {
        [] => "the constraints".into(),
        [one] => format!("constraint `{one}`"),
        many => {
            let names: Vec<String> = many.iter().map(|name| format!("`{name}`")).collect();
            format!("constraints {} together", names.join(", "))
        }
    }
}

/// Lists all values of a short list, and both ends of a long one.
fn abridged(values: &[Value]) -> String {
    let text = |values: &[Value]| values.iter().map(Value::to_string).collect::<Vec<_>>().join(", ");
    if values.len() <= 20 {
        return text(values);
    }
    format!("{}, ... {} ({} values)", text(&values[..8]), text(&values[values.len() - 3..]), values.len())
}
