//! The text form: read and written.

mod cursor;
mod expression;
mod lexer;
mod parser;
mod print;
mod relation;
mod transformation;
