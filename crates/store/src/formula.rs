//! Text fields of a CSV that a spreadsheet would take for formulas.
//!
//! A field that begins with `=`, `+`, `-`, `@`, a tab or a carriage return gets an apostrophe in
//! front, which spreadsheets take for text. Numbers stay as they are. A text that begins with
//! apostrophes before such a character gets one more, so that reading takes away exactly what writing
//! added.

use std::borrow::Cow;

/// Returns the field such that no spreadsheet computes it.
pub(crate) fn neutralised(text: &str) -> Cow<'_, str> {
    let is_number = text.parse::<f64>().is_ok();
    if is_formula(text.trim_start_matches('\'')) && !is_number { format!("'{text}").into() } else { text.into() }
}

/// Returns the text of a field that [`neutralised`] wrote.
pub(crate) fn restored(field: &str) -> &str {
    field.strip_prefix('\'').filter(|text| is_formula(text.trim_start_matches('\''))).unwrap_or(field)
}

fn is_formula(text: &str) -> bool {
    text.starts_with(['=', '+', '-', '@', '\t', '\r'])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn formulas_get_an_apostrophe_and_numbers_do_not() {
        for text in ["=1+1", "+cmd|' /C calc'!A0", "-x", "@SUM(A1)", "\t=1", "\r=1", "'=1", "''-x", "--", "-1-1"] {
            assert_eq!(neutralised(text), format!("'{text}"));
        }
        for text in ["-1", "+2.5", "-1e-7", "-inf", "row", "'quoted'", "", "a=b", "'"] {
            assert_eq!(neutralised(text), text);
        }
    }

    proptest! {
        #[test]
        fn reading_takes_away_what_writing_added(text in "['=+@a\\-\t0-9.]{0,6}") {
            let written = neutralised(&text);
            prop_assert_eq!(restored(&written), &text);
            let is_safe = !written.starts_with(['=', '+', '-', '@', '\t', '\r']) || written.parse::<f64>().is_ok();
            prop_assert!(is_safe, "{}", written);
        }
    }
}
