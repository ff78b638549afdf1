//! Kernels whose source is made for each configuration.

use crate::problem::{Grid, Scope};
use std::fmt;

/// Makes the source of a kernel for a configuration, where no file holds it.
pub trait Generator: fmt::Debug + Send + Sync {
    /// Returns the kernel of the configuration that `scope` describes. Called several times for
    /// one, from several threads.
    ///
    /// # Errors
    /// Why there is none: the configuration is then no failure of the run but one that its
    /// constraints exclude.
    fn generate(&self, scope: &Scope) -> Result<Generated, String>;

    /// Returns what has to be the same when a run is resumed: everything but the configuration that
    /// decides about the source.
    fn identity(&self) -> String;
}

/// A kernel made for one configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Generated {
    /// Its source, in which sizes and parameters are no macros.
    pub text: String,
    /// Its work-items; none in languages without.
    pub grid: Option<Grid>,
}
