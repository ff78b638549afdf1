//! Shows the results: the best of each run, the verdict, and the best configuration for a build.

use super::record::{BuildText, RunSection};
use super::{Group, best, section, text};
use crate::table::gain_header;
use maud::{Markup, html};

/// Renders one line per run, the verdicts and the configuration to copy.
pub(super) fn render(group: &Group<'_>) -> Markup {
    let content = html! {
        @if group.is_interactive() {
            noscript { p.note { "The pictures and the table of all evaluations need JavaScript." } }
        }
        (table(group))
        @for (_, run) in &group.runs {
            @for verdict in &run.verdict {
                p { @if group.runs.len() > 1 { (text::name(&run.name)) ": " (verdict) } @else { (sentence(verdict)) } "." }
            }
        }
        @if let Some(builds) = group.beside(|_, run| builds(run)) { (builds) }
    };
    section("Result", "", Some(content))
}

fn table(group: &Group<'_>) -> Markup {
    let has_value = |(_, run): &(usize, &RunSection)| run.top.iter().any(|row| row.value.is_some());
    html! {
        div.scroll {
            table {
                tr { th { "run" } th.number { "best" } th.number { "95 % interval" } th.number { (gain_header(group.runs.iter().any(has_value))) } th.number { "evaluations" } th.number { "failed" } th { "configuration" } }
                @for (_, run) in &group.runs {
                    @let failed = run.evaluations.failures.iter().flatten().count();
                    tr {
                        td { (text::name(&run.name)) }
                        @match run.top.first() {
                            Some(row) => { (best::measured(row)) }
                            None => { td.number { "none" } td {} td {} }
                        }
                        td.number { (run.evaluations.len()) }
                        td.number { (failed) }
                        td { code { (run.top.first().map(|row| text::name(&row.config)).unwrap_or_default()) } }
                    }
                }
            }
        }
    }
}

/// Renders the best configuration in the forms that builds read.
fn builds(run: &RunSection) -> Option<Markup> {
    let texts: Vec<(&BuildText, &str)> =
        run.builds.iter().filter_map(|build| Some((build, text::copied(&build.text)?))).collect();
    if texts.is_empty() {
        return None;
    }
    Some(html! {
        h3 { "The best configuration for a build" }
        @for (at, (build, text)) in texts.iter().enumerate() {
            details open[at == 0] { summary { (build.form) } pre.copied { (text) } }
        }
    })
}

/// Returns a text with a capital letter at its beginning.
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
