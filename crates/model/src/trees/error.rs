//! Errors of reading models of trees.

/// The error of reading a saved model.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// The text is not JSON, or ends too early.
    #[error("the model is not readable as JSON: {0}; was the file cut off or edited?")]
    Json(#[source] serde_json::Error),
    /// The text is JSON of something else.
    #[error("this is not a model of trees: `format` is {found} instead of \"{expected}\"")]
    Foreign {
        /// The `format` found.
        found: String,
        /// The format expected.
        expected: &'static str,
    },
    /// The text is JSON without a model's kind.
    #[error("this is no model: it has no `kind`; a model of kind `{expected}` is wanted")]
    NoKind {
        /// The expected kind.
        expected: &'static str,
    },
    /// The model has another kind.
    #[error("this is a model of kind `{found}`; a model of kind `{expected}` is wanted")]
    Kind {
        /// The kind found.
        found: String,
        /// The expected kind.
        expected: &'static str,
    },
    /// A later version wrote the model.
    #[error(
        "the model has version {found}; this program reads versions up to {known}: use a newer one, or train again"
    )]
    Newer {
        /// The version found.
        found: u64,
        /// The latest known version.
        known: u64,
    },
    /// The parts do not make a model.
    #[error("the model is damaged: {what}; train it again")]
    Damaged {
        /// The fault and its place.
        what: String,
    },
}
