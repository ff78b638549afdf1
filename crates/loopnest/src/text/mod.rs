//! Parses the text form of nests and recipes. [`print`](crate::print) writes it.

mod cursor;
mod expression;
mod lexer;
mod parser;
mod relation;
mod transformation;
