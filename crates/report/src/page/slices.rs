//! The values of each parameter: how often each was tried, and how it did.

use super::record::{ParameterValues, RunSection};
use super::{Group, places, section, text};
use crate::format::amount;
use maud::{Markup, html};
use tunesmith_core::Objective;

/// Maximum number of a parameter's values that the page lists.
const VALUES: usize = 100;

/// The findings about one tuning parameter.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Slice {
    /// A line for each value that was evaluated, in the user's order.
    pub(super) lines: Vec<Line>,
    /// Number of further values, which have no line.
    pub(super) left_out: usize,
}

/// The findings about one value of a parameter.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Line {
    /// The position of the value in its list.
    pub(super) place: usize,
    /// Number of configurations evaluated with it.
    pub(super) evaluated: usize,
    /// Number of them that have a value of the objective.
    pub(super) valued: usize,
    /// The least value of the objective, the quartiles and the greatest value. `None` without any.
    pub(super) spread: Option<[f64; 5]>,
}

impl Line {
    fn best(&self, objective: &Objective) -> Option<f64> {
        self.spread.map(|[least, .., greatest]| if objective.is_better(greatest, least) { greatest } else { least })
    }
}

const NOTE: &str = "Each value of a parameter over all configurations that have it: the median, the middle half and \
                    the ends. The ends show what the value can do, the median what it does to others.";

/// Renders a table for each parameter, the most important first.
pub(super) fn render(group: &Group<'_>) -> Markup {
    let drawn = group.is_interactive().then(|| pictures(group));
    let tables = group.beside(|at, run| {
        Some(html! { div.tables { @for which in order(run) { (details(run, which, &group.slices[at][which])) } } })
    });
    let content = tables.map(|tables| html! { @if let Some(drawn) = &drawn { (drawn) } (tables) });
    section("Values of each parameter", NOTE, content)
}

/// Returns the places of the pictures: one for each parameter that varies, and the two that show
/// several parameters at once.
fn pictures(group: &Group<'_>) -> Markup {
    let runs: Vec<usize> = group.runs.iter().map(|(at, _)| *at).collect();
    let mut names: Vec<&str> = Vec::new();
    for (_, run) in &group.runs {
        let free = order(run).into_iter().filter(|at| run.parameters[*at].values.len() > 1);
        let own = free.map(|at| run.parameters[at].name.as_str());
        let new: Vec<&str> = own.filter(|name| !names.contains(name)).collect();
        names.extend(new);
    }
    let both = |at: usize| {
        html! {
            (places::picture("heatmap", &[at], "Two parameters at once. Empty cells were not tried, or failed."))
            (places::picture("parallel", &[at], "Each line is a configuration. The filters of the table of all evaluations choose which are drawn."))
        }
    };
    html! {
        div.slices { @for name in names { (places::picture_of_parameter("slices", &runs, &text::name(name))) } }
        @if let Some(both) = group.beside(|at, run| (run.parameters.len() > 1).then(|| both(at))) { (both) }
    }
}

/// Returns the positions of the parameters, the most important first.
fn order(run: &RunSection) -> Vec<usize> {
    let share = |at: usize| {
        let found = run.importance.importance.iter().find(|share| share.parameter == run.parameters[at].name);
        found.map_or(-1.0, |share| share.with_interactions)
    };
    let mut order: Vec<usize> = (0..run.parameters.len()).collect();
    order.sort_by(|a, b| share(*b).total_cmp(&share(*a)));
    order
}

fn details(run: &RunSection, at: usize, slice: &Slice) -> Markup {
    let (parameter, objective) = (&run.parameters[at], &run.subject.objective);
    let shown = |value: Option<f64>| value.map_or_else(|| "-".to_string(), |value| amount(value, objective));
    html! {
        details {
            summary { code { (text::name(&parameter.name)) } }
            div.scroll {
                table {
                    tr { th { "value" } th.number { "evaluated" } th.number { "with a result" } th.number { "best" } th.number { "median" } }
                    @for line in &slice.lines {
                        tr {
                            td { code { (text::name(&parameter.values[line.place])) } }
                            td.number { (line.evaluated) }
                            td.number { (line.valued) }
                            td.number { (shown(line.best(objective))) }
                            td.number { (shown(line.spread.map(|spread| spread[2]))) }
                        }
                    }
                    @if slice.left_out > 0 {
                        tr { td { (slice.left_out) " more values, none of them among the best" } }
                    }
                }
            }
        }
    }
}

impl Slice {
    /// Returns the findings about every parameter of `run`. Of many values, those with the best
    /// results have lines.
    ///
    /// Costs sorting the evaluations once.
    pub(super) fn all(run: &RunSection) -> Vec<Self> {
        let values = run.evaluations.values.iter().enumerate();
        let mut ascending: Vec<(usize, f64)> = values.filter_map(|(at, value)| Some((at, (*value)?))).collect();
        ascending.sort_unstable_by(|a, b| a.1.total_cmp(&b.1));
        let parameters = run.parameters.iter().zip(&run.evaluations.columns);
        let slice = |(parameter, column): (&ParameterValues, &Vec<u32>)| {
            Self::new(column, &ascending, parameter.values.len(), &run.subject.objective)
        };
        parameters.map(slice).collect()
    }

    /// Returns the findings about a parameter with `count` values and this column, from the
    /// evaluations with a value in ascending order.
    fn new(column: &[u32], ascending: &[(usize, f64)], count: usize, objective: &Objective) -> Self {
        let (mut evaluated, mut groups) = (vec![0; count], vec![Vec::new(); count]);
        for place in column {
            evaluated.get_mut(*place as usize).into_iter().for_each(|number| *number += 1);
        }
        for (at, value) in ascending {
            let group = column.get(*at).and_then(|place| groups.get_mut(*place as usize));
            group.into_iter().for_each(|group| group.push(*value));
        }
        let line = |(place, group): (usize, Vec<f64>)| Line {
            place,
            evaluated: evaluated[place],
            valued: group.len(),
            spread: spread(&group),
        };
        let tried = groups.into_iter().enumerate().filter(|(place, _)| evaluated[*place] > 0);
        let mut lines: Vec<Line> = tried.map(line).collect();
        let left_out = lines.len().saturating_sub(VALUES);
        if left_out > 0 {
            let rank = |line: &Line| line.best(objective).map_or(f64::INFINITY, |best| objective.score(best));
            lines.sort_by(|a, b| rank(a).total_cmp(&rank(b)));
            lines.truncate(VALUES);
            lines.sort_by_key(|line| line.place);
        }
        Self { lines, left_out }
    }
}

/// Returns the least of ascending values, the quartiles and the greatest.
fn spread(values: &[f64]) -> Option<[f64; 5]> {
    let last = values.len().checked_sub(1)?;
    let at = |share: f64| {
        let place = share * last as f64;
        let (low, high) = (values[place.floor() as usize], values[place.ceil() as usize]);
        low + (high - low) * place.fract()
    };
    Some([0.0, 0.25, 0.5, 0.75, 1.0].map(at))
}

#[cfg(test)]
mod tests {
    use super::super::record::Evaluations;
    use super::*;

    fn run(values: Vec<Option<f64>>, columns: Vec<Vec<u32>>, count: usize) -> RunSection {
        let evaluations = Evaluations { values, columns: columns.clone(), ..Evaluations::default() };
        let values = (0..count).map(|value| value.to_string()).collect();
        let parameter = ParameterValues { name: "TILE".to_string(), values };
        RunSection { evaluations, parameters: vec![parameter; columns.len()], ..RunSection::default() }
    }

    #[test]
    fn each_value_that_was_tried_has_its_counts_and_its_spread() {
        let values = vec![Some(4.0), None, Some(2.0), Some(8.0), Some(1.0)];
        let slices = Slice::all(&run(values, vec![vec![0, 0, 0, 0, 2], vec![9; 5]], 3));
        let first = Line { place: 0, evaluated: 4, valued: 3, spread: Some([2.0, 3.0, 4.0, 6.0, 8.0]) };
        let last = Line { place: 2, evaluated: 1, valued: 1, spread: Some([1.0; 5]) };
        assert_eq!(slices[0], Slice { lines: vec![first, last], left_out: 0 });
        assert_eq!(slices[1].lines, [], "unlisted values have no line");
    }

    #[test]
    fn of_many_values_the_best_are_listed_in_the_users_order() {
        let count = 3 * VALUES;
        let values = (0..count).map(|at| Some((count - at) as f64)).collect();
        let slices = Slice::all(&run(values, vec![(0..count as u32).collect()], count));
        let places: Vec<usize> = slices[0].lines.iter().map(|line| line.place).collect();
        assert_eq!((places, slices[0].left_out), ((2 * VALUES..count).collect(), 2 * VALUES));
    }
}
