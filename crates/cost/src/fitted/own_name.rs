//! Names of the user's properties.

use std::fmt;

/// Maximum length of a name. Longer ones would widen every table of properties.
const MOST_LETTERS: usize = 24;

/// The name of a property of the user: up to 24 letters, digits and underscores, a letter first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OwnName {
    /// The letters, followed by zeros.
    letters: [u8; MOST_LETTERS],
}

impl OwnName {
    /// Returns the name with this text, or `None` if the text is no such name.
    pub fn new(text: &str) -> Option<Self> {
        let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        let begins = text.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic());
        if !begins || text.len() > MOST_LETTERS || !text.bytes().all(is_letter) {
            return None;
        }
        let mut letters = [0; MOST_LETTERS];
        letters[..text.len()].copy_from_slice(text.as_bytes());
        Some(Self { letters })
    }

    /// Returns the text.
    pub fn text(&self) -> &str {
        let end = self.letters.iter().position(|letter| *letter == 0).unwrap_or(MOST_LETTERS);
        std::str::from_utf8(&self.letters[..end]).unwrap_or_default()
    }
}

impl fmt::Debug for OwnName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "OwnName({})", self.text())
    }
}

#[cfg(test)]
mod tests {
    use super::OwnName;

    #[test]
    fn a_name_is_kept_as_it_is_and_others_are_refused() {
        for text in ["a", "small_groups", "abcdefghijklmnopqrstuvwx"] {
            assert_eq!(OwnName::new(text).unwrap().text(), text);
        }
        for text in ["", "1a", "a-b", "a:b", "é", "abcdefghijklmnopqrstuvwxy"] {
            assert!(OwnName::new(text).is_none(), "{text}");
        }
        assert!(OwnName::new("a").unwrap() < OwnName::new("ab").unwrap());
    }
}
