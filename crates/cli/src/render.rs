//! Prints errors for people: the fault, its place in the file, and the advice.

use crate::output::note;
use miette::{GraphicalReportHandler, GraphicalTheme, LabeledSpan, NamedSource, Severity, SourceCode};
use std::fmt;
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
    let name = message.file.display().to_string();
    let pointed = Pointed { message, source: NamedSource::new(name, source.text.to_string()) };
    let mut text = String::new();
    let theme = if wants_colours() { GraphicalTheme::unicode() } else { GraphicalTheme::unicode_nocolor() };
    match GraphicalReportHandler::new_themed(theme).with_links(false).render_report(&mut text, &pointed) {
        Ok(()) => text,
        Err(fmt::Error) => message.to_string(),
    }
}

#[allow(clippy::disallowed_methods)] // the command line is where the environment is read
fn wants_colours() -> bool {
    std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none()
}

fn place(message: &Diagnostic) -> String {
    format!("{}:{}:{}", message.file.display(), message.line, message.column)
}

/// A message with the text that it points into.
#[derive(Debug)]
struct Pointed<'a> {
    message: &'a Diagnostic,
    source: NamedSource<String>,
}

impl fmt::Display for Pointed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.message.level, self.message.text)
    }
}

impl std::error::Error for Pointed<'_> {}

impl miette::Diagnostic for Pointed<'_> {
    fn severity(&self) -> Option<Severity> {
        Some(if self.message.level == Level::Error { Severity::Error } else { Severity::Warning })
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.message.remedy.as_ref().map(|remedy| Box::new(remedy) as Box<dyn fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        Some(&self.source)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let span = self.message.span.clone();
        Some(Box::new(std::iter::once(LabeledSpan::new(Some("here".to_string()), span.start, span.len()))))
    }
}
