//! A comparison of strategies as a picture: how near the optimum after so many evaluations, and
//! where searches ended.
//!
//! SVG alone, without fonts and without anything of the system: the same comparison gives the same
//! bytes everywhere.

#[cfg(feature = "plots")]
mod drawing;
#[cfg(not(feature = "plots"))]
#[path = "absent.rs"]
mod drawing;

#[cfg(feature = "plots")]
pub(crate) use drawing::colour;
pub use drawing::comparison_svg;

/// One strategy in a [`ComparisonPlot`].
#[derive(Clone, Debug, PartialEq)]
pub struct PlotSeries {
    /// The strategy.
    pub label: String,
    /// The share of the optimum after more and more evaluations, or time.
    pub curve: Vec<Stretch>,
    /// The shares that searches ended with, ascending; of an exact expectation equally likely ones.
    pub last: Vec<f64>,
}

/// The state of searches after a number of evaluations, or a time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stretch {
    /// The number of evaluations, or the time: above 0.
    pub at: f64,
    /// The optimum over the best so far, 0 while nothing is correct; the mean over searches.
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

impl PlotError {
    pub(crate) fn new(error: impl std::fmt::Display) -> Self {
        Self(error.to_string())
    }
}

#[cfg(all(test, feature = "plots"))]
mod tests;
