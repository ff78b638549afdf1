//! An evaluation told.

use tunesmith_core::Aspects;
use tunesmith_space::ConfigId;

/// An evaluation told.
#[derive(Clone, Debug)]
pub(super) struct Told {
    pub(super) config: ConfigId,
    /// The score, or `None` if it failed or breaks a limit.
    pub(super) score: Option<f64>,
    /// Its findings besides, if the run has limits or several objectives.
    pub(super) aspects: Option<Box<Aspects>>,
    /// The time of its compilation and launches in milliseconds, if it is known.
    pub(super) ms: Option<f64>,
}

impl Told {
    /// Returns the score, also of a configuration that breaks a limit.
    pub(super) fn measured(&self) -> Option<f64> {
        self.score.or(self.aspects.as_ref().and_then(|aspects| aspects.score))
    }
}
