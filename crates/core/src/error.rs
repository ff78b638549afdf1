//! Errors that end a run.

use tunesmith_space::{ErrorClass, UserError};

/// An error that ends a run. The failure of a configuration is not an error: it is an evaluation
/// with a [`Failure`](crate::Failure).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The device, its driver or its worker process is no longer usable.
    #[error("the device cannot be used: {0}")]
    Device(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The device was lost while a configuration ran, which may be to blame.
    #[error("the device cannot be used: {0}")]
    Lost(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The run was interrupted while the device was made ready.
    #[error("the device cannot be used: interrupted")]
    Interrupted,
    /// The journal cannot be written. To continue would lose measurements.
    #[error("the journal cannot be written: {0}")]
    Store(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl UserError for Error {
    fn class(&self) -> ErrorClass {
        match self {
            Self::Interrupted => ErrorClass::Interruption,
            Self::Device(_) | Self::Lost(_) | Self::Store(_) => ErrorClass::Run,
        }
    }
}
