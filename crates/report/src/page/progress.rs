//! Shows the way of the search: the best so far, over evaluations and over time, and every
//! evaluation by its status.

use super::{Group, places, section};
use maud::{Markup, PreEscaped, html};

/// Renders the places of both pictures, which all runs of the group share. A static page has one
/// picture.
pub(super) fn render(group: &Group<'_>) -> Markup {
    let runs: Vec<usize> = group.runs.iter().map(|(at, _)| *at).collect();
    let is_empty = group.runs.iter().all(|(_, run)| run.evaluations.is_empty());
    let content = match group.is_interactive() {
        true if !is_empty => Some(html! {
            (places::picture("convergence", &runs, "The best so far. A curve that still falls at its end says that more evaluations would help."))
            (places::picture("evaluations", &runs, "Every evaluation by its status: correct ones at their value, failed ones at the edge. Point at one to see its configuration."))
            (kept(group))
        }),
        false if !group.picture.is_empty() => Some(html! {
            figure.card {
                (PreEscaped(&group.picture))
                figcaption { "Each dot is an evaluation, each line the best so far of a run. Crosses at the top failed. Of thousands, one stands for those beside it." }
            }
        }),
        _ => None,
    };
    section("Progress", "", content)
}

/// Says how many of the evaluations the page holds.
fn kept(group: &Group<'_>) -> Markup {
    let (kept, all) = group
        .runs
        .iter()
        .fold((0, 0), |(kept, all), (_, run)| (kept + run.evaluations.kept.len(), all + run.evaluations.len()));
    html! {
        @if kept < all {
            p.note {
                "The page holds " (kept) " of " (crate::format::count(&all.to_string())) " evaluations: the steps of \
                 the best so far, the best, and an even sample of the others. The curves and the values of single \
                 parameters are those of all evaluations."
            }
        }
    }
}
