//! The places of a page that a script fills.

use maud::{Markup, html};

/// Returns the place of the picture `name` of the runs at these positions on the page.
pub(super) fn picture(name: &str, runs: &[usize], caption: &str) -> Markup {
    place(name, runs, None, caption)
}

/// Returns the place of the picture `name` of one parameter, named as in the data.
pub(super) fn picture_of_parameter(name: &str, runs: &[usize], parameter: &str) -> Markup {
    place(name, runs, Some(parameter), parameter)
}

fn place(name: &str, runs: &[usize], parameter: Option<&str>, caption: &str) -> Markup {
    let runs: Vec<String> = runs.iter().map(usize::to_string).collect();
    html! {
        figure.card.drawn data-picture=(name) data-runs=(runs.join(" ")) data-parameter=[parameter] {
            div.controls {}
            div.scroll { div.plot {} }
            figcaption { (caption) }
        }
    }
}

/// Returns the place of a table of all evaluations of the run at a position.
pub(super) fn table(run: usize) -> Markup {
    html! { div.drawn data-table=(run) { div.controls {} div.scroll {} div.controls {} } }
}

/// Returns what a browser without scripts shows in place of all that.
pub(super) fn without_script() -> Markup {
    html! { noscript { style { ".drawn, .script-only { display: none; }" } } }
}
