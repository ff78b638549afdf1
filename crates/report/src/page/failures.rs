//! Failures by cause.

use super::record::RunSection;
use super::{Group, section, text};
use crate::FailureLine;
use crate::format::{counted, cuts};
use maud::{Markup, html};

const NOTE: &str = "Values that explain failures make a constraint. The constraint saves these evaluations next time.";

/// Renders each kind of failure with the values that explain it, and what limits from the best time cut.
pub(super) fn render(group: &Group<'_>) -> Markup {
    let content = group.beside(|_, run| (!run.failures.is_empty() || run.cut.is_some()).then(|| table(run)));
    section("Failures", NOTE, content)
}

fn table(run: &RunSection) -> Markup {
    html! {
        div.scroll {
            table {
                tr { th { "kind" } th.number { "configurations" } th { "cause" } th { "commonest message" } }
                @for line in &run.failures {
                    tr {
                        td { (line.kind.word()) }
                        td.number { (line.count) }
                        td { (cause(run, line)) }
                        td { pre { (text::message(&line.message)) } }
                    }
                }
                @if let Some(cut) = &run.cut {
                    tr { td { "cut" } td.number { (cut.count) } td { "-" } td { (cuts(cut)) ". They did not fail." } }
                }
            }
        }
    }
}

/// Returns the values that explain failures of a kind, with the constraint that excludes them.
fn cause(run: &RunSection, line: &FailureLine) -> Markup {
    let found = run.causes.iter().find(|cause| cause.status == line.kind);
    let Some((found, cause)) = found.and_then(|found| Some((found, found.cause.as_ref()?))) else {
        return html! { "-" };
    };
    let covered = if found.covered == found.count { "all".to_string() } else { found.covered.to_string() };
    let sampled = if found.count < line.count { format!(" of {} looked at", found.count) } else { String::new() };
    let besides = match found.correct {
        0 => String::new(),
        number => format!(", as {} have", counted(number, "correct one")),
    };
    html! {
        (covered) (sampled) " have " (text::name(&cause.to_string())) (besides)
        br;
        code { (text::name(&cause.constraint())) }
    }
}
