//! Prints errors for people: the fault, its place in the file, and the advice.

use crate::output::note;
use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Group, Level as Rendered, Renderer, Snippet};
use std::io::IsTerminal;
use tunesmith::{Diagnostic, Error, LeftOut, Level, SourceFile};

/// Prints an error to standard error.
pub(crate) fn error(error: &Error) {
    match error.problem() {
        Some(problem) => messages(&problem.messages, Some(&problem.source_file)),
        None => {
            note(&format!("error: {error}"));
            if let Some(remedy) = error.remedy() {
                note(&format!("  help: {remedy}"));
            }
        }
    }
}

/// Warns of a recording that is left out of a history.
pub(crate) fn left_out(left_out: &LeftOut) {
    note(&format!("warning: {left_out}\n  help: {}", left_out.remedy()));
}

/// Prints messages about a problem file to standard error.
pub(crate) fn messages(messages: &[Diagnostic], source: Option<&SourceFile>) {
    for message in messages {
        note(message_text(message, source).trim_end());
    }
}

fn message_text(message: &Diagnostic, source: Option<&SourceFile>) -> String {
    let is_whole_file = message.span == (0..0);
    let Some(source) = source.filter(|source| !is_whole_file && message.span.end <= source.text.len()) else {
        let place = if is_whole_file { message.file.display().to_string() } else { place(message) };
        let help = message.remedy.as_ref().map(|remedy| format!("\n  help: {remedy}")).unwrap_or_default();
        return format!("{}: {place}: {}{help}", message.level, message.text);
    };
    let renderer = if wants_colours() { Renderer::styled() } else { Renderer::plain() };
    renderer.decor_style(DecorStyle::Unicode).render(&[pointed(message, source)])
}

/// Returns a message with the text it points into.
fn pointed<'a>(message: &'a Diagnostic, source: &'a SourceFile) -> Group<'a> {
    let level = if message.level == Level::Error { Rendered::ERROR } else { Rendered::WARNING };
    let place = AnnotationKind::Primary.span(message.span.clone()).label("here");
    let snippet = Snippet::source(&*source.text).path(message.file.to_string_lossy()).annotation(place);
    let group = level.primary_title(message.text.as_str()).element(snippet);
    match &message.remedy {
        Some(remedy) => group.element(Rendered::HELP.message(remedy.as_str())),
        None => group,
    }
}

#[allow(clippy::disallowed_methods)] // the command line is where the environment is read
fn wants_colours() -> bool {
    std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none()
}

fn place(message: &Diagnostic) -> String {
    format!("{}:{}:{}", message.file.display(), message.line, message.column)
}
