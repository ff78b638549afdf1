//! Renders one or more tuning runs as one HTML file that needs nothing from elsewhere.
//!
//! The page is a row of sections (`document`), each in a file of its own. A section renders as HTML
//! what needs no script. Where a picture belongs it leaves a place ([`places`]). In a
//! [`Form::Interactive`] page the data stand once, as columns (`data`), and our script
//! (`script/*.js`) draws them with plotly.js, which the page carries compressed (`embedded`).

mod best;
mod curve;
mod data;
mod document;
mod embedded;
mod environment;
mod evaluations;
mod failures;
mod importance;
mod notes;
mod overview;
mod places;
mod progress;
mod record;
mod samples;
mod slices;
mod spent;
mod text;
mod workers;
mod written;

#[cfg(feature = "plots")]
mod svg;
#[cfg(not(feature = "plots"))]
#[path = "no_svg.rs"]
mod svg;

pub use document::page_html;
pub use record::{
    BuildText, EVALUATIONS, Evaluations, NoteLine, ParameterValues, RunSection, SampleSet, Samples, Spent, Subject,
    WorkerLine,
};
pub use written::{RunNotes, Written};

use crate::plot::PlotError;
use maud::{Markup, html};
use slices::Slice;

/// The content that [`page_html`] renders.
#[derive(Clone, Debug, Default)]
pub struct Page {
    /// The heading.
    pub title: String,
    /// The runs, in the order given.
    pub runs: Vec<RunSection>,
    /// The program that wrote the page, for its last line.
    pub written_by: String,
}

/// The content of a page beside its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// The data, and the scripts that draw and sort them: a file for people.
    Interactive,
    /// One picture and no script: for places that show many pages, such as notebooks.
    Static,
}

/// Runs of one subject. Only they share tables and axes.
struct Group<'a> {
    form: Form,
    /// The runs, with their positions on the page.
    runs: Vec<(usize, &'a RunSection)>,
    /// The findings about each parameter of every run of the page.
    slices: &'a [Vec<Slice>],
    /// The picture of a static page.
    picture: String,
}

impl<'a> Group<'a> {
    /// Returns the runs of `page` by their subjects, in the order of the page.
    fn all(page: &'a Page, slices: &'a [Vec<Slice>], form: Form) -> Result<Vec<Self>, PlotError> {
        let mut groups: Vec<Self> = Vec::new();
        for (at, run) in page.runs.iter().enumerate() {
            match groups.iter_mut().find(|group| group.subject() == &run.subject) {
                Some(group) => group.runs.push((at, run)),
                None => groups.push(Self { form, runs: vec![(at, run)], slices, picture: String::new() }),
            }
        }
        for group in groups.iter_mut().filter(|_| form == Form::Static) {
            let runs: Vec<&RunSection> = group.runs.iter().map(|(_, run)| *run).collect();
            group.picture = svg::svg(&runs)?;
        }
        Ok(groups)
    }

    fn subject(&self) -> &'a Subject {
        &self.runs[0].1.subject
    }

    fn is_interactive(&self) -> bool {
        self.form == Form::Interactive
    }

    /// Renders something about each run, side by side, under the names of the runs if there are
    /// several. Leaves out runs about which there is nothing to say.
    fn beside(&self, render: impl Fn(usize, &RunSection) -> Option<Markup>) -> Option<Markup> {
        let parts = self.runs.iter().filter_map(|(at, run)| Some((run, render(*at, run)?)));
        let parts: Vec<_> = parts.collect();
        if parts.is_empty() {
            return None;
        }
        Some(html! {
            div.beside {
                @for (run, part) in &parts {
                    article {
                        @if self.runs.len() > 1 { h3 { (text::name(&run.name)) } }
                        (part)
                    }
                }
            }
        })
    }
}

/// Returns a section with its heading, or nothing without content.
fn section(heading: &str, note: &str, content: Option<Markup>) -> Markup {
    html! {
        @if let Some(content) = content {
            section {
                h2 { (heading) }
                @if !note.is_empty() { p.note { (note) } }
                (content)
            }
        }
    }
}

#[cfg(test)]
mod tests;
