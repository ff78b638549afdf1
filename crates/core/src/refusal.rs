//! A request that cannot be met.

/// A wrong request: an option, a name or a value that the user gave.
///
/// Every crate above this one has an error type with a variant for it, so that front ends show all
/// of them alike.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct Refusal {
    /// Says what is wrong.
    pub text: String,
    /// Says what to do about it, where that is known.
    pub remedy: Option<String>,
}

impl Refusal {
    /// Refuses a request for the reason `text`.
    pub fn new(text: impl Into<String>, remedy: Option<String>) -> Self {
        Self { text: text.into(), remedy }
    }
}
