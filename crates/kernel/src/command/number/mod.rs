//! Reads a captured number together with what stands around it, so that no part of a number is taken
//! for the whole.

use std::borrow::Cow;
use std::ops::Range;

/// The group that takes every number as C, Fortran, Python and others print it by default.
pub(super) const GROUP: &str = "([-+0-9.eE]+)";

/// The most characters that messages show on each side of a captured text.
const SHOWN: usize = 24;

/// Characters that join digits to one number, somewhere in the world: decimal points, marks between
/// groups of digits, and those between hours, minutes and seconds. A zero byte is one in UTF-16.
const JOINING: &str = ".,'’_:٫٬，．\u{a0}\u{2007}\u{2009}\u{202f}\0";

/// Minus signs, among them dashes that programs print as one.
const MINUS: &str = "-−–﹣－";

/// Letters that precede an exponent in C, Fortran and hexadecimal numbers.
const EXPONENT: &str = "eEdDqQpP";

/// The reason why a captured text is no number.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NumberFault {
    /// A text that is not a number.
    #[error("`{captured}`, which is not a number")]
    Text {
        /// The captured text.
        captured: String,
    },
    /// A number with a unit behind it.
    #[error(
        "`{captured}`, which is not a number alone; leave `{unit}` outside of the group (`unit` says what a printed \
         cost is measured in)"
    )]
    Unit {
        /// The captured text.
        captured: String,
        /// The unit.
        unit: String,
    },
    /// A number that is infinite, too large for 64 bits, or none (NaN).
    #[error("`{captured}`, which is no finite number")]
    NotFinite {
        /// The captured text.
        captured: String,
    },
    /// A part of a number.
    #[error("`{captured}`, which the pattern takes out of `{whole}`; {remedy}")]
    Part {
        /// The captured text.
        captured: String,
        /// The number in the output, with what is attached to it.
        whole: String,
        /// The remedy.
        remedy: String,
    },
}

/// The characters that a pattern names literally beside its group. They separate numbers, because
/// the pattern says so.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Borders {
    before: Option<char>,
    after: Option<char>,
}

/// Reads the number in `group` of `text`. Blanks around it, and a full stop behind it, do not count.
///
/// # Errors
/// The text in `group` is not a number, or only a part of one.
pub(super) fn read(text: &str, group: Range<usize>, borders: Borders) -> Result<f64, NumberFault> {
    let blanks = text[group.clone()].len() - text[group.clone()].trim_start().len();
    let captured = text[group.clone()].trim();
    let (number, length) = parse(captured)?;
    let start = group.start + blanks;
    let (before, after) = (&text[..start], &text[start + length..]);
    let captured = &captured[..length];
    let joined = joined_before(before, captured, borders.before) || joined_after(captured, after, borders.after);
    if joined { Err(part(before, captured, after)) } else { Ok(number) }
}

/// Returns the number that `captured` is, and the length of its text.
fn parse(captured: &str) -> Result<(f64, usize), NumberFault> {
    let owned = || captured.to_owned();
    let sentence = captured.strip_suffix('.').unwrap_or(captured);
    for text in [captured, sentence] {
        match text.parse::<f64>() {
            Ok(number) if number.is_finite() => return Ok((number, text.len())),
            Ok(_) => return Err(NumberFault::NotFinite { captured: owned() }),
            Err(_) => {}
        }
    }
    // The longest number at the start, followed by a unit.
    let ends = captured.char_indices().map(|(at, _)| at).rev();
    let number = ends.map(|end| captured.split_at(end)).find(|(number, _)| number.trim_end().parse::<f64>().is_ok());
    match number {
        Some((_, unit)) if unit.chars().all(|c| c.is_alphabetic() || "%/ .".contains(c)) => {
            Err(NumberFault::Unit { captured: owned(), unit: unit.trim().to_owned() })
        }
        _ => Err(NumberFault::Text { captured: owned() }),
    }
}

/// Returns true if a number goes on to the left of `captured`.
fn joined_before(before: &str, captured: &str, border: Option<char>) -> bool {
    let Some(first) = before.chars().next_back() else { return false };
    if border == Some(first) {
        return false;
    }
    let rest = &before[..before.len() - first.len_utf8()];
    let second = rest.chars().next_back().unwrap_or(' ');
    let is_exponent = |text: &str| text.strip_suffix(|c| EXPONENT.contains(c)).is_some_and(ends_in_number);
    let is_bare = captured.len() == 3 && is_bare_exponent(rest, captured);
    match first {
        c if c.is_numeric() => true,
        // It takes back what was printed.
        '\u{8}' => true,
        // Dots before it are a range or a leader.
        '.' => second != '.',
        ':' => second.is_numeric() && !is_zero_time(before),
        c if JOINING.contains(c) => second.is_numeric(),
        '+' => is_exponent(rest) || is_bare,
        c if MINUS.contains(c) => {
            // Names have hyphens, ranges and dates too; a row of dashes is a line.
            let is_hyphen = second.is_alphanumeric() || second == '.' || second == c;
            is_exponent(rest) || is_bare || !is_hyphen
        }
        '^' => ends_in_number(rest),
        c if c.is_alphabetic() => is_exponent(before) || is_hexadecimal(before) || is_time(before),
        _ => false,
    }
}

/// Returns true if `text` ends in a number, perhaps with a point behind it.
fn ends_in_number(text: &str) -> bool {
    text.strip_suffix('.').unwrap_or(text).ends_with(char::is_numeric)
}

/// Returns true if a number goes on to the right of `captured`.
fn joined_after(captured: &str, after: &str, border: Option<char>) -> bool {
    let mut chars = after.chars();
    let Some(first) = chars.next() else { return false };
    let rest = chars.as_str();
    let is_digit = |text: &str| text.starts_with(char::is_numeric);
    let is_sign = |c: char| c == '+' || MINUS.contains(c);
    let is_exponent = |text: &str| is_digit(text.strip_prefix(is_sign).unwrap_or(text));
    if border == Some(first) {
        return false;
    }
    match first {
        c if c.is_numeric() => true,
        '\u{8}' | '⁻' => true,
        '.' => {
            let bare = |rest: &str| is_bare_exponent(&format!("{captured}."), rest);
            let exponent = rest.strip_prefix(|c| EXPONENT.contains(c));
            is_digit(rest) || exponent.is_some_and(is_exponent) || rest.strip_prefix(is_sign).is_some_and(bare)
        }
        c if JOINING.contains(c) => is_digit(rest),
        c if EXPONENT.contains(c) && is_exponent(rest) => true,
        c if is_sign(c) => is_bare_exponent(captured, rest),
        '^' => is_exponent(rest),
        'x' | 'X' | 'b' | 'B' | 'o' | 'O' if captured.trim_start_matches(['+', '-']) == "0" => {
            rest.starts_with(|c: char| c.is_ascii_hexdigit())
        }
        c if c.is_alphabetic() && is_unit_of_time(after.split(char::is_numeric).next().unwrap_or_default()) => {
            after.contains(char::is_numeric)
        }
        _ => power_of_ten(after).is_some(),
    }
}

/// Returns true if `mantissa` and the digits at the start of `rest` have a sign alone between them, as
/// Fortran prints exponents of three digits: `1.5-103`.
fn is_bare_exponent(mantissa: &str, rest: &str) -> bool {
    let mantissa = mantissa.rsplit(|c: char| !c.is_ascii_digit() && c != '.').next().unwrap_or_default();
    mantissa.contains('.') && mantissa.len() > 1 && rest.bytes().take_while(u8::is_ascii_digit).count() == 3
}

/// Returns true if `before` ends in hours and minutes that are zero, as in `00:00:`.
fn is_zero_time(before: &str) -> bool {
    let rest = before.trim_end_matches(['0', ':']);
    !rest.ends_with(|c: char| c.is_numeric() || JOINING.contains(c) || MINUS.contains(c))
}

/// Returns true if `before` ends in a hexadecimal, octal or binary number, as far as it was printed
/// there.
fn is_hexadecimal(before: &str) -> bool {
    let word = before.rsplit(|c: char| !c.is_ascii_alphanumeric() && c != '.').next().unwrap_or_default();
    let word = word.to_ascii_lowercase();
    ["0x", "0b", "0o"].iter().any(|prefix| {
        word.strip_prefix(prefix).is_some_and(|digits| digits.chars().all(|c| c.is_ascii_hexdigit() || c == '.'))
    })
}

/// Returns true if `before` ends in a time that is not zero, as in `1m` before `30s`.
fn is_time(before: &str) -> bool {
    let letters = before.trim_end_matches(char::is_alphabetic);
    let digits = letters.len() - letters.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    let amount = &letters[letters.len() - digits..];
    is_unit_of_time(&before[letters.len()..]) && amount.bytes().any(|digit| digit != b'0')
}

fn is_unit_of_time(unit: &str) -> bool {
    ["d", "h", "hr", "m", "min", "s"].contains(&unit)
}

/// Returns the length of a power of ten that `after` starts with, up to its exponent: ` × 10`.
fn power_of_ten(after: &str) -> Option<usize> {
    let sign = after.trim_start_matches(' ').strip_prefix(['×', '·', '⋅', '*', 'x'])?;
    let exponent = sign.trim_start_matches(' ').strip_prefix("10")?;
    let is_power = exponent.starts_with(|c: char| "^*⁻⁺".contains(c) || (c.is_numeric() && !c.is_ascii_digit()));
    is_power.then(|| after.len() - exponent.len())
}

/// Returns the fault of a captured part of a number.
fn part(before: &str, captured: &str, after: &str) -> NumberFault {
    let attached =
        |c: &char| c.is_alphanumeric() || "+^*⁻\u{8}".contains(*c) || JOINING.contains(*c) || MINUS.contains(*c);
    let left = before.chars().rev().take_while(attached).take(SHOWN).map(char::len_utf8).sum::<usize>();
    let left = &before[before.len() - left..];
    let power = power_of_ten(after).unwrap_or(0);
    let right = after[power..].chars().take_while(attached).take(SHOWN).map(char::len_utf8).sum::<usize>() + power;
    let right = &after[..right];
    let plain = |c: char| c.is_ascii_digit() || "+-.eE".contains(c);
    let taken_left = &left[left.trim_end_matches(plain).len()..];
    let taken_right = &right[..right.len() - right.trim_start_matches(plain).len()];
    // Only if the recommended group would take the whole number.
    let is_decimal = parse(&format!("{taken_left}{captured}{taken_right}")).is_ok()
        && !joined_before(&left[..left.len() - taken_left.len()], captured, None)
        && !joined_after(captured, &right[taken_right.len()..], None);
    let remedy = if is_decimal {
        format!("write the group as `{GROUP}`, for signs and exponents")
    } else {
        "let the program print a plain decimal number (`environment = { LC_ALL = \"C\" }` may help), or if two numbers \
         stand there, name the character between them beside the group"
            .to_owned()
    };
    // Characters that nobody sees are spelt out.
    let spelt = |c: char| {
        let is_hidden = c != ' ' && (c.is_whitespace() || c.is_control());
        if is_hidden { c.escape_unicode().to_string() } else { c.to_string() }
    };
    let whole = [left, captured, right].iter().flat_map(|text| text.chars().map(spelt)).collect();
    NumberFault::Part { captured: captured.to_owned(), whole, remedy }
}

/// Returns the characters that `pattern` names literally beside its only group.
pub(super) fn borders(pattern: &str) -> Borders {
    let chars: Vec<char> = pattern.chars().collect();
    let Some((open, close)) = group(&chars) else { return Borders::default() };
    let separates = |c: &char| (JOINING.contains(*c) && *c != '.') || MINUS.contains(*c) || *c == '+';
    let is_escaped = |at: usize| chars[..at].iter().rev().take_while(|c| **c == '\\').count() % 2 == 1;
    let before = open.checked_sub(1).filter(|at| chars[*at] != '+' || is_escaped(*at)).map(|at| chars[at]);
    let at = close + 1 + usize::from(chars.get(close + 1) == Some(&'\\'));
    let is_literal = chars.get(at) != Some(&'+') || is_escaped(at);
    let is_optional = matches!(chars.get(at + 1), Some('?' | '*' | '{'));
    let after = chars.get(at).copied().filter(|_| is_literal && !is_optional);
    Borders { before: before.filter(separates), after: after.filter(separates) }
}

/// Returns the places of the parentheses of the only group that captures.
fn group(chars: &[char]) -> Option<(usize, usize)> {
    let (mut at, mut in_class, mut open) = (0, false, Vec::new());
    while at < chars.len() {
        match chars[at] {
            '\\' => at += 1,
            '[' if !in_class => {
                in_class = true;
                // A bracket that closes nothing stands for itself.
                let skipped = usize::from(chars.get(at + 1) == Some(&'^'));
                at += skipped + usize::from(chars.get(at + 1 + skipped) == Some(&']'));
            }
            ']' => in_class = false,
            '(' if !in_class => {
                let captures = chars.get(at + 1) != Some(&'?') || matches!(chars.get(at + 2), Some('P' | '<'));
                open.push((at, captures));
            }
            ')' if !in_class => match open.pop() {
                Some((start, true)) => return Some((start, at)),
                Some(_) => {}
                None => return None,
            },
            _ => {}
        }
        at += 1;
    }
    None
}

/// Returns `text` without the colour codes of terminals. Any other code of a terminal becomes a blank:
/// it may move to another place.
pub(super) fn without_colours(text: &str) -> Cow<'_, str> {
    if !text.contains('\u{1b}') {
        return Cow::Borrowed(text);
    }
    let (mut plain, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(at) = rest.find('\u{1b}') {
        plain.push_str(&rest[..at]);
        let code = &rest[at + 1..];
        let (length, is_colour) = code_length(code);
        if !is_colour {
            plain.push(' ');
        }
        rest = &code[length..];
    }
    plain.push_str(rest);
    Cow::Owned(plain)
}

/// Returns the length of the code of a terminal behind its escape character, and true if it sets a
/// colour.
fn code_length(code: &str) -> (usize, bool) {
    let end = |mut from: std::str::CharIndices<'_>, last: fn(char) -> bool| {
        from.find(|(_, c)| last(*c) || c.is_control())
            .map_or(code.len(), |(at, c)| at + if last(c) { c.len_utf8() } else { 0 })
    };
    let mut chars = code.char_indices();
    match chars.next() {
        Some((_, '[')) => {
            let length = end(chars, |c| ('@'..='~').contains(&c));
            (length, code[..length].ends_with('m'))
        }
        // A title or a link, up to a bell or a backslash.
        Some((_, ']')) => (end(chars, |c| c == '\u{7}' || c == '\\'), true),
        Some((_, c)) if !c.is_control() => (c.len_utf8(), false),
        _ => (0, false),
    }
}

#[cfg(test)]
mod tests;
