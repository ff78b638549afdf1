//! Draws the nearness of strategies to the optimum over evaluations or time.

use super::{Area, ComparisonPlot, PlotError, Stretch, colour, floor, ticks};
use crate::format::quantity;
use plotters::prelude::*;

/// Draws the means with their bands.
pub(super) fn draw(area: &Area<'_>, plot: &ComparisonPlot) -> Result<(), PlotError> {
    let stretches = || plot.series.iter().flat_map(|series| series.curve.iter());
    let first = stretches().map(|stretch| stretch.at).fold(f64::INFINITY, f64::min);
    let first = if first.is_finite() && first > 0.0 { first } else { 1.0 };
    let most = stretches().map(|stretch| stretch.at).fold(2.0 * first, f64::max);
    // The means decide the range. Bands may leave the panel at the first evaluations, where
    // searches have found nothing yet.
    let least = floor(stretches().map(|stretch| stretch.mean).fold(1.0, f64::min));
    let mut chart = ChartBuilder::on(area)
        .margin(12)
        .x_label_area_size(40)
        .y_label_area_size(54)
        .build_cartesian_2d((first..most).log_scale().with_key_points(ticks(first, most)), least..1.0)
        .map_err(PlotError::new)?;
    chart
        .configure_mesh()
        .light_line_style(WHITE)
        .x_desc(plot.axis.as_str())
        .y_desc("optimum / best")
        .x_label_formatter(&|at| quantity(*at))
        .y_label_formatter(&|share| quantity(*share))
        .draw()
        .map_err(PlotError::new)?;
    let place = |at: f64, share: f64| (at, share.clamp(least, 1.0));
    for (number, series) in plot.series.iter().enumerate() {
        let edge = |of: fn(&Stretch) -> f64| series.curve.iter().map(move |stretch| place(stretch.at, of(stretch)));
        let band: Vec<(f64, f64)> = edge(|stretch| stretch.high).chain(edge(|stretch| stretch.low).rev()).collect();
        let band = Polygon::new(band, colour(number).mix(0.12).filled());
        chart.draw_series(std::iter::once(band)).map_err(PlotError::new)?;
    }
    for (number, series) in plot.series.iter().enumerate() {
        let means: Vec<(f64, f64)> = series.curve.iter().map(|stretch| place(stretch.at, stretch.mean)).collect();
        let line = PathElement::new(means, colour(number).stroke_width(2));
        chart.draw_series(std::iter::once(line)).map_err(PlotError::new)?;
    }
    Ok(())
}
