//! Shows the parameters that matter.

use super::record::RunSection;
use super::{Group, places, section, text};
use maud::{Markup, html};
use tunesmith_explain::{DOUBTFUL, FEWEST, Importance, Scale};

const NOTE: &str = "The share of the variance that each parameter explains, by a functional analysis of variance over \
                    all combinations of its values. A parameter near 0 can be fixed, and the space shrinks.";

/// Renders the shares of the parameters and of pairs of them.
pub(super) fn render(group: &Group<'_>) -> Markup {
    let content = group.beside(|at, run| {
        let found = &run.importance;
        let Some(unexplained) = found.unexplained else { return few(run) };
        Some(html! {
            @if group.is_interactive() {
                (places::picture("importance", &[at], "Each parameter alone, and its interactions with others."))
            }
            (table(found))
            p.note {
                "Shares of the variance of " (scale(found)) (text::name(&run.subject.objective.label())) ". Left to noise, or to what was not tried: "
                (percent(unexplained)) "."
                @if unexplained > DOUBTFUL { " Do not trust the other shares." }
            }
        })
    });
    section("Importance", NOTE, content)
}

fn few(run: &RunSection) -> Option<Markup> {
    let reason = format!("Unknown: that takes {FEWEST} correct evaluations with different values.");
    (!run.parameters.is_empty()).then(|| html! { p { (reason) } })
}

fn scale(found: &Importance) -> &'static str {
    if found.scale == Some(Scale::Plain) { "" } else { "the logarithm of " }
}

fn table(found: &Importance) -> Markup {
    html! {
        div.scroll {
            table {
                tr { th { "parameter" } th.number { "alone" } th.number { "with interactions" } }
                @for share in &found.importance {
                    tr { td { code { (text::name(&share.parameter)) } } td.number { (percent(share.share)) } td.number { (percent(share.with_interactions)) } }
                }
                @for pair in found.interactions.iter().filter(|pair| pair.share >= 0.01) {
                    @let names = pair.parameters.each_ref().map(|name| text::name(name)).join(" with ");
                    tr { td { code { (names) } } td.number { "jointly" } td.number { (percent(pair.share)) } }
                }
            }
        }
    }
}

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}
