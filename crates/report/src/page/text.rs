//! Texts of users and of their programs, as a page shows them. HTML escapes them; these functions
//! bound their length and show characters that act on their surroundings.

use crate::visible::visible;

/// Characters of a name, a value or a configuration.
const NAME: usize = 400;
/// Characters of a message.
const MESSAGE: usize = 4000;
/// Characters of a text to copy. A longer one is not shown: half of it would be wrong.
const COPIED: usize = 40_000;
/// Marks the end of a text that is cut.
const CUT: &str = "…";

/// Returns a name, a value or a configuration.
pub(super) fn name(text: &str) -> String {
    cut(text, NAME)
}

/// Returns a message of a program.
pub(super) fn message(text: &str) -> String {
    cut(text, MESSAGE)
}

/// Returns a text to copy, or `None` if it is too long or does not look like what it is.
pub(super) fn copied(text: &str) -> Option<&str> {
    (text.len() <= COPIED && matches!(visible(text), std::borrow::Cow::Borrowed(_))).then_some(text)
}

fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => visible(text).into_owned(),
        Some((end, _)) => format!("{}{CUT}", visible(&text[..end])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_cut_and_characters_that_act_are_shown() {
        assert_eq!(name("plain"), "plain");
        assert_eq!(name("a\u{1b}b\u{202e}"), "a\\u{1b}b\\u{202e}");
        let long = name(&"ü".repeat(1_000_000));
        assert_eq!((long.chars().count(), long.ends_with(CUT)), (NAME + 1, true));
        assert_eq!(message(&"x".repeat(1_000_000)).len(), MESSAGE + CUT.len());
    }

    #[test]
    fn a_text_to_copy_is_whole_or_absent() {
        assert_eq!(copied("-DTILE=16\n"), Some("-DTILE=16\n"));
        assert_eq!(copied("-DNAME=\u{202e}"), None);
        assert_eq!(copied(&"x".repeat(COPIED + 1)), None);
    }
}
