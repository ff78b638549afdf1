//! Draws a comparison: its curves, its violins and the legend, side by side.

use super::{ComparisonPlot, PlotError};
use super::{convergence, legend, violin};
use plotters::prelude::*;

/// Width and minimum height of the picture in pixels. It fits a page and a screen.
const SIZE: (u32, u32) = (1180, 460);

/// Widths of the convergence panel and of the violins in pixels. The legend has the rest.
const PANELS: (u32, u32) = (560, 330);

/// Height of the title in pixels.
const TITLE: u32 = 34;

/// Draws `plot` as SVG. On the left is the mean share of the optimum against evaluations or time
/// (logarithmic), with a band between the given edges. In the middle is the distribution of the
/// last bests of searches, and on the right the legend.
///
/// # Errors
/// None is known, since the picture is drawn in memory.
pub fn comparison_svg(plot: &ComparisonPlot) -> Result<String, PlotError> {
    let mut svg = String::new();
    let height = SIZE.1.max(TITLE + legend::height(plot.series.len()));
    {
        let root = SVGBackend::with_string(&mut svg, (SIZE.0, height)).into_drawing_area();
        root.fill(&WHITE).map_err(PlotError::new)?;
        let (head, body) = root.split_vertically(TITLE);
        let title = (plot.title.as_str(), ("sans-serif", 18).into_font());
        head.draw(&Text::new(title.0, (14, 10), title.1)).map_err(PlotError::new)?;
        let (left, rest) = body.split_horizontally(PANELS.0);
        let (middle, right) = rest.split_horizontally(PANELS.1);
        let (left, _) = left.split_vertically(SIZE.1 - TITLE);
        let (middle, _) = middle.split_vertically(SIZE.1 - TITLE);
        convergence::draw(&left, plot)?;
        violin::draw(&middle, plot)?;
        legend::draw(&right, plot)?;
        root.present().map_err(PlotError::new)?;
    }
    Ok(svg)
}
