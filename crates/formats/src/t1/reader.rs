//! The context for reading all parts of a specification.

use super::expressions::Terms;
use super::findings::Findings;
use super::json::Item;
use std::path::Path;

/// The context for reading all parts of a specification.
pub(super) struct Reader<'a> {
    pub(super) item: &'a Item<'a>,
    pub(super) terms: &'a Terms<'a>,
    pub(super) findings: &'a Findings<'a>,
    /// The folder that relative paths start from.
    pub(super) folder: &'a Path,
}
