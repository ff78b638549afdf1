//! Errors of expressions, with their position.

use std::ops::Range;

/// An error of parsing or evaluating an expression.
///
/// The span counts bytes of the expression's text. It always lies on character boundaries within
/// the text, so that a front end can point into the user's file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ExprError {
    /// The fault, without its position.
    pub message: String,
    /// The range of the wrong part of the text, in bytes. Empty at a position where something is
    /// missing.
    pub span: Range<usize>,
    /// The text to write instead.
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
