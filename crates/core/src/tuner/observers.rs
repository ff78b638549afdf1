//! Who is shown the run.

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

    /// Shows `event` to all.
    pub(super) fn notice(&mut self, event: &Event<'_>) {
        self.all.iter_mut().for_each(|observer| observer.notice(event));
    }

    /// Tells all `text`, unless they were told so last.
    pub(super) fn note_once(&mut self, text: &str) {
        if self.noted != text {
            self.notice(&Event::Noted { text });
            text.clone_into(&mut self.noted);
        }
    }
}
