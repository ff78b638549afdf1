//! The program that proposes.

use std::time::Duration;
use tunesmith_device::{Companion, Heard};

/// A program that reads lines and answers with lines. Nothing here waits longer than it is told.
pub trait Partner {
    /// Passes a line on. Returns false if the partner has not read thousands of earlier lines.
    fn say(&mut self, line: String) -> bool;

    /// Waits for a line, for at most `limit`. Returns `None` if there is none.
    fn hear(&mut self, limit: Duration) -> Option<Said>;
}

/// What a partner said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said {
    /// A line, without its end.
    Line(String),
    /// A line that is too long to be an answer.
    TooLong,
    /// The partner has ended. The text says how.
    Ended(String),
}

impl Partner for Companion {
    fn say(&mut self, line: String) -> bool {
        self.send(line)
    }

    fn hear(&mut self, limit: Duration) -> Option<Said> {
        Some(match self.receive(limit)? {
            Heard::Line(line) => Said::Line(line),
            Heard::TooLong => Said::TooLong,
            Heard::Ended(how) => Said::Ended(how),
        })
    }
}
