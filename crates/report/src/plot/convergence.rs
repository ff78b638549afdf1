//! How near the optimum strategies are after so many evaluations.

use super::{Area, ComparisonPlot, PlotError, Stretch, colour, floor};
use plotters::prelude::*;

/// Draws the means with their bands.
pub(super) fn draw(area: &Area<'_>, plot: &ComparisonPlot) -> Result<(), PlotError> {
    let stretches = || plot.series.iter().flat_map(|series| series.curve.iter());
    let most = stretches().map(|stretch| stretch.evaluations).max().unwrap_or(1).max(2) as f64;
    // The means decide; bands may leave the panel at the first evaluations, where searches have nothing yet.
    let least = floor(stretches().map(|stretch| stretch.mean).fold(1.0, f64::min));
    let mut chart = ChartBuilder::on(area)
        .margin(12)
        .x_label_area_size(40)
        .y_label_area_size(54)
        .build_cartesian_2d((1.0..most).log_scale(), least..1.0)
        .map_err(PlotError::new)?;
    chart
        .configure_mesh()
        .light_line_style(WHITE)
        .x_desc("evaluations")
        .y_desc("optimum / best")
        .x_label_formatter(&|count| format!("{count:.0}"))
        .y_label_formatter(&|share| format!("{share:.2}"))
        .draw()
        .map_err(PlotError::new)?;
    let place = |evaluations: u64, share: f64| (evaluations as f64, share.clamp(least, 1.0));
    for (number, series) in plot.series.iter().enumerate() {
        let edge =
            |of: fn(&Stretch) -> f64| series.curve.iter().map(move |stretch| place(stretch.evaluations, of(stretch)));
        let band: Vec<(f64, f64)> = edge(|stretch| stretch.high).chain(edge(|stretch| stretch.low).rev()).collect();
        let band = Polygon::new(band, colour(number).mix(0.12).filled());
        chart.draw_series(std::iter::once(band)).map_err(PlotError::new)?;
    }
    for (number, series) in plot.series.iter().enumerate() {
        let means: Vec<(f64, f64)> =
            series.curve.iter().map(|stretch| place(stretch.evaluations, stretch.mean)).collect();
        let line = PathElement::new(means, colour(number).stroke_width(2));
        chart.draw_series(std::iter::once(line)).map_err(PlotError::new)?;
    }
    Ok(())
}
