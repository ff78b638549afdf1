//! The content of a problem file.

use tunesmith_spec::{Diagnostic, Draft, Messages, Places};

/// The content of a problem file, with the messages about it.
#[derive(Debug)]
pub struct ProblemFile {
    /// The parts, whose relations nobody has checked yet.
    pub draft: Draft,
    /// The places of the parts in the file.
    pub places: Places,
    /// The faults of the file and the warnings about it. They know the file.
    pub messages: Messages,
    /// The reasons for which the kernels of the file cannot be run, each also among the messages.
    pub obstacles: Vec<Diagnostic>,
    /// Doubts about the words of a command.
    pub doubts: Vec<Diagnostic>,
}

impl ProblemFile {
    /// Returns a file without obstacles and doubts.
    pub(crate) fn new(draft: Draft, places: Places, messages: Messages) -> Self {
        Self { draft, places, messages, obstacles: Vec::new(), doubts: Vec::new() }
    }
}
