//! Numbers, parts of numbers, and what stands beside them.

use super::*;
use crate::command::NumberPattern;
use proptest::prelude::*;

/// Returns the message about the last match of `pattern` in `text`, or its number as text.
fn outcome(pattern: &str, text: &str) -> String {
    match NumberPattern::parse(pattern).unwrap().last(text).unwrap() {
        Ok(number) => number.to_string(),
        Err(fault) => fault.to_string(),
    }
}

#[test]
fn a_part_of_a_number_is_refused_with_the_whole() {
    let texts = "9.8e-05 1e5 1e400 -1 −1.5 2,01 1'000 1,000.5 1_000 1.5D-03 1.5-103 1.e3 0x1p-3 0x1.8 1m30.5s 1:30.5 \
                 1\u{665} \u{661}.5 \u{ff11}5 1.5×10^-3 10⁻³";
    let same = texts.split_whitespace().map(|text| (text, text));
    let others = [("1\u{a0}000", "1\\u{a0}000"), ("9\u{8}1.5", "9\\u{8}1.5"), ("1.5 x 10^-3", "1.5 x 10^-3")];
    for (text, whole) in same.chain(others) {
        let message = outcome("time: [^0-9]*([0-9.]+)", &format!("time: {text} s\n"));
        assert!(message.contains(&format!("takes out of `{whole}`")), "{text}: {message}");
    }
    assert_eq!(
        outcome("([0-9.]+) s", "took 9.8e-05 s"),
        "`05`, which the pattern takes out of `9.8e-05`; write the group as `([-+0-9.eE]+)`, for signs and exponents"
    );
    assert!(
        outcome("([0-9.]+) s", "took 2,01 s").contains("`01`, which the pattern takes out of `2,01`; let the program")
    );
}

#[test]
fn units_brackets_and_punctuation_beside_a_number_are_no_part_of_it() {
    let texts = "1.5|1.5us|1.5s|1.5e|1.5m|1.5 µs|1.5%|1.5,|1.5, ok|1.5.|[1.5]|\"1.5\"|'1.5'|=1.5}|1.5;2|1.5/2|1.5..2|\
                 1.5-2.5|1.5±0.1|+1.5|$1.5|1.5x|1.5\r|1.5\u{fffd}s|0m1.5s|\
                 00:00:1.5|run-1.5|...1.5|1.5 000|----1.5----|v_1.5|\
                 \u{7}1.5|\u{1b}[32m1.5\u{1b}[0m|\u{1b}[1;38;5;208m1.5\u{1b}[K|\u{1b}]0;title\u{7}1.5";
    for text in texts.split('|') {
        assert_eq!(outcome(r"time[^\n]*?(1\.[0-9]*)", &format!("time: {text}\n")), "1.5", "{text}");
    }
    assert_eq!(outcome("^it: ([-+0-9.eE]+)", "it: 1.5e-3.\n"), "0.0015");
    assert_eq!(outcome("t ([0-9]+)", "\u{1b}[33mt 1\u{1b}[20G5"), "1", "a move to another column separates");
}

#[test]
fn a_separator_that_the_pattern_names_beside_the_group_ends_a_number() {
    assert_eq!(outcome("^gemm,[0-9]+,([0-9.]+)", "gemm,512,1.5\n"), "1.5");
    assert_eq!(outcome("^(?:gemm|axpy),([0-9]+),", "gemm,512,15\n"), "512");
    assert_eq!(outcome("([0-9]+):[0-9]", "5:15"), "5");
    assert!(outcome("gemm.*?([0-9]+)", "gemm,512,15\n").contains("out of `gemm,512,15`; let the program"));
    for (pattern, before, after) in [
        (",(?:a)(.)", None, None),
        (r",(\d),", Some(','), Some(',')),
        (r"\+(.)\+", Some('+'), Some('+')),
        ("+(.)+", None, None),
        ("[(,](.),?", None, None),
        (r"[]\](](?P<n>.):x", None, Some(':')),
        (r"\\(.)-", None, Some('-')),
        (".(.).", None, None),
    ] {
        assert_eq!(borders(pattern), Borders { before, after }, "{pattern}");
    }
}

/// Returns true if `text` is a number in some notation. Slow and obvious: it tries all ways.
fn is_numeral(text: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let is_mantissa = |text: &str| {
        let text = text.strip_suffix('.').unwrap_or(text);
        text.strip_prefix('.').unwrap_or(text).split(['.', ',']).all(digits)
    };
    let splits = || unsigned.char_indices().map(|(at, _)| unsigned.split_at(at));
    let letter = |(mantissa, rest): (&str, &str)| {
        let exponent = rest.strip_prefix('e').unwrap_or_default();
        // What looks like `1e0e5` is not taken apart either.
        is_mantissa(mantissa) && is_numeral(exponent) && !exponent.trim_start_matches(['+', '-']).starts_with('.')
    };
    let bare = |(mantissa, rest): (&str, &str)| {
        let exponent = rest.strip_prefix(['+', '-']).unwrap_or_default();
        is_mantissa(mantissa) && mantissa.contains('.') && digits(exponent) && exponent.len() == 3
    };
    is_mantissa(unsigned) || splits().any(letter) || splits().any(bare)
}

/// Returns true if the number in `range` of `text` goes on beyond `captured`, and is not the same.
fn is_longer(text: &str, range: Range<usize>, captured: Range<usize>) -> bool {
    let (before, left) = (&text[..range.start], &text[range.start..captured.start]);
    let is_same = ["", "+"].contains(&left) && ["", "."].contains(&&text[captured.end..range.end]);
    // A hyphen, a line of dashes, and the dots of a range.
    let is_sign = !left.starts_with('-') || !before.ends_with(|c: char| c.is_alphanumeric() || "-.".contains(c));
    let is_point = !left.starts_with('.') || !before.ends_with('.');
    let is_cut = text[range.end..].starts_with(|c: char| c.is_ascii_digit());
    !is_same && !is_cut && is_sign && is_point && is_numeral(&text[range])
}

proptest! {
    /// Characters of any length do not matter.
    #[test]
    fn any_text_around_a_number_is_judged(
        before in "\\PC{0,4}[éµ'0-9xe.−-]{0,3}",
        after in "[éµ'0-9xe.−×-]{0,3}\\PC{0,4}",
    ) {
        let text = format!("{before}15{after}");
        let fault = read(&text, before.len()..before.len() + 2, Borders::default()).err();
        prop_assert!(fault.is_none_or(|fault| fault.to_string().contains("takes out of")));
        let coloured = format!("\u{1b}{text}\u{1b}[1{before}m");
        let is_plain = !without_colours(&coloured).contains('\u{1b}');
        prop_assert!(is_plain);
    }

    /// A captured number is refused if and only if a longer text around it is a number as well.
    #[test]
    fn a_number_is_refused_where_a_longer_one_stands(text in "[0-9.,e+ a-]{0,12}") {
        let is_digit = |at: usize| text.as_bytes()[at].is_ascii_digit();
        let spans = (0..text.len()).flat_map(|from| (from + 1..=text.len()).map(move |to| from..to));
        let ends_in_digits = |span: &Range<usize>| is_digit(span.start) && is_digit(span.end - 1);
        let is_number = |span: &Range<usize>| text[span.clone()].parse::<f64>().is_ok_and(f64::is_finite);
        for span in spans.filter(ends_in_digits).filter(is_number) {
            let longer = |start| (span.end..=text.len()).any(|end| is_longer(&text, start..end, span.clone()));
            let refused = matches!(read(&text, span.clone(), Borders::default()), Err(NumberFault::Part { .. }));
            prop_assert_eq!(refused, (0..=span.start).any(longer), "{}", &text[span.clone()]);
        }
    }
}
