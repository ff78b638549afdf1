//! The best configurations of each run.

use super::{Group, section, text};
use crate::format::{gained, milliseconds};
use crate::table::{TopRow, gain_header};
use maud::{Markup, html};

/// Renders the best configurations and the fronts.
pub(super) fn render(group: &Group<'_>) -> Markup {
    let content = group.beside(|_, run| {
        Some(html! {
            @if run.top.is_empty() { p { "No configuration was correct." } } @else { (top(&run.top)) }
            (run.front.render())
        })
    });
    section("The best configurations", "", content)
}

fn top(rows: &[TopRow]) -> Markup {
    let objective = rows.iter().any(|row| row.value.is_some());
    html! {
        div.scroll {
            table {
                tr { th.number { "#" } th.number { "time" } th.number { "95 % interval" } th.number { (gain_header(objective)) } @if objective { th.number { "objective" } } th { "configuration" } }
                @for (place, row) in rows.iter().enumerate() {
                    tr {
                        td.number { (place + 1) }
                        (measured(row))
                        @if objective { td.number { (row.value.clone().unwrap_or_default()) } }
                        td { code { (text::name(&row.config)) } }
                    }
                }
            }
        }
    }
}

/// Returns the cells of a configuration's time, its interval and its gain over the default.
pub(super) fn measured(row: &TopRow) -> Markup {
    html! {
        td.number { (milliseconds(row.time_ms)) }
        td.number { (row.interval()) }
        td.number { (row.gain.map_or_else(|| "-".to_string(), gained)) }
    }
}
