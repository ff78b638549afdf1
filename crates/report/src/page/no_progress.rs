//! In place of the picture in builds without the Cargo feature `plots`.

use super::RunSection;
use crate::plot::PlotError;

/// Says in place of the picture that there is none.
pub(super) fn svg(_: &[RunSection]) -> Result<String, PlotError> {
    Ok("<p>The picture is missing: this build lacks plots.</p>".to_string())
}
