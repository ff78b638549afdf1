//! Turns text into tokens with spans.

use std::ops::Range;

use super::error::ExprError;

/// The meaning of a token.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    Int(i128),
    Float(f64),
    Text(String),
    /// A name, dots included.
    Name(String),
    /// A keyword or operator, in Python's spelling.
    Symbol(&'static str),
    End,
}

/// A token and its range in the text.
#[derive(Clone, Debug)]
pub(super) struct Spanned {
    pub(super) token: Token,
    pub(super) span: Range<usize>,
}

/// Reserved words. The second column is the spelling for the parser.
const KEYWORDS: &[(&str, &str)] = &[
    ("and", "and"),
    ("or", "or"),
    ("not", "not"),
    ("in", "in"),
    ("if", "if"),
    ("else", "else"),
    ("for", "for"),
    ("True", "True"),
    ("False", "False"),
    // C's spelling, which users of other tuners write.
    ("true", "True"),
    ("false", "False"),
];

/// Operators, longest first. `&&`, `||` and `!` are C's spelling of Python's words.
const OPERATORS: &[(&str, &str)] = &[
    ("**", "**"),
    ("//", "//"),
    ("<<", "<<"),
    (">>", ">>"),
    ("<=", "<="),
    (">=", ">="),
    ("==", "=="),
    ("!=", "!="),
    ("&&", "and"),
    ("||", "or"),
    ("<", "<"),
    (">", ">"),
    ("+", "+"),
    ("-", "-"),
    ("*", "*"),
    ("/", "/"),
    ("%", "%"),
    ("&", "&"),
    ("|", "|"),
    ("^", "^"),
    ("~", "~"),
    ("!", "!"),
    ("(", "("),
    (")", ")"),
    ("[", "["),
    ("]", "]"),
    ("{", "{"),
    ("}", "}"),
    (",", ","),
];

/// Splits `text` into tokens. The last one is always [`Token::End`].
pub(super) fn tokens(text: &str) -> Result<Vec<Spanned>, ExprError> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        if first.is_whitespace() {
            at += first.len_utf8();
            continue;
        }
        let (token, length) = token(text, at, first)?;
        tokens.push(Spanned { token, span: at..at + length });
        at += length;
    }
    tokens.push(Spanned { token: Token::End, span: text.len()..text.len() });
    Ok(tokens)
}

/// Returns the token that starts at byte `at` with the character `first`, and its length in bytes.
fn token(text: &str, at: usize, first: char) -> Result<(Token, usize), ExprError> {
    let rest = &text[at..];
    let second_is_digit = rest[first.len_utf8()..].starts_with(|c: char| c.is_ascii_digit());
    if first.is_ascii_digit() || (first == '.' && second_is_digit) {
        return number(rest, at);
    }
    if is_name_start(first) {
        return Ok(name(rest));
    }
    if first == '\'' || first == '"' {
        return string(rest, at, first);
    }
    let operator = OPERATORS.iter().find(|(spelling, _)| rest.starts_with(spelling));
    operator.map(|(spelling, symbol)| (Token::Symbol(symbol), spelling.len())).ok_or_else(|| unknown(at, first))
}

fn unknown(at: usize, first: char) -> ExprError {
    let span = at..at + first.len_utf8();
    match first {
        '=' => ExprError::new("`=` assigns, it does not compare", span).remedy("write `==` to compare"),
        '?' => ExprError::new("`?` is not an operator", span).remedy("write `a if condition else b`"),
        other => ExprError::new(format!("unexpected character `{}`", other.escape_debug()), span),
    }
}

fn is_name_start(c: char) -> bool {
    c.is_alphabetic() || c == '_'
}

/// Reads a name: identifiers joined by dots, such as `device.max_work_group_size`.
fn name(rest: &str) -> (Token, usize) {
    let identifier = |from: usize| {
        rest[from..].find(|c: char| !(c.is_alphanumeric() || c == '_')).map_or(rest.len(), |length| from + length)
    };
    let mut end = identifier(0);
    while rest[end..].strip_prefix('.').is_some_and(|after| after.starts_with(is_name_start)) {
        end = identifier(end + 1);
    }
    let word = &rest[..end];
    let keyword = KEYWORDS.iter().find(|(spelling, _)| *spelling == word);
    (keyword.map_or_else(|| Token::Name(word.to_owned()), |(_, symbol)| Token::Symbol(symbol)), end)
}

/// Reads a quoted text with the common escapes.
fn string(rest: &str, at: usize, quote: char) -> Result<(Token, usize), ExprError> {
    let mut text = String::new();
    let mut characters = rest.char_indices().skip(1);
    while let Some((index, c)) = characters.next() {
        match c {
            c if c == quote => return Ok((Token::Text(text), index + 1)),
            '\\' => match characters.next() {
                Some((_, 'n')) => text.push('\n'),
                Some((_, 't')) => text.push('\t'),
                Some((_, 'r')) => text.push('\r'),
                Some((_, escaped @ ('\\' | '\'' | '"'))) => text.push(escaped),
                Some((_, 'a' | 'b' | 'f' | 'v' | 'x' | 'u' | 'U' | 'N' | '0'..='7' | '\n')) => {
                    return Err(ExprError::new("this escape in a string is not supported", at + index..at + index + 2)
                        .remedy("write the character itself"));
                }
                Some((_, other)) => text.extend(['\\', other]),
                None => break,
            },
            c => text.push(c),
        }
    }
    Err(ExprError::new("the string is not closed", at..at + rest.len()).remedy(format!("end it with {quote}")))
}

/// Reads an integer (decimal, `0x`, `0o`, `0b`, with `_` between digits) or a float.
fn number(rest: &str, at: usize) -> Result<(Token, usize), ExprError> {
    let length = number_length(rest);
    let word = &rest[..length];
    let span = at..at + length;
    let digits = word.replace('_', "");
    if word.ends_with('_') || word.contains("__") {
        return Err(ExprError::new(format!("`{word}` is not a number"), span));
    }
    let is_whole = digits.bytes().all(|byte| byte.is_ascii_digit());
    if is_whole && digits.starts_with('0') && digits.bytes().any(|byte| byte != b'0') {
        return Err(ExprError::new(format!("`{word}` starts with zero"), span)
            .remedy("leave the zero out, or write `0o` before octal digits"));
    }
    let radix = match digits.get(..2) {
        Some("0x" | "0X") => 16,
        Some("0o" | "0O") => 8,
        Some("0b" | "0B") => 2,
        _ => 10,
    };
    let token = if radix != 10 {
        i128::from_str_radix(&digits[2..], radix).ok().map(Token::Int)
    } else if is_whole {
        digits.parse().ok().map(Token::Int)
    } else {
        digits.parse().ok().map(Token::Float)
    };
    token.map(|token| (token, length)).ok_or_else(|| {
        if is_whole {
            ExprError::new(format!("the integer `{word}` is too large"), span)
        } else {
            ExprError::new(format!("`{word}` is not a number"), span)
        }
    })
}

/// Returns the length of a number: letters and digits, one point, and a sign directly after a
/// decimal exponent.
fn number_length(rest: &str) -> usize {
    let bytes = rest.as_bytes();
    let prefixed = matches!(bytes.get(1), Some(b'x' | b'X' | b'o' | b'O' | b'b' | b'B')) && bytes[0] == b'0';
    let mut end = 0;
    while let Some(&byte) = bytes.get(end) {
        let exponent_sign =
            matches!(byte, b'+' | b'-') && !prefixed && end > 0 && matches!(bytes[end - 1], b'e' | b'E');
        let part = byte.is_ascii_alphanumeric() || byte == b'_' || (byte == b'.' && !prefixed) || exponent_sign;
        if !part {
            break;
        }
        end += 1;
    }
    end
}
