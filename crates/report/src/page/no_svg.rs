//! Replaces the picture in builds without the Cargo feature `plots`.

use super::RunSection;
use crate::plot::PlotError;

/// Returns a text that replaces the picture.
pub(super) fn svg(_: &[&RunSection]) -> Result<String, PlotError> {
    Ok("<p>The picture is missing: this build cannot draw plots.</p>".to_string())
}
