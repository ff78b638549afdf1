//! Splits text into tokens.

use crate::error::{NestError, Place};

/// The kind of a token.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind {
    Name(String),
    Integer(i128),
    Number(f64),
    Symbol(&'static str),
    /// The end of a line outside of brackets.
    Newline,
    End,
}

impl Kind {
    /// Returns the name of the token in messages.
    pub(super) fn describe(&self) -> String {
        match self {
            Kind::Name(name) => format!("`{name}`"),
            Kind::Integer(number) => format!("`{number}`"),
            Kind::Number(number) => format!("`{number}`"),
            Kind::Symbol(symbol) => format!("`{symbol}`"),
            Kind::Newline => "the end of the line".to_string(),
            Kind::End => "the end of the text".to_string(),
        }
    }
}

/// A token and its place.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) place: Place,
}

/// The symbols. A longer symbol stands before its own beginnings.
const SYMBOLS: [&str; 24] = [
    "**", "<=", ">=", "->", "==", "!=", "{", "}", "[", "]", "(", ")", ",", ":", "=", "<", ">", "+", "-", "*", "/", "@",
    ".", ";",
];

/// Largest integer. Larger ones have no use in a nest, and sums of smaller ones stay far from
/// overflow. Sums that a nest keeps have no larger ones either, so that it can be read again.
pub(super) const LARGEST: i128 = 1 << 40;

struct Lexer<'a> {
    rest: &'a str,
    place: Place,
    depth: usize,
    tokens: Vec<Token>,
}

/// Returns the tokens of a text. `#` starts a comment.
pub(super) fn tokens(text: &str) -> Result<Vec<Token>, NestError> {
    let mut lexer = Lexer { rest: text, place: Place { line: 1, column: 1 }, depth: 0, tokens: Vec::new() };
    while let Some(first) = lexer.rest.chars().next() {
        lexer.step(first)?;
    }
    lexer.push(Kind::Newline, 0);
    lexer.push(Kind::End, 0);
    Ok(lexer.tokens)
}

impl Lexer<'_> {
    fn step(&mut self, first: char) -> Result<(), NestError> {
        match first {
            '\n' => self.newline(),
            '#' => self.advance(self.rest.find('\n').unwrap_or(self.rest.len())),
            _ if first.is_whitespace() => self.advance(first.len_utf8()),
            _ if first.is_ascii_digit() => self.number()?,
            _ if first.is_ascii_alphabetic() || first == '_' => {
                let end = self.rest.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
                let length = end.unwrap_or(self.rest.len());
                self.push(Kind::Name(self.rest[..length].to_string()), length);
            }
            _ => self.symbol(first)?,
        }
        Ok(())
    }

    fn newline(&mut self) {
        if self.depth == 0 {
            self.push(Kind::Newline, 0);
        }
        self.rest = &self.rest[1..];
        self.place = Place { line: self.place.line + 1, column: 1 };
    }

    fn advance(&mut self, length: usize) {
        self.place.column += self.rest[..length].chars().count();
        self.rest = &self.rest[length..];
    }

    fn push(&mut self, kind: Kind, length: usize) {
        self.tokens.push(Token { kind, place: self.place });
        self.advance(length);
    }

    fn number(&mut self) -> Result<(), NestError> {
        let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
        let mut length = digits(self.rest);
        let mut is_integer = true;
        if self.rest[length..].starts_with('.') {
            length += 1 + digits(&self.rest[length + 1..]);
            is_integer = false;
        }
        if self.rest[length..].starts_with(['e', 'E']) {
            let sign = usize::from(self.rest[length + 1..].starts_with(['+', '-']));
            let exponent = digits(&self.rest[length + 1 + sign..]);
            if exponent > 0 {
                length += 1 + sign + exponent;
                is_integer = false;
            }
        }
        let text = &self.rest[..length];
        let kind = if is_integer {
            let value = text.parse().ok().filter(|value| *value <= LARGEST);
            let error =
                || NestError::new(format!("the integer {text} is too large")).remedy(format!("at most {LARGEST}"));
            Kind::Integer(value.ok_or_else(|| error().at(self.place))?)
        } else {
            let value: Option<f64> = text.parse().ok().filter(|value: &f64| value.is_finite());
            Kind::Number(value.ok_or_else(|| NestError::new(format!("{text} is not a number")).at(self.place))?)
        };
        self.push(kind, length);
        Ok(())
    }

    fn symbol(&mut self, first: char) -> Result<(), NestError> {
        let Some(symbol) = SYMBOLS.iter().find(|symbol| self.rest.starts_with(**symbol)) else {
            return Err(NestError::new(format!("`{first}` has no meaning here")).at(self.place));
        };
        match *symbol {
            "{" | "[" | "(" => self.depth += 1,
            "}" | "]" | ")" => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
        self.push(Kind::Symbol(symbol), symbol.len());
        Ok(())
    }
}
