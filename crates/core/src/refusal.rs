//! Requests that cannot be met.

use tunesmith_space::{ErrorClass, UserError};

/// A wrong request: an option, a name or a value from the user.
///
/// Commands of every crate refuse by it.
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

impl UserError for Refusal {
    fn class(&self) -> ErrorClass {
        ErrorClass::Request
    }

    fn remedy(&self) -> Option<&str> {
        self.remedy.as_deref()
    }
}
