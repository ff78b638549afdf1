//! Shows notes on measurements: troubles of the device, and settings that it did not take.

use super::record::RunSection;
use super::{Group, section, text};
use maud::{Markup, html};

const NOTE: &str = "What happened to the device while correct configurations were measured.";

/// Renders the notes of each run.
pub(super) fn render(group: &Group<'_>) -> Markup {
    let content = group.beside(|_, run| (!run.notes.is_empty()).then(|| table(run)));
    section("Notes", NOTE, content)
}

fn table(run: &RunSection) -> Markup {
    html! {
        div.scroll {
            table {
                tr { th.number { "evaluations" } th.number { "first" } th { "note" } }
                @for line in &run.notes {
                    tr {
                        td.number { (line.count) }
                        td.number { (line.first) }
                        td { (text::message(&line.note)) }
                    }
                }
            }
        }
    }
}
