//! The table of all evaluations.

use super::{Group, places, section};
use maud::{Markup, html};

/// Renders the places of tables that sort and filter, one under the other: each has a column for
/// every parameter.
pub(super) fn render(group: &Group<'_>) -> Markup {
    let shown: Vec<_> = group.runs.iter().filter(|(_, run)| !run.evaluations.is_empty()).collect();
    let content = (group.is_interactive() && !shown.is_empty()).then(|| {
        html! {
            @for (at, run) in &shown {
                @if group.runs.len() > 1 { h3 { (super::text::name(&run.name)) } }
                (places::table(*at))
            }
        }
    });
    html! { div.script-only { (section("All evaluations", "", content)) } }
}
