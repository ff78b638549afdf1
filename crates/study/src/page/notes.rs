//! Gathers the notes on the measurements of correct configurations.

use std::collections::HashMap;
use tunesmith_report::NoteLine;
use tunesmith_store::{Outline, StoreError};

/// Returns the notes of a run in the order in which they came up. Notes that differ only in their
/// numbers are one, with the text of the first.
pub(super) fn of(outline: &Outline) -> Result<Vec<NoteLine>, StoreError> {
    let mut notes = Gathered::default();
    for at in 0..outline.entries.len() {
        if let Some(note) = outline.entries.note(at)? {
            notes.add(at + 1, note);
        }
    }
    Ok(notes.lines)
}

#[derive(Default)]
struct Gathered {
    lines: Vec<NoteLine>,
    /// The positions of the lines by their texts without digits.
    places: HashMap<String, usize>,
}

impl Gathered {
    fn add(&mut self, evaluation: usize, note: String) {
        let shape = note.chars().filter(|c| !c.is_ascii_digit()).collect();
        let place = *self.places.entry(shape).or_insert(self.lines.len());
        match self.lines.get_mut(place) {
            Some(line) => line.count += 1,
            None => self.lines.push(NoteLine { note, count: 1, first: evaluation }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_that_differ_in_numbers_are_one_line() {
        let mut gathered = Gathered::default();
        let notes = ["it ran at 900 MHz", "it is hot", "it ran at 915 MHz", "it ran at 900 MHz"];
        notes.into_iter().zip(3..).for_each(|(note, at)| gathered.add(at, note.to_string()));
        let line = |note: &str, count, first| NoteLine { note: note.to_string(), count, first };
        assert_eq!(gathered.lines, [line("it ran at 900 MHz", 3, 3), line("it is hot", 1, 4)]);
    }
}
