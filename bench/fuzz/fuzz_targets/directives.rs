//! Kernel sources with directives of ATF.
#![no_main]

use libfuzzer_sys::{Corpus, fuzz_target};
use tunesmith_fuzz::{problems, text};

fuzz_target!(|input: &[u8]| -> Corpus {
    match text(input).filter(|text| text.contains("#atf::") && !text.trim_start().starts_with('{')) {
        Some(text) if !has_long_number(text) => problems::check(text),
        // Another target reads this form.
        _ => return Corpus::Reject,
    }
    Corpus::Keep
});

/// Returns true if `text` has a number of more than four digits. An interval of a million values is
/// right, but takes a second.
fn has_long_number(text: &str) -> bool {
    text.split(|letter: char| !letter.is_ascii_digit()).any(|digits| digits.len() > 4)
}
