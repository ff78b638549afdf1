//! Expressions in Python's syntax with Python's meaning.
//!
//! Constraints, sizes and value lists are expressions. The crate's own parser reads them, and they
//! never run as code. [`lexer`] and [`parser`] turn text into a tree ([`ast`]). [`evaluate`] walks
//! this tree, and the diagram's compiler starts from it.

mod arithmetic;
mod ast;
mod builtin;
mod closure;
mod datum;
mod error;
mod evaluate;
mod excess;
mod lexer;
mod operator;
mod parser;
mod trend;

use std::ops::Range;
use std::sync::Arc;

pub use error::ExprError;
pub use trend::{Change, Course, Sign, Trend};

pub(crate) use arithmetic::float_division;
pub(crate) use ast::{Conditional, Kind, Node};
pub(crate) use builtin::Builtin;
pub(crate) use closure::Closure;
pub(crate) use datum::Datum;
pub(crate) use evaluate::Evaluator;
pub(crate) use operator::{BinaryOp, CompareOp, UnaryOp};

use crate::value::Value;

/// A name that an expression uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// The name as written. Dots belong to it: `device.max_work_group_size` is one name.
    pub text: String,
    /// The range of its first occurrence, in bytes.
    pub span: Range<usize>,
}

/// A parsed expression.
///
/// The meaning is Python's: `/` is true division, `//` and `%` round down also for negative numbers
/// and floats, comparisons chain, `and` and `or` give one of their operands, and `round` rounds
/// half to even.
///
/// The functions are `min max abs round len int float bool sum any all pow range list tuple set`,
/// `floor ceil sqrt log2 gcd` and `ceildiv(a, b)`. The functions of Python's `math` may have the
/// prefix `math.`. Tuples and sets are lists: `(1, 2) == [1, 2]`, and sets have an order. C's `&&`,
/// `||`, `!`, `true` and `false` are accepted too; `!` binds as in C. Integers have 128 bits during
/// evaluation. A result that does not fit is an error.
///
/// ```
/// use tunesmith_space::{Expr, Value};
///
/// let expr = Expr::parse("ceildiv(N, tile) * (2 if padded else 1)")?;
/// let names: Vec<&str> = expr.names().iter().map(|name| name.text.as_str()).collect();
/// assert_eq!(names, ["N", "tile", "padded"]);
///
/// let value = expr.evaluate(&|name| match name {
///     "N" => Some(Value::Int(100)),
///     "tile" => Some(Value::Int(32)),
///     "padded" => Some(Value::Bool(true)),
///     _ => None,
/// })?;
/// assert_eq!(value, Value::Int(8));
///
/// let error = Expr::parse("tile <= ").unwrap_err();
/// assert_eq!(error.message, "expression ends after `<=`, expected a number, a name or `(`");
/// # Ok::<(), tunesmith_space::ExprError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Expr {
    parsed: Arc<Parsed>,
}

#[derive(Debug)]
struct Parsed {
    text: String,
    root: Node,
    names: Vec<Name>,
}

impl Expr {
    /// Parses `text`. Never panics.
    ///
    /// # Errors
    /// The text is not an expression. The error names the expected token and its position.
    pub fn parse(text: &str) -> Result<Expr, ExprError> {
        let (root, names) = parser::parse(text)?;
        Ok(Expr { parsed: Arc::new(Parsed { text: text.to_owned(), root, names }) })
    }

    /// Returns the expression that is always `value`. Its text is the value in Python's syntax.
    pub fn constant(value: Value) -> Expr {
        let text = value.python();
        let root = Node::new(Kind::Literal(Datum::from(&value)), 0..text.len());
        Expr { parsed: Arc::new(Parsed { text, root, names: Vec::new() }) }
    }

    /// Returns the expression that calls `closure` with the values of the names in `scope`. Its
    /// text only describes the call.
    pub(crate) fn closure(closure: Closure, scope: &[&str]) -> Expr {
        let mut text = format!("{} version {} of (", closure.name, closure.version);
        let mut names: Vec<Name> = Vec::new();
        let mut parts = Vec::new();
        for (at, name) in scope.iter().enumerate() {
            text.push_str(if at == 0 { "" } else { ", " });
            let span = text.len()..text.len() + name.len();
            text.push_str(name);
            let known = names.iter().position(|known| known.text == *name);
            parts.push(Node::new(Kind::Name(known.unwrap_or(names.len())), span.clone()));
            if known.is_none() {
                names.push(Name { text: (*name).to_owned(), span });
            }
        }
        text.push(')');
        let root = Node::new(Kind::Closure(closure, parts), 0..text.len());
        Expr { parsed: Arc::new(Parsed { text, root, names }) }
    }

    /// Returns the text that was parsed.
    pub fn text(&self) -> &str {
        &self.parsed.text
    }

    /// Returns the distinct names that the expression uses, in order of appearance. Variables of
    /// comprehensions and functions are not among them.
    pub fn names(&self) -> &[Name] {
        &self.parsed.names
    }

    /// Returns true if a condition takes a computed number for a truth. Examples are `N % T` with a
    /// forgotten `== 0`, and `A < B and N % T`.
    pub fn takes_number_for_truth(&self) -> bool {
        self.parsed.root.is_number()
    }

    /// Evaluates the expression. `scope` gives the values of the names.
    ///
    /// # Errors
    /// `scope` does not know a name, an operator does not accept its operands' types, a divisor is
    /// zero, an integer exceeds 128 bits (64 for the result), or the result is a list.
    pub fn evaluate(&self, scope: &dyn Fn(&str) -> Option<Value>) -> Result<Value, ExprError> {
        let value = self.evaluate_datum(scope)?;
        to_value(&value, self.whole())
    }

    /// Evaluates the expression to an integer, with the rule for sizes and ranges.
    ///
    /// Accepts integers, booleans (0 and 1) and whole floats: `8 / 2` is `4.0` in Python, but its
    /// author means 4. Refuses `7 / 2` with the advice to write `//` or `ceildiv`.
    ///
    /// # Errors
    /// The errors of [`Expr::evaluate`], and a value that is not whole.
    pub fn evaluate_int(&self, scope: &dyn Fn(&str) -> Option<Value>) -> Result<i64, ExprError> {
        let value = self.evaluate(scope)?;
        match value {
            // The magnitude is below 2^63, so the conversion is exact.
            Value::Float(float) if float.fract() == 0.0 && float.abs() < 9.2e18 => Ok(float as i64),
            Value::Float(_) => Err(ExprError::new(format!("must give an integer, gives {value}"), self.whole())
                .remedy("divide with `//` to round down or `ceildiv(a, b)` to round up")),
            Value::Str(_) => {
                Err(ExprError::new(format!("must give an integer, gives the string `{value}`"), self.whole()))
            }
            Value::Int(int) => Ok(int),
            Value::Bool(truth) => Ok(i64::from(truth)),
        }
    }

    fn evaluate_datum(&self, scope: &dyn Fn(&str) -> Option<Value>) -> Result<Datum, ExprError> {
        let lookup = |index: usize, span: &Range<usize>| {
            let name = &self.parsed.names[index].text;
            scope(name).map(|value| Datum::from(&value)).ok_or_else(|| unknown_name(name, span))
        };
        Evaluator::new(&lookup).evaluate(&self.parsed.root)
    }

    fn whole(&self) -> Range<usize> {
        0..self.parsed.text.len()
    }

    pub(crate) fn root(&self) -> &Node {
        &self.parsed.root
    }
}

/// Parses a list of values as T1 files write them: `[1, 2, 4]`, `list(range(1, 9))`,
/// `[2**i for i in range(5)]`, `[1, 2] + [4]`. A single value is a list of one.
///
/// # Errors
/// The errors of [`Expr::parse`] and [`Expr::evaluate`], and a list within the list.
pub fn parse_values(text: &str, scope: &dyn Fn(&str) -> Option<Value>) -> Result<Vec<Value>, ExprError> {
    let expr = Expr::parse(text)?;
    match expr.evaluate_datum(scope)? {
        Datum::List(items) => items.iter().map(|item| to_value(item, expr.whole())).collect(),
        single => to_value(&single, expr.whole()).map(|value| vec![value]),
    }
}

fn unknown_name(name: &str, span: &Range<usize>) -> ExprError {
    ExprError::new(format!("`{name}` is not known here"), span.clone())
}

fn to_value(datum: &Datum, span: Range<usize>) -> Result<Value, ExprError> {
    match datum {
        Datum::Int(value) => i64::try_from(*value)
            .map(Value::Int)
            .map_err(|_| ExprError::new(format!("{value} does not fit into 64 bits"), span)),
        Datum::Float(value) => Ok(Value::Float(*value)),
        Datum::Bool(value) => Ok(Value::Bool(*value)),
        Datum::Str(value) => Ok(Value::Str(Arc::clone(value))),
        Datum::List(_) => Err(ExprError::new("gives a list where one value is needed", span)),
    }
}
