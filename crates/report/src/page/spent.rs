//! Shows where the time went.

use super::record::Spent;
use super::{Group, places, section};
use crate::format::duration;
use maud::{Markup, html};

const NOTE: &str = "Wall time by what it ended with. Time that failures took is time that a constraint would save.";

/// Renders the wall time by result, and the activities within.
pub(super) fn render(group: &Group<'_>) -> Markup {
    let content = group.beside(|at, run| {
        let spent = &run.spent;
        let total: f64 = spent.results.iter().map(|(_, seconds)| seconds).sum();
        (total > 0.0).then(|| {
            html! {
                @if group.is_interactive() { (places::picture("spent", &[at], "Wall time by what it ended with.")) }
                (table(spent, total))
            }
        })
    });
    section("Where the time went", NOTE, content)
}

fn table(spent: &Spent, total: f64) -> Markup {
    let share = |seconds: f64| format!("{:.1} %", 100.0 * seconds / total);
    html! {
        div.scroll {
            table {
                tr { th { "wall time" } th.number { "" } th.number { "share" } }
                @for (label, seconds) in &spent.results {
                    tr { td { (label) } td.number { (duration(*seconds)) } td.number { (share(*seconds)) } }
                }
                tr { td { "total" } td.number { (duration(total)) } td {} }
                @if !spent.activities.is_empty() { tr { th { "within, partly in parallel" } th {} th {} } }
                @for (label, seconds) in &spent.activities {
                    tr { td { (label) } td.number { (duration(*seconds)) } td {} }
                }
            }
        }
    }
}
