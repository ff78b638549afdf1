//! The program that proposes.

use std::time::Duration;
use tunesmith_backend::host::{Companion, Heard};

/// A program that reads lines and answers with lines. Nothing here waits longer than it is told.
pub trait Partner: Send {
    /// Passes a line on. Returns false if the partner has not read thousands of earlier lines.
    fn say(&mut self, line: String) -> bool;

    /// Waits for a line, for at most `limit`. Returns `None` if there is none.
    fn hear(&mut self, limit: Duration) -> Option<Heard>;
}

impl Partner for Companion {
    fn say(&mut self, line: String) -> bool {
        self.send(line)
    }

    fn hear(&mut self, limit: Duration) -> Option<Heard> {
        self.receive(limit)
    }
}
