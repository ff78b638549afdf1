//! Faults of a partner: what it says that cannot be used.

use serde_json::Value as Json;
use tunesmith_space::SpaceError;

/// A fault of a partner, with the sentence for the user. A fault is counted, and never ends the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The kind.
    pub kind: FaultKind,
    /// The fault and its remedy.
    pub text: String,
}

/// The kinds of faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FaultKind {
    /// A line that is no answer.
    Line,
    /// A configuration that is not an object of names and values.
    Form,
    /// A name that is no parameter.
    Parameter,
    /// A value that is not in the parameter's list.
    Value,
    /// A configuration that a constraint excludes.
    Constraint,
    /// A configuration that was evaluated, is in flight, or was proposed before.
    Duplicate,
    /// A configuration beyond the number asked for.
    Surplus,
    /// A line that nobody asked for.
    Unasked,
}

impl FaultKind {
    /// Returns the word used in machine-readable output.
    pub fn word(self) -> &'static str {
        match self {
            Self::Line => "line",
            Self::Form => "form",
            Self::Parameter => "parameter",
            Self::Value => "value",
            Self::Constraint => "constraint",
            Self::Duplicate => "duplicate",
            Self::Surplus => "surplus",
            Self::Unasked => "unasked",
        }
    }
}

/// Maximum number of characters of a partner's text in a message.
const SHOWN: usize = 120;

impl Fault {
    fn new(kind: FaultKind, text: impl Into<String>) -> Self {
        Self { kind, text: text.into() }
    }

    pub(crate) fn line(line: &str, problem: &str) -> Self {
        let line = short(line);
        Self::new(
            FaultKind::Line,
            format!("the line `{line}` {problem}; answer with a list, such as [{{\"TILE\": 8}}]"),
        )
    }

    pub(crate) fn form(json: &Json) -> Self {
        let shown = short(&json.to_string());
        Self::new(FaultKind::Form, format!("`{shown}` is no configuration; write an object of names and values"))
    }

    pub(crate) fn value(name: &str, json: &Json) -> Self {
        let shown = short(&json.to_string());
        Self::new(FaultKind::Value, format!("`{name}` cannot be {shown}; write one of the values of the first line"))
    }

    pub(crate) fn of_space(error: &SpaceError) -> Self {
        let kind = match error {
            SpaceError::UnknownParameter { .. } => FaultKind::Parameter,
            _ => FaultKind::Value,
        };
        Self::new(kind, error.to_string())
    }

    /// Makes the fault of a configuration that violates the constraints with these names.
    pub(crate) fn excluded(names: &[String]) -> Self {
        Self::new(FaultKind::Constraint, format!("the configuration violates {}", names.join(", ")))
    }

    pub(crate) fn duplicate() -> Self {
        Self::new(FaultKind::Duplicate, "the configuration was evaluated, asked or proposed before")
    }

    pub(crate) fn surplus(most: usize) -> Self {
        Self::new(FaultKind::Surplus, format!("an answer has at most {most} configurations; the others are ignored"))
    }

    pub(crate) fn unasked(line: &str) -> Self {
        let line = short(line);
        Self::new(FaultKind::Unasked, format!("the line `{line}` answers no request; write one line for each request"))
    }
}

/// Returns the beginning of a text, without control characters.
fn short(text: &str) -> String {
    let mut shown: String = text.chars().take(SHOWN).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if text.chars().nth(SHOWN).is_some() {
        shown.push_str("...");
    }
    shown
}
