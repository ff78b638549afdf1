//! The observers of a run.

use crate::{Event, Observer};

/// The observers of a run.
pub(super) struct Observers<'a> {
    all: Vec<&'a mut dyn Observer>,
    /// The latest note.
    noted: String,
}

impl<'a> Observers<'a> {
    pub(super) fn new(all: Vec<&'a mut dyn Observer>) -> Self {
        Self { all, noted: String::new() }
    }

    /// Shows `event` to all observers.
    pub(super) fn notice(&mut self, event: &Event<'_>) {
        self.all.iter_mut().for_each(|observer| observer.notice(event));
    }

    /// Notes `text` to all observers, unless it was also the previous note.
    pub(super) fn note_once(&mut self, text: &str) {
        if self.noted != text {
            self.notice(&Event::Noted { text });
            text.clone_into(&mut self.noted);
        }
    }
}
