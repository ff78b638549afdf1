//! Draws the curve of the best.

use super::paint::Paint;
use crate::curve::Point;
use crate::watched::Watched;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::symbols::Marker;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Axis, Chart, Dataset, GraphType, Widget};
use tunesmith_core::Scale;
use tunesmith_report::{count, duration};

/// Minimum width at which the name of an axis has room between its ends.
const WIDE_ENOUGH: u16 = 50;

/// Draws the best score and the scores of the evaluations, over evaluations or over time. The scores
/// are on a logarithmic scale, or on one that continues it if they have both signs.
pub(crate) fn draw(watched: &Watched, over_time: bool, paint: Paint, area: Rect, buffer: &mut Buffer) {
    let Some(best) = watched.curve.best() else {
        return Line::from("nothing correct yet").render(area, buffer);
    };
    let along = |point: &Point| if over_time { point.clock } else { point.evaluation as f64 };
    let end = if over_time { watched.clock } else { watched.evaluations as f64 };
    let first = watched.curve.improvements.first().map_or(best.score, |first| first.score);
    // A little room, so that the curve does not lie on the axis.
    let points = watched.curve.improvements.iter().chain(&watched.curve.cloud);
    let scale = Scale::of(points.map(|point| point.score));
    let height = |score: f64| scale.positive(score).log10();
    let room = ((height(first) - height(best.score)) * 0.05).max(0.005);
    let (low, high) = (height(best.score) - room, height(first) + room);
    let cloud: Vec<(f64, f64)> = watched.curve.cloud.iter().map(|point| (along(point), height(point.score))).collect();
    let steps = steps(&watched.curve.improvements, along, height, end);
    let set = |marker, graph, style, data| Dataset::default().marker(marker).graph_type(graph).style(style).data(data);
    let sets = vec![
        set(Marker::Dot, GraphType::Scatter, paint.dim(), &cloud),
        set(Marker::Braille, GraphType::Line, paint.curve(), &steps),
    ];
    let score = |log: f64| Span::raw(watched.scale.text(scale.score(10f64.powf(log))));
    let tall = area.height >= 9;
    let heights = if tall { vec![low, f64::midpoint(low, high), high] } else { vec![low, high] };
    let last = if over_time { duration(end) } else { count(&watched.evaluations.to_string()) };
    let unit = if over_time { "time" } else { "evaluations" };
    let unit = (area.width >= WIDE_ENOUGH).then(|| unit.to_string());
    let labels = ["0".to_string()].into_iter().chain(unit).chain([last]).map(Span::raw);
    let along = Axis::default().bounds([0.0, end.max(f64::MIN_POSITIVE)]).labels(labels.collect::<Vec<_>>());
    let up = Axis::default().bounds([low, high]).labels(heights.into_iter().map(score).collect::<Vec<_>>());
    Chart::new(sets).x_axis(along.style(paint.dim())).y_axis(up.style(paint.dim())).render(area, buffer);
}

/// Returns the corners of the best score so far, up to `end`.
fn steps(
    improvements: &[Point],
    along: impl Fn(&Point) -> f64,
    height: impl Fn(f64) -> f64,
    end: f64,
) -> Vec<(f64, f64)> {
    let mut corners = Vec::with_capacity(2 * improvements.len());
    for (at, point) in improvements.iter().enumerate() {
        let score = height(point.score);
        corners.push((along(point), score));
        corners.push((improvements.get(at + 1).map_or(end, &along), score));
    }
    corners
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_so_far_is_a_stair() {
        let point = |evaluation, score| Point { evaluation, clock: 0.0, score };
        let along = |point: &Point| point.evaluation as f64;
        let corners = steps(&[point(1, 100.0), point(4, 10.0)], along, f64::log10, 9.0);
        assert_eq!(corners, [(1.0, 2.0), (4.0, 2.0), (4.0, 1.0), (9.0, 1.0)]);
        assert!(steps(&[], along, f64::log10, 9.0).is_empty());
    }
}
