//! Draws the picture of a static page: the evaluations, and the best so far.

use super::{RunSection, curve, text};
use crate::plot::{PlotError, colour, ticks};
use plotters::prelude::*;
use std::collections::HashSet;

const SIZE: (u32, u32) = (1180, 420);

/// Draws evaluations of runs of one subject. Both axes cover all runs; values are logarithmic. Failures
/// are crosses at the upper edge. Returns an empty string if no evaluation was correct, or if a value is
/// not above zero.
pub(super) fn svg(runs: &[&RunSection]) -> Result<String, PlotError> {
    let Some((least, most)) = extremes(runs) else { return Ok(String::new()) };
    let objective = &runs[0].subject.objective;
    // Leaves room for the crosses above and for the line of the best below. The range is never
    // empty.
    let (low, high) = (least / 1.1, most * 1.2);
    let longest = runs.iter().map(|run| run.evaluations.len()).max().unwrap_or(0).max(2) as f64;
    let mut svg = String::new();
    {
        let root = SVGBackend::with_string(&mut svg, SIZE).into_drawing_area();
        root.fill(&WHITE).map_err(PlotError::new)?;
        let mut chart = ChartBuilder::on(&root)
            .margin(12)
            .x_label_area_size(40)
            .y_label_area_size(80)
            .build_cartesian_2d(0.0..longest, (low..high).log_scale().with_key_points(ticks(low, high)))
            .map_err(PlotError::new)?;
        chart
            .configure_mesh()
            .light_line_style(WHITE)
            .x_desc("evaluations")
            .y_desc(text::name(&objective.label()))
            .x_label_formatter(&|count| crate::quantity(*count))
            .y_label_formatter(&|value| crate::amount(*value, objective))
            .draw()
            .map_err(PlotError::new)?;
        let crowded = runs.iter().map(|run| run.evaluations.len()).sum::<usize>() > DRAWN;
        let to_cell = |(evaluations, time): (f64, f64)| {
            let (across, up) = (evaluations / longest, (time / low).ln() / (high / low).ln());
            crowded.then_some(((across * CELLS.0) as u32, (up * CELLS.1) as u32))
        };
        for (number, run) in runs.iter().enumerate() {
            let colour = colour(number);
            let at = |place: usize| (place + 1) as f64;
            let evaluations = run.evaluations.values.iter().enumerate();
            let dots = evaluations.clone().filter_map(|(place, time)| Some((at(place), (*time)?)));
            let dots = thinned(dots, &to_cell).map(|place| Circle::new(place, 2, colour.mix(0.5).filled()));
            chart.draw_series(dots).map_err(PlotError::new)?;
            let failed = evaluations.filter(|(_, time)| time.is_none());
            let failed = thinned(failed.map(|(place, _)| (at(place), most * 1.1)), &to_cell);
            let failed = failed.map(|place| Cross::new(place, 3, colour.mix(0.6)));
            chart.draw_series(failed).map_err(PlotError::new)?;
            let corners: Vec<(f64, f64)> = thinned(best_so_far(run).into_iter(), &to_cell).collect();
            let line = PathElement::new(corners, colour.stroke_width(2));
            let series = chart.draw_series(std::iter::once(line)).map_err(PlotError::new)?;
            series.label(text::name(&run.name)).legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], colour));
        }
        if runs.len() > 1 {
            chart
                .configure_series_labels()
                .border_style(BLACK.mix(0.3))
                .background_style(WHITE.mix(0.8))
                .draw()
                .map_err(PlotError::new)?;
        }
        root.present().map_err(PlotError::new)?;
    }
    Ok(svg)
}

/// Returns the least and the greatest value of all runs. Returns `None` if no evaluation was correct, or
/// if one has no logarithm.
fn extremes(runs: &[&RunSection]) -> Option<(f64, f64)> {
    let values = || runs.iter().flat_map(|run| &run.evaluations.values).copied().flatten();
    let (least, most) = (values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max));
    (least > 0.0 && most > 0.0).then_some((least, most))
}

/// Number of evaluations that are all drawn.
const DRAWN: usize = 5000;
/// Of more evaluations, one is drawn in each cell of this grid. A cell is about as large as a dot.
const CELLS: (f64, f64) = (180.0, 60.0);

/// Returns the first of the places in each cell. Keeps the places without a cell, and the last one.
fn thinned(
    places: impl Iterator<Item = (f64, f64)>,
    to_cell: &impl Fn((f64, f64)) -> Option<(u32, u32)>,
) -> impl Iterator<Item = (f64, f64)> {
    let mut seen = HashSet::new();
    let mut places = places.peekable();
    std::iter::from_fn(move || {
        loop {
            let place = places.next()?;
            let is_first = to_cell(place).is_none_or(|cell| seen.insert(cell));
            if is_first || places.peek().is_none() {
                return Some(place);
            }
        }
    })
}

/// Returns the corners of the staircase of the best value so far.
fn best_so_far(run: &RunSection) -> Vec<(f64, f64)> {
    let mut corners: Vec<(f64, f64)> = Vec::new();
    let values = &run.evaluations.values;
    let steps = curve::steps(&run.evaluations, &run.subject.objective);
    for (at, value) in steps.into_iter().filter_map(|at| Some((at, values[at]?))) {
        let across = (at + 1) as f64;
        corners.extend(corners.last().map(|(_, best)| (across, *best)));
        corners.push((across, value));
    }
    corners.extend(corners.last().map(|(_, best)| (values.len() as f64, *best)));
    corners
}

#[cfg(test)]
mod tests {
    use super::super::Evaluations;
    use super::*;
    use crate::plot::labels;
    use tunesmith_core::{Direction, Objective, Source};

    fn run(values: impl Iterator<Item = Option<f64>>) -> RunSection {
        let evaluations = Evaluations { values: values.collect(), ..Evaluations::default() };
        RunSection { evaluations, ..RunSection::default() }
    }

    #[test]
    fn the_best_so_far_steps_down_and_reaches_the_last_evaluation() {
        let run = run([None, Some(4.0), Some(5.0), Some(2.0), None].into_iter());
        assert_eq!(best_so_far(&run), [(2.0, 4.0), (4.0, 4.0), (4.0, 2.0), (5.0, 2.0)]);
        assert_eq!(best_so_far(&RunSection::default()), []);
    }

    #[test]
    fn a_picture_has_a_dot_for_each_correct_evaluation_and_none_without() {
        let picture = svg(&[&run([None, Some(3.0), Some(1.5)].into_iter())]).unwrap();
        let document = roxmltree::Document::parse(&picture).unwrap();
        assert_eq!(document.descendants().filter(|node| node.has_tag_name("circle")).count(), 2);
        assert_eq!(svg(&[&RunSection::default()]).unwrap(), "");
    }

    #[test]
    fn a_picture_is_about_the_objective_of_the_runs() {
        let of = |objective: Objective, value: f64| {
            let mut run = run([Some(value), Some(2.0 * value)].into_iter());
            run.subject.objective = objective;
            (best_so_far(&run).last().copied(), svg(&[&run]).unwrap())
        };
        let rate = Objective::new("rate", Direction::Maximise, Some("GB/s"), Source::Printed);
        let (best, picture) = of(rate.clone(), 8.0);
        assert_eq!(best, Some((2.0, 16.0)));
        assert!(picture.contains("rate") && picture.contains("GB/s") && !picture.contains(" ms"), "{picture}");
        assert_eq!(of(rate, -8.0).1, "", "a negative number has no place on a logarithmic axis");
    }

    #[test]
    fn every_number_beside_an_axis_is_that_of_its_place() {
        let times = |times: &[f64]| run(times.iter().copied().map(Some));
        for own in [&[1000.0, 1024.0][..], &[0.0009, 4.0, 1_249_692.0], &[2.0, 2.1, 2.2, 2.3]] {
            let picture = svg(&[&times(own)]).unwrap();
            let document = roxmltree::Document::parse(&picture).unwrap();
            let pixel = |node: roxmltree::Node<'_, '_>, name| node.attribute(name).unwrap().parse::<f64>().unwrap();
            let dots = document.descendants().filter(|node| node.has_tag_name("circle"));
            let dots: Vec<_> = dots.map(|node| (pixel(node, "cx"), pixel(node, "cy"))).collect();
            let last = own.len() - 1;
            let upright: Vec<_> = labels::of(&picture, "end").into_iter().map(|((_, y), text)| (y, text)).collect();
            labels::assert_true(&upright, f64::ln, [(own[0], dots[0].1), (own[last], dots[last].1)]);
            let level: Vec<_> = labels::of(&picture, "middle").into_iter().map(|((x, _), text)| (x, text)).collect();
            labels::assert_true(&level, |count| count, [(1.0, dots[0].0), (own.len() as f64, dots[last].0)]);
        }
    }

    #[test]
    fn a_million_evaluations_make_a_small_picture() {
        let time = |number: u64| (!number.is_multiple_of(20)).then(|| 1.0 + (number * 7919 % 10_007) as f64 / 1000.0);
        let many = run((0..200_000).map(time));
        let picture = svg(&[&many, &many, &many]).unwrap();
        assert!(picture.len() < 3 << 20, "{}", picture.len());
        assert!(picture.matches("<circle").count() > 3000);
        let falling = run((0..200_000).rev().map(|time| Some(f64::from(time) + 1.0)));
        assert!(svg(&[&falling]).unwrap().len() < 1 << 20);
    }
}
