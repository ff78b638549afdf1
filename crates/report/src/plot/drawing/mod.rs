//! Draws with plotters.

mod comparison;
mod convergence;
mod density;
mod legend;
mod violin;

pub use comparison::comparison_svg;

use super::{ComparisonPlot, PlotError, Stretch};
use plotters::coord::Shift;
use plotters::prelude::*;

/// The surface that everything is drawn on.
type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// Returns the colour of the series with this number. The colours are those of M. Okabe and K. Ito,
/// which colour-blind readers can tell apart. They repeat after the last.
pub(crate) fn colour(number: usize) -> RGBColor {
    const COLOURS: [(u8, u8, u8); 8] = [
        (0, 114, 178),
        (213, 94, 0),
        (0, 158, 115),
        (204, 121, 167),
        (230, 159, 0),
        (86, 180, 233),
        (90, 90, 90),
        (160, 140, 0),
    ];
    let (red, green, blue) = COLOURS[number % COLOURS.len()];
    RGBColor(red, green, blue)
}

/// Returns the numbers beside a logarithmic axis from `low` to `high`, both above 0: powers of ten with their double
/// and their half, fewer of a long axis, and even steps of a short one.
pub(crate) fn ticks(low: f64, high: f64) -> Vec<f64> {
    if high > 10.0 * low {
        let steps: &[f64] = if high > 1e4 * low { &[1.0] } else { &[1.0, 2.0, 5.0] };
        let powers = low.log10().floor() as i32..=high.log10().ceil() as i32;
        let all = powers.flat_map(|power| steps.iter().map(move |step| step * 10f64.powi(power)));
        return all.filter(|tick| (low..=high).contains(tick)).collect();
    }
    let tenth = (high - low) / 10.0;
    let power = 10f64.powf(tenth.log10().floor());
    let step = [2.0, 5.0, 10.0].map(|step| step * power).into_iter().find(|step| *step >= 1.5 * tenth);
    let step = step.unwrap_or(20.0 * power);
    let steps = (low / step).ceil() as u64..=(high / step).floor() as u64;
    steps.map(|number| number as f64 * step).collect()
}

/// Returns the lowest share that a panel shows: a little below `least`, on a line of the grid.
fn floor(least: f64) -> f64 {
    // Above 0.95 the axis would have no room.
    ((least * 20.0 - 0.2).floor() / 20.0).clamp(0.0, 0.95)
}
