//! Requests that cannot be met.

/// A wrong request: an option, a name or a value from the user.
///
/// The error type of every crate above this one has a variant for it, so front ends show all of
/// them alike.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct Refusal {
    /// The fault.
    pub text: String,
    /// The remedy, if one is known.
    pub remedy: Option<String>,
}

impl Refusal {
    /// Refuses a request for the reason `text`.
    pub fn new(text: impl Into<String>, remedy: Option<String>) -> Self {
        Self { text: text.into(), remedy }
    }
}
