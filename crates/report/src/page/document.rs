//! The page as one HTML document.

use super::slices::Slice;
use super::{Form, Group, Page};
use super::{
    best, data, embedded, environment, evaluations, failures, importance, notes, overview, places, progress, samples,
    slices, spent, text, workers,
};
use crate::plot::PlotError;
use maud::{DOCTYPE, Markup, PreEscaped, html};

const STYLE: &str = include_str!("style.css");

/// A section of the page, about runs of one subject.
type Section = fn(&Group<'_>) -> Markup;

/// The sections, in their order. Each returns nothing if it has nothing to say.
const SECTIONS: [Section; 12] = [
    overview::render,
    progress::render,
    best::render,
    importance::render,
    slices::render,
    evaluations::render,
    samples::render,
    spent::render,
    workers::render,
    failures::render,
    notes::render,
    environment::render,
];

/// Renders `page` as one HTML document. Escapes all text, since names and messages may contain
/// anything.
///
/// Cost: linear in the evaluations. Beyond [`EVALUATIONS`](super::EVALUATIONS), the page holds only some of them.
///
/// # Errors
/// The static picture cannot be drawn. This is not known to happen, since it is drawn in memory.
pub fn page_html(page: &Page, form: Form) -> Result<String, PlotError> {
    let form = if embedded::IS_PRESENT { form } else { Form::Static };
    let slices: Vec<Vec<Slice>> = page.runs.iter().map(Slice::all).collect();
    let groups = Group::all(page, &slices, form)?;
    let several = groups.len() > 1;
    let document = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (text::name(&page.title)) }
                style { (PreEscaped(STYLE)) }
                @if form == Form::Interactive { (places::without_script()) }
            }
            body {
                h1 { (text::name(&page.title)) }
                @for group in &groups {
                    div.group {
                        @if several { h2.subject { (group.subject().title()) } }
                        @for section in SECTIONS { (section(group)) }
                    }
                }
                @if form == Form::Interactive { (embedded::scripts(&data::packed(page, &slices))) }
                footer { (page.written_by) (embedded::credit(form)) }
            }
        }
    };
    Ok(document.into_string())
}
