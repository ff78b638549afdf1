//! Renders one or more tuning runs as one HTML file that contains its styles and pictures.

#[cfg(feature = "plots")]
mod progress;
#[cfg(not(feature = "plots"))]
#[path = "no_progress.rs"]
mod progress;
mod section;

use crate::front::Front;
use crate::plot::PlotError;
use crate::table::TopRow;
use crate::{FailureLine, milliseconds};
use maud::{DOCTYPE, Markup, PreEscaped, html};

/// The content that [`page_html`] renders.
#[derive(Clone, Debug, Default)]
pub struct Page {
    /// The heading.
    pub title: String,
    /// The runs, in the order of their sections.
    pub runs: Vec<RunSection>,
    /// The program that wrote the page, for its last line.
    pub written_by: String,
}

/// One run of a [`Page`].
#[derive(Clone, Debug, Default)]
pub struct RunSection {
    /// Name of the run in legends and headings.
    pub name: String,
    /// The subject, the device and the settings: labels and values.
    pub facts: Vec<(String, String)>,
    /// True if the run optimised time. The best so far is drawn only for such runs.
    pub by_time: bool,
    /// The median time of every evaluation in milliseconds, positive, in the order made; `None` if
    /// it failed.
    pub evaluations: Vec<Option<f64>>,
    /// The best configurations, the best first. Empty if none was correct.
    pub top: Vec<TopRow>,
    /// The front, if the run has several objectives.
    pub front: Front,
    /// Failures by kind, with the commonest message of each.
    pub failures: Vec<FailureLine>,
    /// The findings about each tuning parameter, the most telling first.
    pub parameters: Vec<ParameterSection>,
}

/// The findings about one tuning parameter.
#[derive(Clone, Debug)]
pub struct ParameterSection {
    /// The parameter.
    pub name: String,
    /// The share of the variance of the logarithm of time that this parameter alone explains;
    /// `None` if it cannot be computed.
    pub explained: Option<f64>,
    /// A line for each value that was evaluated, in the user's order.
    pub values: Vec<ValueLine>,
    /// Number of further values, which have no line.
    pub left_out: usize,
}

/// The findings about one value of a parameter.
#[derive(Clone, Debug)]
pub struct ValueLine {
    /// The value.
    pub value: String,
    /// Number of configurations evaluated with it.
    pub evaluated: usize,
    /// Number of correct ones among them.
    pub correct: usize,
    /// The least of their times in milliseconds.
    pub best_ms: Option<f64>,
    /// The median of their times in milliseconds.
    pub median_ms: Option<f64>,
}

const STYLE: &str = include_str!("style.css");

/// Renders `page` as one HTML document. Escapes all text, since messages of compilers may contain
/// anything.
///
/// Cost: linear in the evaluations. Each is a dot in a picture, unless there are thousands.
///
/// # Errors
/// A picture cannot be drawn. This is not known to happen, since it is drawn in memory.
pub fn page_html(page: &Page) -> Result<String, PlotError> {
    let progress = progress::svg(&page.runs)?;
    let sections: Vec<Markup> = page.runs.iter().map(section::render).collect();
    let document = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (page.title) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                h1 { (page.title) }
                (overview(&page.runs))
                figure {
                    (PreEscaped(progress))
                    figcaption { "Each dot is an evaluation, each line the best so far of a run that optimises time. Crosses at the top failed. Of thousands, one stands for those beside it." }
                }
                @for section in &sections { (section) }
                footer { (page.written_by) }
            }
        }
    };
    Ok(document.into_string())
}

/// Returns one line per run with its best configuration.
fn overview(runs: &[RunSection]) -> Markup {
    html! {
        table {
            tr { th { "run" } th.number { "best" } th.number { "95 % interval" } th.number { "speed-up" } th.number { "evaluations" } th.number { "failed" } th { "configuration" } }
            @for run in runs {
                @let failed = run.evaluations.iter().filter(|time| time.is_none()).count();
                tr {
                    td { (run.name) }
                    @match run.top.first() {
                        Some(best) => { (section::measured(best)) }
                        None => { td.number { "none" } td {} td {} }
                    }
                    td.number { (run.evaluations.len()) }
                    td.number { (failed) }
                    td { code { (run.top.first().map_or("", |best| best.config.as_str())) } }
                }
            }
        }
    }
}

/// Returns a time, or a dash.
fn time(time_ms: Option<f64>) -> String {
    time_ms.map_or_else(|| "-".to_string(), milliseconds)
}

#[cfg(test)]
mod tests;
