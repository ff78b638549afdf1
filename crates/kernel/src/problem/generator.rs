//! Kernels whose source is generated for each configuration.

use crate::problem::{Grid, Scope};
use std::fmt;

/// Generates a kernel's source for a configuration, for kernels without a source file.
pub trait Generator: fmt::Debug + Send + Sync {
    /// Generates the kernel of the configuration that `scope` describes. Called several times for
    /// the same configuration, from several threads.
    ///
    /// # Errors
    /// The reason why the configuration has no kernel. The run treats such a configuration as
    /// excluded by the constraints, not as failed.
    fn generate(&self, scope: &Scope) -> Result<Generated, String>;

    /// Returns a text that determines the source together with the configuration. A resumed run
    /// must have the same identity.
    fn identity(&self) -> String;
}

/// A kernel generated for one configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Generated {
    /// The source. Sizes and parameters are not defined as macros.
    pub text: String,
    /// The work-items. `None` in languages without work-items.
    pub grid: Option<Grid>,
}
