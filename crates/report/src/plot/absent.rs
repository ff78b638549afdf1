//! Replaces drawing in builds without the Cargo feature `plots`.

use super::{ComparisonPlot, PlotError};

/// Draws nothing.
///
/// # Errors
/// Always: this build lacks plots.
pub fn comparison_svg(_: &ComparisonPlot) -> Result<String, PlotError> {
    Err(PlotError::new("this build cannot draw plots; build it with the Cargo feature `plots`"))
}
