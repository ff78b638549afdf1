//! Draws the last bests of searches: a violin for every strategy.

use super::density::density;
use super::{Area, ComparisonPlot, PlotError, colour, floor};
use crate::format::quantity;
use plotters::prelude::*;

/// Half the width of a violin at its widest place, as a share of its room.
const HALF_WIDTH: f64 = 0.42;

/// Draws the violins in the order of the legend, each with its median.
pub(super) fn draw(area: &Area<'_>, plot: &ComparisonPlot) -> Result<(), PlotError> {
    let lasts = plot.series.iter().filter_map(|series| series.last.first().copied());
    let least = floor(lasts.fold(1.0, f64::min));
    let end = plot.series.iter().filter_map(|series| Some(series.curve.last()?.at)).fold(0.0, f64::max);
    let count = plot.series.len().max(1) as f64;
    let mut chart = ChartBuilder::on(area)
        .margin(12)
        .x_label_area_size(40)
        .y_label_area_size(54)
        .build_cartesian_2d(0.0..count, least..1.0)
        .map_err(PlotError::new)?;
    chart
        .configure_mesh()
        .disable_x_mesh()
        .light_line_style(WHITE)
        .x_labels(0)
        .x_desc(format!("searches after {} {}", quantity(end), plot.axis))
        .y_desc("optimum / best")
        .y_label_formatter(&|share| quantity(*share))
        .draw()
        .map_err(PlotError::new)?;
    for (number, series) in plot.series.iter().enumerate() {
        let middle = number as f64 + 0.5;
        let outline = outline(&density(&series.last), middle);
        let (fill, edge) = (colour(number).mix(0.35).filled(), colour(number).stroke_width(1));
        chart.draw_series(std::iter::once(Polygon::new(outline.clone(), fill))).map_err(PlotError::new)?;
        chart.draw_series(std::iter::once(PathElement::new(outline, edge))).map_err(PlotError::new)?;
        if let Some(median) = series.last.get(series.last.len() / 2) {
            let mark = vec![(middle - HALF_WIDTH / 2.0, *median), (middle + HALF_WIDTH / 2.0, *median)];
            let mark = PathElement::new(mark, colour(number).stroke_width(3));
            chart.draw_series(std::iter::once(mark)).map_err(PlotError::new)?;
        }
    }
    Ok(())
}

/// Returns the closed outline of a violin around `middle`. It fills its room where the density is
/// highest.
fn outline(density: &[(f64, f64)], middle: f64) -> Vec<(f64, f64)> {
    let most = density.iter().map(|(_, density)| *density).fold(f64::MIN_POSITIVE, f64::max);
    let side = |sign: f64| density.iter().map(move |(at, density)| (middle + sign * HALF_WIDTH * density / most, *at));
    side(-1.0).chain(side(1.0).rev()).chain(side(-1.0).take(1)).collect()
}
