//! The work of several devices over time.

use super::record::{RunSection, WorkerLine};
use super::{Group, section, text};
use crate::format::{counted, duration};
use maud::{Markup, html};

const NOTE: &str = "A line for each worker from the start of the run to its end. It is dark where the worker had a \
                    request. A gap is a worker that was not there, or had nothing to do.";

/// Number of shades between idle and busy.
const SHADES: f64 = 4.0;

/// Renders the time line of each worker.
pub(super) fn render(group: &Group<'_>) -> Markup {
    let content = group.beside(|_, run| (!run.workers.is_empty()).then(|| table(run)));
    section("Workers", NOTE, content)
}

fn table(run: &RunSection) -> Markup {
    let seconds = run.evaluations.clocks.iter().copied().fold(0.0, f64::max);
    let busy: f64 = run.workers.iter().map(|worker| worker.busy).sum();
    let times = if seconds > 0.0 { busy / seconds } else { 0.0 };
    let compilers = run.workers.iter().filter(|worker| worker.compiled.is_some()).count();
    let (busy, seconds) = (duration(busy), duration(seconds));
    html! {
        p { (counted(run.workers.len() - compilers, "worker")) " did " (busy) " of work in " (seconds) ", "
            (format!("{times:.1}")) " times one device."
            @if compilers > 0 { " " (counted(compilers, "further worker")) " only compiled." }
        }
        div.scroll {
            table.workers {
                tr { th { "worker" } th.number { "measured" } th.number { "failed" } th { "time" } }
                @for worker in &run.workers {
                    tr {
                        td { (text::name(&worker.name)) }
                        @if let Some(compiled) = worker.compiled {
                            td colspan="3" { "only compiles: " (counted(compiled, "configuration")) " for the others" }
                        } @else {
                            td.number { (worker.measurements) }
                            td.number { (worker.failed) }
                            td.lane { (lane(worker)) }
                        }
                    }
                }
            }
        }
    }
}

/// Draws when the worker was busy. Equal neighbours are one rectangle.
fn lane(worker: &WorkerLine) -> Markup {
    let shade = |part: &f64| (part.clamp(0.0, 1.0) * SHADES).ceil() as u32;
    let shades: Vec<u32> = worker.parts.iter().map(shade).collect();
    let mut from = 0;
    let runs = shades.chunk_by(|a, b| a == b).map(|run| {
        from += run.len();
        (from - run.len(), run.len(), f64::from(run[0]) / SHADES)
    });
    let runs: Vec<(usize, usize, f64)> = runs.filter(|(.., shade)| *shade > 0.0).collect();
    html! {
        svg viewBox=(format!("0 0 {} 10", shades.len())) preserveAspectRatio="none" role="img" {
            title { (worker.name) ": busy for " (duration(worker.busy)) }
            @for (from, length, shade) in runs {
                rect x=(from) y="0" width=(length) height="10" fill-opacity=(shade) {}
            }
        }
    }
}
