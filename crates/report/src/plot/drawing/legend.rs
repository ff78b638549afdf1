//! Draws the legend: the colour of each strategy.

use super::{Area, ComparisonPlot, PlotError, colour};
use plotters::prelude::*;

/// Height of a line in pixels.
const LINE: u32 = 20;

/// Maximum number of characters of a name in a line. The picture has no more room.
const WIDTH: usize = 38;

/// Returns the height in pixels of a legend of `series` strategies, with two lines for each name.
pub(super) fn height(series: usize) -> u32 {
    24 + 2 * LINE * u32::try_from(series).unwrap_or(0)
}

/// Draws colours and names. A name longer than a line continues in the next one. A name longer than
/// two lines keeps its beginning, and all of it as a note of the picture.
pub(super) fn draw(area: &Area<'_>, plot: &ComparisonPlot) -> Result<(), PlotError> {
    let mut top = 16;
    for (number, series) in plot.series.iter().enumerate() {
        let swatch = Rectangle::new([(4, top), (18, top + 12)], colour(number).filled());
        area.draw(&swatch).map_err(PlotError::new)?;
        let letters: Vec<char> = series.label.chars().collect();
        for line in letters.chunks(WIDTH).take(2) {
            let text = Text::new(line.iter().collect::<String>(), (26, top), ("sans-serif", 13).into_font());
            area.draw(&text).map_err(PlotError::new)?;
            top += LINE as i32;
        }
    }
    Ok(())
}
