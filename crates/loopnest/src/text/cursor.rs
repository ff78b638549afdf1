//! Reads tokens one after the other.

use super::lexer::{Kind, Token, tokens};
use crate::error::{NestError, Place};

/// A place among the tokens of a text.
pub(super) struct Cursor {
    tokens: Vec<Token>,
    next: usize,
}

impl Cursor {
    pub(super) fn new(text: &str) -> Result<Self, NestError> {
        Ok(Cursor { tokens: tokens(text)?, next: 0 })
    }

    /// Returns the next token. The last token is `End`, and the cursor never passes it.
    pub(super) fn peek(&self) -> &Kind {
        &self.tokens[self.next].kind
    }

    /// Returns the token after the next.
    pub(super) fn peek_second(&self) -> &Kind {
        &self.tokens[(self.next + 1).min(self.tokens.len() - 1)].kind
    }

    pub(super) fn place(&self) -> Place {
        self.tokens[self.next].place
    }

    pub(super) fn advance(&mut self) -> Kind {
        let kind = self.tokens[self.next].kind.clone();
        self.next = (self.next + 1).min(self.tokens.len() - 1);
        kind
    }

    /// Passes the symbol if it comes next.
    pub(super) fn accept(&mut self, symbol: &str) -> bool {
        let found = matches!(self.peek(), Kind::Symbol(next) if *next == symbol);
        if found {
            self.advance();
        }
        found
    }

    /// Passes the word if it comes next.
    pub(super) fn accept_word(&mut self, word: &str) -> bool {
        let found = matches!(self.peek(), Kind::Name(next) if next == word);
        if found {
            self.advance();
        }
        found
    }

    pub(super) fn expect(&mut self, symbol: &str) -> Result<(), NestError> {
        if self.accept(symbol) { Ok(()) } else { Err(self.unexpected(&format!("`{symbol}`"))) }
    }

    pub(super) fn name(&mut self, what: &str) -> Result<String, NestError> {
        match self.peek() {
            Kind::Name(name) => {
                let name = name.clone();
                self.advance();
                Ok(name)
            }
            _ => Err(self.unexpected(what)),
        }
    }

    pub(super) fn integer(&mut self, what: &str) -> Result<i128, NestError> {
        match *self.peek() {
            Kind::Integer(number) => {
                self.advance();
                Ok(number)
            }
            _ => Err(self.unexpected(what)),
        }
    }

    /// Parses one or more items with `read`, separated by commas.
    pub(super) fn list<T>(
        &mut self,
        mut read: impl FnMut(&mut Self) -> Result<T, NestError>,
    ) -> Result<Vec<T>, NestError> {
        let mut items = vec![read(self)?];
        while self.accept(",") {
            items.push(read(self)?);
        }
        Ok(items)
    }

    pub(super) fn end_of_line(&mut self) -> Result<(), NestError> {
        match self.peek() {
            Kind::Newline | Kind::End => {
                self.advance();
                Ok(())
            }
            _ => Err(self.unexpected("the end of the line")),
        }
    }

    /// Returns an error at the next token, which is not the wanted one.
    pub(super) fn unexpected(&self, wanted: &str) -> NestError {
        NestError::new(format!("expected {wanted}, found {}", self.peek().describe())).at(self.place())
    }
}
