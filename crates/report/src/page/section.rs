//! Renders the part of the page about one run.

use super::{ParameterSection, RunSection, time};
use crate::format::{milliseconds, quantity, significant};
use crate::table::TopRow;
use maud::{Markup, html};

/// Renders facts, the best configurations, parameters and failures of `run`.
pub(super) fn render(run: &RunSection) -> Markup {
    html! {
        section {
            h2 { (run.name) }
            dl { @for (label, value) in &run.facts { dt { (label) } dd { (value) } } }
            @if run.top.is_empty() { p { "No configuration was correct." } } @else { (top(&run.top)) }
            (run.front.render())
            (parameters(&run.parameters))
            (failures(run))
        }
    }
}

/// Returns the cells of a configuration's time, interval and speed-up.
pub(super) fn measured(row: &TopRow) -> Markup {
    let (low, high) = row.ci95_ms;
    html! {
        td.number { (milliseconds(row.time_ms)) }
        td.number { (milliseconds(low)) " to " (milliseconds(high)) }
        td.number { (row.speedup.map_or_else(|| "-".to_string(), |speedup| format!("{}x", significant(speedup)))) }
    }
}

fn top(rows: &[TopRow]) -> Markup {
    let objective = rows.iter().any(|row| row.value.is_some());
    html! {
        h3 { "The best configurations" }
        table {
            tr { th.number { "#" } th.number { "time" } th.number { "95 % interval" } th.number { "speed-up" } @if objective { th.number { "objective" } } th { "configuration" } }
            @for (place, row) in rows.iter().enumerate() {
                tr {
                    td.number { (place + 1) }
                    (measured(row))
                    @if objective { td.number { (row.value.map_or_else(String::new, quantity)) } }
                    td { code { (row.config) } }
                }
            }
        }
    }
}

fn parameters(parameters: &[ParameterSection]) -> Markup {
    html! {
        h3 { "Parameters" }
        p.note {
            "The share of the variance of the logarithm of time that a parameter alone explains, among the evaluated \
                 configurations. "
            "A search evaluates mostly fast configurations, so that this holds for them rather than for the whole \
                 space."
        }
        @for parameter in parameters {
            details {
                summary {
                    code { (parameter.name) }
                    @match parameter.explained {
                        Some(share) => { " " meter min="0" max="1" value=(format!("{share:.3}")) {} " " (format!("{:.0} %", 100.0 * share)) }
                        None => { " -" }
                    }
                }
                table {
                    tr { th { "value" } th.number { "evaluated" } th.number { "correct" } th.number { "best" } th.number { "median" } }
                    @for line in &parameter.values {
                        tr {
                            td { code { (line.value) } }
                            td.number { (line.evaluated) }
                            td.number { (line.correct) }
                            td.number { (time(line.best_ms)) }
                            td.number { (time(line.median_ms)) }
                        }
                    }
                    @if parameter.left_out > 0 {
                        tr { td { (parameter.left_out) " more values, none of them among the best" } }
                    }
                }
            }
        }
    }
}

fn failures(run: &RunSection) -> Markup {
    html! {
        @if !run.failures.is_empty() {
            h3 { "Failures" }
            table {
                tr { th { "kind" } th.number { "configurations" } th { "commonest message" } }
                @for line in &run.failures {
                    tr { td { (line.kind.word()) } td.number { (line.count) } td { pre { (line.message) } } }
                }
            }
        }
    }
}
