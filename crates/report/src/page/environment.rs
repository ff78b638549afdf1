//! The conditions of a run, and how to repeat it.

use super::{Group, section, text};
use maud::{Markup, html};

/// Renders labels and values, and the commands that repeat the run.
pub(super) fn render(group: &Group<'_>) -> Markup {
    let content = group.beside(|_, run| {
        let commands: Vec<&str> = run.reproduce.iter().filter_map(|command| text::copied(command)).collect();
        Some(html! {
            @if !commands.is_empty() { pre.copied { (commands.join("\n")) } }
            dl { @for (label, value) in &run.environment { dt { (text::name(label)) } dd { (text::name(value)) } } }
        })
    });
    section("Environment, and how to repeat the run", "", content)
}
