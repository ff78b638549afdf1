//! What can be wrong with files of tree models.

/// A saved model could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// The text is no JSON, or ends too early.
    #[error("the model is not readable as JSON: {0}; was the file cut off or edited?")]
    Json(#[source] serde_json::Error),
    /// JSON, but of something else.
    #[error("this is not a model of trees: `format` is {found} instead of \"{expected}\"")]
    Foreign {
        /// The `format` found.
        found: String,
        /// The format expected.
        expected: &'static str,
    },
    /// JSON that says of no model which it is.
    #[error("this is no model: it has no `kind`; a model of kind `{expected}` is wanted")]
    NoKind {
        /// The kind that was asked for.
        expected: &'static str,
    },
    /// A model of another kind.
    #[error("this is a model of kind `{found}`; a model of kind `{expected}` is wanted")]
    Kind {
        /// The kind that was found.
        found: String,
        /// The kind that was asked for.
        expected: &'static str,
    },
    /// Written by a later version.
    #[error(
        "the model has version {found}; this program reads versions up to {known}: use a newer one, or train again"
    )]
    Newer {
        /// The version that was found.
        found: u64,
        /// The latest known.
        known: u64,
    },
    /// The parts do not make a model.
    #[error("the model is damaged: {what}; train it again")]
    Damaged {
        /// The fault and its place.
        what: String,
    },
}
