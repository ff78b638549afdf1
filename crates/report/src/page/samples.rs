//! The samples of the leaders.

use super::{Group, places, section};
use maud::{Markup, html};

/// Renders the places of the distributions.
pub(super) fn render(group: &Group<'_>) -> Markup {
    let content = group.beside(|at, run| {
        let is_drawn = group.is_interactive() && !run.samples.configs.is_empty();
        let origin = if run.samples.is_final { "the final re-measurement" } else { "the search" };
        let caption = format!(
            "Every sample of the leaders in {origin}, numbered as in the table of the best. Where two overlap, neither \
             may be faster."
        );
        is_drawn.then(|| html! { (places::picture("samples", &[at], &caption)) })
    });
    html! { div.script-only { (section("Samples of the leaders", "", content)) } }
}
