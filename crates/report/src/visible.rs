//! Makes texts safe to show on a terminal. Names, messages and outputs come from files and programs
//! that the user may not have written.

use std::borrow::Cow;
use std::fmt::Write;

/// The width of a line of a message in columns. What does not fit is in the journal.
pub const MESSAGE_WIDTH: usize = 200;

/// Marks the end of a line that is cut.
const CUT: &str = "...";

/// Returns `text` with every character that acts on a terminal written as its number: `\u{1b}` for
/// ESC. These are control characters except line feeds and tabs, and characters that change the
/// direction of text or take no room.
pub fn visible(text: &str) -> Cow<'_, str> {
    let Some(first) = text.find(acts) else { return text.into() };
    let mut shown = text[..first].to_owned();
    for character in text[first..].chars() {
        if acts(character) {
            // Writing to a string cannot fail.
            let _ = write!(shown, "{}", character.escape_unicode());
        } else {
            shown.push(character);
        }
    }
    shown.into()
}

/// Returns a message for a terminal: [`visible`], and each line at most [`MESSAGE_WIDTH`] columns
/// wide. A longer line ends in `...`.
pub fn message(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    // A carriage return before the end of a line is part of the end.
    for (number, line) in text.split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line)).enumerate() {
        if number > 0 {
            shown.push('\n');
        }
        shown += &cut(&visible(line));
    }
    shown
}

/// Returns a message of this tool for a terminal: [`visible`], and folded at blanks so that no line
/// is wider than [`MESSAGE_WIDTH`]. Such a message may list names that a reader needs. What is longer
/// than ten lines is cut.
pub fn folded(text: &str) -> String {
    let lines = text.split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line));
    lines.map(|line| fold(&visible(line))).collect::<Vec<_>>().join("\n")
}

/// Maximum number of lines that one line is folded into.
const FOLDS: usize = 10;

fn fold(line: &str) -> String {
    let (mut pieces, mut rest) = (Vec::new(), line);
    while let Some(room) = overflow(rest, MESSAGE_WIDTH).filter(|_| pieces.len() + 1 < FOLDS) {
        let at = rest[..room].rfind(' ').filter(|at| !rest[..*at].trim().is_empty()).unwrap_or(room);
        pieces.push(rest[..at].trim_end());
        rest = rest[at..].trim_start();
    }
    let last = cut(rest);
    pieces.push(&last);
    pieces.join("\n")
}

fn cut(line: &str) -> Cow<'_, str> {
    match overflow(line, MESSAGE_WIDTH).and_then(|_| overflow(line, MESSAGE_WIDTH - CUT.len())) {
        Some(room) => format!("{}{CUT}", &line[..room]).into(),
        None => line.into(),
    }
}

/// Returns one line for a place of `columns` columns: [`visible`], and with an ellipsis in place of
/// what does not fit. Line feeds and tabs become blanks.
pub fn fitted(text: &str, columns: usize) -> String {
    let line = visible(text).replace(['\n', '\t'], " ");
    match overflow(&line, columns) {
        None => line,
        // The ellipsis takes one column, though it counts as two elsewhere.
        Some(_) => {
            let room = overflow(&line, columns.saturating_sub(1)).unwrap_or(line.len());
            let shown = line[..room].trim_end();
            if columns == 0 { String::new() } else { format!("{shown}…") }
        }
    }
}

/// Returns the number of bytes of `line` that fit into `limit` columns. `None` if all do.
fn overflow(line: &str, limit: usize) -> Option<usize> {
    let mut columns = 0;
    line.char_indices().find_map(|(at, character)| {
        columns += width(character, columns);
        (columns > limit).then_some(at)
    })
}

/// Returns the columns that a character takes at `column`. Counts every character beyond ASCII as
/// two, since the wide ones take two.
fn width(character: char, column: usize) -> usize {
    match character {
        '\t' => 8 - column % 8,
        _ if character.is_ascii() => 1,
        _ => 2,
    }
}

/// Returns true if a terminal does something else with the character than to show it.
fn acts(character: char) -> bool {
    match character {
        '\n' | '\t' => false,
        // Marks, embeddings, overrides and isolates of direction; separators of lines; zero width.
        '\u{061c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}' => true,
        _ => character.is_control(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn characters_that_act_are_shown_as_their_number() {
        let hostile = "a\u{1b}[2J\u{7}b\r\u{9b}31m\u{202e}txt.exe\u{feff}";
        assert_eq!(visible(hostile), "a\\u{1b}[2J\\u{7}b\\u{d}\\u{9b}31m\\u{202e}txt.exe\\u{feff}");
        for plain in ["two\n\tlines", "größer als 5 µs", "行列", ""] {
            assert!(matches!(visible(plain), Cow::Borrowed(shown) if shown == plain));
        }
    }

    #[test]
    fn a_long_line_is_cut_and_short_ones_are_not() {
        let fits = "x".repeat(MESSAGE_WIDTH);
        assert_eq!(message(&fits), fits);
        assert_eq!(message(&format!("{fits}y\r\nshort")), format!("{}...\nshort", "x".repeat(MESSAGE_WIDTH - 3)));
        assert_eq!(message(&"行".repeat(300)), format!("{}...", "行".repeat(98)));
        assert_eq!(message("a\n\nb\n"), "a\n\nb\n");
    }

    #[test]
    fn a_line_fits_into_any_number_of_columns() {
        assert_eq!([0, 1, 5, 6, 7].map(|columns| fitted("abc def", columns)), ["", "…", "abc…", "abc d…", "abc def"]);
        assert_eq!(fitted("one\ntwo\t\u{1b}[2J", 99), "one two \\u{1b}[2J");
        assert_eq!(fitted("行列行列", 5), "行列…");
    }

    #[test]
    fn messages_of_this_tool_are_folded_and_only_very_long_ones_are_cut() {
        let names = (0..100).map(|number| format!("name_{number}")).collect::<Vec<_>>().join(", ");
        let folded = folded(&format!("error: no such name\nnames are {names}"));
        assert_eq!(folded.replace('\n', " "), format!("error: no such name names are {names}"));
        assert!(folded.lines().count() > 4 && folded.lines().all(|line| line.len() <= MESSAGE_WIDTH));
        let endless = super::folded(&"x".repeat(100_000));
        assert_eq!((endless.lines().count(), endless.ends_with("...")), (FOLDS, true));
        assert_eq!(super::folded("  help: short\n\nend"), "  help: short\n\nend");
    }

    proptest! {
        #[test]
        fn nothing_that_acts_is_left_and_no_line_is_too_wide(text in any::<String>(), times in 1_usize..40) {
            let shown = message(&text.repeat(times));
            prop_assert!(!shown.contains(acts));
            let folded = folded(&text.repeat(times));
            prop_assert!(!folded.contains(acts));
            prop_assert!(folded.split('\n').all(|line| line.chars().count() <= MESSAGE_WIDTH));
            prop_assert!(shown.split('\n').all(|line| line.chars().count() <= MESSAGE_WIDTH));
            prop_assert_eq!(visible(&visible(&text)).into_owned(), visible(&text).into_owned());
        }
    }
}
