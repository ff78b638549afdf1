//! The places of a problem's parts: in its file, or in the calls of a builder.

use crate::diagnostic::Diagnostic;
use crate::fault::Key;
use std::collections::HashMap;
use std::ops::Range;

/// The places of parts. A problem that was made from a space has none.
#[derive(Clone, Debug, Default)]
pub struct Places {
    spans: HashMap<Key, Range<usize>>,
    /// The calls of a builder, as messages show them.
    calls: HashMap<Key, String>,
}

/// The place of a part.
pub struct Place {
    /// The bytes of the file.
    pub span: Range<usize>,
    /// The name of the part there.
    pub name: String,
}

impl Places {
    /// Adds the place of a part in a file. The first place of a part counts; the second one is for faults of names that
    /// are there twice.
    pub fn add(&mut self, key: Key, span: Range<usize>) {
        let key = if self.spans.contains_key(&key) { key.second() } else { key };
        self.spans.entry(key).or_insert(span);
    }

    /// Adds the call of a builder that states a part.
    pub fn add_call(&mut self, key: Key, call: String) {
        self.calls.entry(key).or_insert(call);
    }

    /// Returns true if the parts stand in the calls of a builder.
    pub fn are_calls(&self) -> bool {
        !self.calls.is_empty()
    }

    /// Returns the place of a part, if the file states it by itself.
    pub fn stated(&self, key: &Key) -> Option<Place> {
        std::iter::once(key.clone()).chain(key.aliases()).find_map(|key| {
            let span = self.spans.get(&key)?.clone();
            Some(Place { span, name: key.name() })
        })
    }

    /// Returns the place of a part, or of the part that it belongs to. It is the start of the file for a part that the
    /// file does not state.
    pub fn of(&self, key: &Key) -> Place {
        let outer = std::iter::successors(key.outer(), Key::outer);
        let belongs = || outer.into_iter().find_map(|outer| self.stated(&outer));
        self.stated(key).unwrap_or_else(|| Place { span: belongs().map_or(0..0, |place| place.span), name: key.name() })
    }

    /// Returns a message about a part of a problem that a builder made with its call in place of a line. Other messages
    /// stay as they are.
    pub fn called(&self, key: &Key, message: Diagnostic) -> Diagnostic {
        if self.calls.is_empty() {
            return message;
        }
        let mut keys = std::iter::successors(Some(key.clone()), Key::outer);
        let text = match keys.find_map(|key| self.calls.get(&key)) {
            Some(call) => format!("`{call}`: {}", message.text),
            None => message.text,
        };
        Diagnostic { line: 0, column: 0, text, ..message }
    }
}
