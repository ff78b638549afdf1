//! JSON as tuners write it: with the numbers that Python has and JSON does not.

use super::error::Flaw;
use serde_json::Value as Json;
use std::borrow::Cow;

/// Numbers that are none, as Python, C++ and JavaScript write them. The longest come first.
const NO_NUMBERS: [&str; 9] = ["-Infinity", "Infinity", "-NaN", "NaN", "-nan", "nan", "-inf", "inf", "+inf"];

/// Parses JSON. A number that is none, such as `NaN`, becomes the text of its name, which no reader takes for a number.
///
/// # Errors
/// The text is no JSON, or an object has two values under one name.
pub(super) fn parse(text: &str) -> Result<Json, serde_json::Error> {
    tunesmith_files::json::parse(text).or_else(|error| match quoted(text) {
        // Only a parse tells whether a document ends too early.
        Cow::Borrowed(_) => Err(error),
        Cow::Owned(quoted) => tunesmith_files::json::parse(&quoted),
    })
}

/// Returns the text with numbers that are none in quotation marks.
fn quoted(text: &str) -> Cow<'_, str> {
    let (mut written, mut kept, mut at) = (String::new(), 0, 0);
    let bytes = text.as_bytes();
    while at < bytes.len() {
        if bytes[at] == b'"' {
            at = end_of_string(bytes, at);
            continue;
        }
        let Some(word) = no_number(bytes, at) else {
            at += 1;
            continue;
        };
        written.extend([&text[kept..at], "\"", word, "\""]);
        at += word.len();
        kept = at;
    }
    if kept == 0 { Cow::Borrowed(text) } else { Cow::Owned(written + &text[kept..]) }
}

/// Returns the number that is none and begins at `at`. Between two tokens no letter stands but those of `true`,
/// `false` and `null`.
fn no_number(bytes: &[u8], at: usize) -> Option<&'static str> {
    let is_start = at == 0 || !bytes[at - 1].is_ascii_alphanumeric();
    NO_NUMBERS.into_iter().find(|word| is_start && bytes[at..].starts_with(word.as_bytes()))
}

/// Returns the place behind the string that begins at `at`.
fn end_of_string(bytes: &[u8], mut at: usize) -> usize {
    at += 1;
    while at < bytes.len() && bytes[at] != b'"' {
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    at + 1
}

/// Returns true if `json` stands for a number that the file does not have: `null`, or a number that is none.
pub(super) fn is_no_number(json: &Json) -> bool {
    match json {
        Json::Null => true,
        Json::String(text) => NO_NUMBERS.contains(&text.as_str()),
        _ => false,
    }
}

/// Returns a number, which may stand in quotation marks.
pub(super) fn number(json: &Json) -> Option<f64> {
    let number = json.as_f64().or_else(|| json.as_str()?.trim().parse().ok());
    number.filter(|number: &f64| number.is_finite())
}

/// Describes a document that does not parse.
pub(super) fn flaw(error: &serde_json::Error) -> Flaw {
    let place = format!("line {}, column {}", error.line(), error.column());
    let remedy =
        if error.is_eof() { "fetch or write the file again: it is cut short" } else { "correct the file there" };
    Flaw::new(place, tunesmith_files::json::fault(error), remedy)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn numbers_that_are_none_become_their_names() {
        let text = r#"{"NaN": [NaN, -Infinity,nan], "a\"inf": "NaN, inf", "x": -NaN, "last": inf}"#;
        let expected = json!({"NaN": ["NaN", "-Infinity", "nan"], "a\"inf": "NaN, inf", "x": "-NaN", "last": "inf"});
        assert_eq!(parse(text).unwrap(), expected);
    }

    #[test]
    fn only_what_ends_early_is_called_cut_short() {
        assert!(flaw(&parse(r#"{"a": [1, 2"#).unwrap_err()).remedy.contains("cut short"));
        let wrong = flaw(&parse("{\"a\": 1,\n \"b\": =2}").unwrap_err());
        assert!(wrong.place.starts_with("line 2") && !wrong.remedy.contains("cut short"), "{wrong:?}");
    }

    #[test]
    fn an_object_with_two_values_under_one_name_is_refused_at_its_place() {
        let twice = flaw(&parse("{\"cache\": {\"1,2\": {\"time\": 1},\n \"1,2\": {\"time\": NaN}}}").unwrap_err());
        assert!(twice.place.starts_with("line 2") && twice.reason.starts_with("`1,2` is there twice"), "{twice:?}");
    }
}
