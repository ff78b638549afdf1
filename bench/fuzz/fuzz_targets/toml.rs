//! Problems in TOML.
#![no_main]

use libfuzzer_sys::{Corpus, fuzz_target};
use tunesmith_fuzz::{problems, text};

fuzz_target!(|input: &[u8]| -> Corpus {
    match text(input).filter(|text| !text.trim_start().starts_with('{') && !text.contains("#atf::")) {
        Some(text) => problems::check(text),
        // Another target reads this form.
        None => return Corpus::Reject,
    }
    Corpus::Keep
});
