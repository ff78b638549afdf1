//! Why a run cannot go on.

/// A run that cannot continue. A configuration that fails is not an error but an evaluation with a
/// [`Failure`](crate::Failure).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The device, its driver or its worker process cannot be used any more.
    #[error("the device cannot be used: {0}")]
    Device(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The journal could not be written; going on would lose measurements.
    #[error("the journal cannot be written: {0}")]
    Store(#[source] Box<dyn std::error::Error + Send + Sync>),
}
