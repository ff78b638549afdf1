//! The refusal of a wrong request.

use tunesmith::Error;
use tunesmith_core::Refusal;

/// Returns the error of a wrong request, with its remedy.
pub(crate) fn refused(text: impl Into<String>, remedy: Option<String>) -> Error {
    Refusal::new(text, remedy).into()
}
