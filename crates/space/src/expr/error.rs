//! What can be wrong with an expression, and where.

use std::ops::Range;

/// An expression that cannot be read or evaluated.
///
/// The span counts bytes of the expression's text and always lies on character boundaries within
/// it, so that a front end can point into the user's file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ExprError {
    /// The fault, without its place.
    pub message: String,
    /// The part of the text that is wrong, in bytes; empty at the place where something is missing.
    pub span: Range<usize>,
    /// The remedy: what to write instead.
    pub remedy: Option<String>,
}

impl ExprError {
    pub(crate) fn new(message: impl Into<String>, span: Range<usize>) -> Self {
        ExprError { message: message.into(), span, remedy: None }
    }

    pub(crate) fn remedy(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = Some(remedy.into());
        self
    }
}
