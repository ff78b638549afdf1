//! Draws a comparison of strategies: the nearness to the optimum over evaluations, and the last
//! bests of searches.
//!
//! The output is plain SVG, without fonts or other parts of the system. The same comparison gives
//! the same bytes everywhere.

#[cfg(feature = "plots")]
mod drawing;
#[cfg(not(feature = "plots"))]
#[path = "absent.rs"]
mod drawing;

pub use drawing::comparison_svg;

#[cfg(feature = "plots")]
pub(crate) use drawing::{colour, ticks};
use std::path::PathBuf;
use tunesmith_core::{ErrorClass, UserError};

/// One strategy in a [`ComparisonPlot`].
#[derive(Clone, Debug, PartialEq)]
pub struct PlotSeries {
    /// The strategy.
    pub label: String,
    /// The share of the optimum after increasing numbers of evaluations, or over time.
    pub curve: Vec<Stretch>,
    /// The shares at the end of searches, ascending. For an exact expectation, equally likely
    /// shares.
    pub last: Vec<f64>,
}

/// The state of searches after a number of evaluations, or a time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stretch {
    /// The number of evaluations, or the time: above 0.
    pub at: f64,
    /// The mean over searches of the optimum over the best so far, 0 while nothing is correct.
    pub mean: f64,
    /// The lower edge of the band drawn around the mean.
    pub low: f64,
    /// The upper edge of the band.
    pub high: f64,
}

/// The content that [`comparison_svg`] draws.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ComparisonPlot {
    /// The recording that was searched.
    pub title: String,
    /// The horizontal axis: evaluations, or a time with its unit.
    pub axis: String,
    /// The strategies in the order of the legend.
    pub series: Vec<PlotSeries>,
}

/// A picture cannot be drawn.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct PlotError(String);

/// A file that gets no picture.
#[derive(Debug, thiserror::Error)]
#[error("cannot draw `{}`: {source}", path.display())]
pub struct DrawingError {
    /// The file of the picture.
    pub path: PathBuf,
    /// The reason.
    pub source: PlotError,
}

impl UserError for DrawingError {
    fn class(&self) -> ErrorClass {
        ErrorClass::Run
    }
}

impl PlotError {
    pub(crate) fn new(error: impl std::fmt::Display) -> Self {
        Self(error.to_string())
    }
}

#[cfg(all(test, feature = "plots"))]
pub(crate) mod labels;

#[cfg(all(test, feature = "plots"))]
mod tests;
