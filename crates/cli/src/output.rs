//! Writes to standard output and standard error. Every text for people passes through here, so that
//! nothing from a file or a program acts on the terminal.

use std::borrow::Cow;
use std::io::{ErrorKind, IsTerminal, Write};
use std::path::Path;
use std::sync::OnceLock;
use tunesmith::report::{folded, visible};

/// The path of the file that goes to standard output, and the beginning of the paths of files beside it.
static TAKEN: OnceLock<(String, String)> = OnceLock::new();

/// Reserves standard output for the content of `file`, by [`bytes`]. What is for people goes to standard error from then
/// on, and calls the file `standard output`.
pub(crate) fn take_standard_output(file: &Path) {
    let folder = file.parent().unwrap_or(Path::new("")).display().to_string();
    let _ = TAKEN.set((file.display().to_string(), folder + "/"));
}

/// Returns a text for people in which no path of a file that goes to standard output stands.
fn without_its_path(text: &str) -> Cow<'_, str> {
    match TAKEN.get() {
        Some((file, folder)) => Cow::Owned(text.replace(file, "standard output").replace(folder, "")),
        None => Cow::Borrowed(text),
    }
}

/// Prints `text` for people.
pub(crate) fn print(text: &str) {
    if TAKEN.get().is_some() { note(text.trim_end()) } else { write(visible(text).as_bytes()) }
}

/// Writes the content of a file as it is.
pub(crate) fn bytes(content: &[u8]) {
    write(content);
}

/// Prints a source or a script: to a file or a pipe exactly as it is.
pub(crate) fn exact(text: &str) {
    if std::io::stdout().is_terminal() { print(text) } else { write(text.as_bytes()) }
}

/// Writes `text`. If a reader closed the pipe early (`| head`), that is not an error: it has all it
/// wants.
fn write(text: &[u8]) {
    let mut stdout = std::io::stdout().lock();
    if let Err(error) = stdout.write_all(text).and_then(|()| stdout.flush()) {
        if error.kind() == ErrorKind::BrokenPipe {
            std::process::exit(0);
        }
        note(&format!("cannot write to standard output: {error}"));
        std::process::exit(3);
    }
}

/// Prints one JSON document.
pub(crate) fn json(document: &impl serde::Serialize) {
    let text = serde_json::to_string_pretty(document).unwrap_or_else(|error| format!("{{\"error\": \"{error}\"}}"));
    write(format!("{text}\n").as_bytes());
}

/// Prints a message to standard error. A failure is ignored, since nobody could be told of it.
pub(crate) fn note(text: &str) {
    drawn(&folded(&without_its_path(text)));
}

/// Prints to standard error what was made for the terminal, such as colours.
pub(crate) fn drawn(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// Returns true if what is written to `stream` may have colours: it is a terminal, and the user did not
/// set `NO_COLOR` (no-color.org).
#[allow(clippy::disallowed_methods)] // the command line is where the environment is read
pub(crate) fn wants_colours(stream: &impl IsTerminal) -> bool {
    stream.is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}
