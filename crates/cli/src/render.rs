//! Prints errors for people: the fault, its place in the file, and the advice.

use crate::output::{drawn, note, wants_colours};
use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Group, Level as Rendered, Renderer, Snippet};
use tunesmith::report::{MESSAGE_WIDTH, folded, message as shortened, visible};
use tunesmith::{
    Diagnostic, Error, Level,
    problem::{ProblemError, SourceFile},
    study::LeftOut,
};

/// Prints an error to standard error.
pub(crate) fn error(error: &Error) {
    match error.downcast_ref::<ProblemError>() {
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
    messages.iter().for_each(|message| show(message, source));
}

fn show(message: &Diagnostic, source: Option<&SourceFile>) {
    if let Some(brief) = &message.brief {
        let brief = folded(brief);
        return note(&shortened(&format!("{}: {}:{}: {brief}", message.level, message.file.display(), message.line)));
    }
    let is_whole_file = message.span == (0..0);
    match source.filter(|source| !is_whole_file && message.span.end <= source.text.len()) {
        Some(source) => drawn(pointed(message, source).trim_end()),
        None => {
            let place = if is_whole_file { message.file.display().to_string() } else { message.location() };
            let help = message.remedy.as_ref().map(|remedy| format!("\n  help: {remedy}")).unwrap_or_default();
            note(format!("{}: {place}: {}{help}", message.level, message.text).trim_end());
        }
    }
}

/// Returns a message with the text it points into.
fn pointed(message: &Diagnostic, source: &SourceFile) -> String {
    let level = if message.level == Level::Error { Rendered::ERROR } else { Rendered::WARNING };
    let place = AnnotationKind::Primary.span(message.span.clone()).label("here");
    let (file, text) = (message.file.to_string_lossy(), folded(&message.text));
    let remedy = message.remedy.as_deref().map(folded);
    let snippet = Snippet::source(&*source.text).path(visible(&file)).annotation(place);
    let group: Group<'_> = level.primary_title(text.as_str()).element(snippet);
    let group = match &remedy {
        Some(remedy) => group.element(Rendered::HELP.message(remedy.as_str())),
        None => group,
    };
    let draw = |renderer: Renderer| renderer.decor_style(DecorStyle::Unicode).render(std::slice::from_ref(&group));
    let plain = draw(Renderer::plain());
    // A line that is cut could lose the end of a colour.
    let fits = plain.lines().all(|line| line.chars().count() <= MESSAGE_WIDTH);
    if wants_colours(&std::io::stderr()) && fits { with_colours(&draw(Renderer::styled())) } else { shortened(&plain) }
}

/// Returns `text` with its colours, and everything else that acts on the terminal shown.
fn with_colours(text: &str) -> String {
    let mut pieces = text.split("\u{1b}[");
    let mut safe = visible(pieces.next().unwrap_or_default()).into_owned();
    for piece in pieces {
        let digits = piece.trim_start_matches(|c: char| c.is_ascii_digit() || c == ';');
        match digits.strip_prefix('m') {
            Some(rest) => safe += &format!("\u{1b}[{}m{}", &piece[..piece.len() - digits.len()], visible(rest)),
            None => safe += &visible(&format!("\u{1b}[{piece}")),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_stay_and_everything_else_is_shown() {
        let text = "\u{1b}[1m\u{1b}[31merror\u{1b}[0m: \u{1b}[2J\u{1b}]0;title\u{7}";
        let wanted = "\u{1b}[1m\u{1b}[31merror\u{1b}[0m: \\u{1b}[2J\\u{1b}]0;title\\u{7}";
        assert_eq!(with_colours(text), wanted);
    }
}
