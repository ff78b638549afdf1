//! The start of a measurement.

use crate::{Request, Role};

/// A measurement that begins, and whose result is not known yet. It may end this process or the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Start {
    /// The configuration and the depth.
    pub request: Request,
    /// The purpose of a later measurement. `None` for an evaluation.
    pub role: Option<Role>,
}
