//! Writes to standard output.

use std::io::{ErrorKind, Write};

/// Prints `text` as it is. If a reader closed the pipe early (`| head`), that is not an error: it
/// has all it wants.
pub(crate) fn print(text: &str) {
    let mut stdout = std::io::stdout().lock();
    if let Err(error) = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
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
    print(&format!("{text}\n"));
}

/// Prints a line to standard error. A failure is ignored, since nobody could be told of it.
pub(crate) fn note(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}
