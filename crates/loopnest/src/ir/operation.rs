//! Kinds of arithmetic.

use super::expr::{Expr, Function, Operator, Type};
use std::fmt;

/// Kinds of arithmetic that are counted separately.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Operation {
    /// Addition and subtraction.
    Add,
    /// Multiplication.
    Mul,
    /// Division.
    Div,
    /// Exponentiation.
    Pow,
    /// A fused product and sum, if they are [counted](crate::count::count_modern) as one. No
    /// operator counts as it.
    Fma,
    /// A function. All [selections](Function::Select) are one.
    Special(Function),
    /// A conversion from this type to the type of the operation. No operator counts as it.
    Convert(Type),
}

impl Operation {
    /// Returns the operation that an operator counts as.
    pub fn of(operator: Operator) -> Self {
        match operator {
            Operator::Add | Operator::Sub => Operation::Add,
            Operator::Mul => Operation::Mul,
            Operator::Div => Operation::Div,
            Operator::Pow => Operation::Pow,
        }
    }

    /// Returns the outermost operation of an expression, and how often it is done. A small power is
    /// multiplications, one fewer than its exponent. An index, a number, a load or a sign is none.
    pub(crate) fn outermost(expr: &Expr) -> Option<(Self, i128)> {
        match (expr, expr.small_power()) {
            (_, Some(exponent)) => Some((Operation::Mul, exponent - 1)),
            (Expr::Binary(operator, ..), None) => Some((Operation::of(*operator), 1)),
            (Expr::Call(function, _), None) => Some((Operation::of_function(*function), 1)),
            _ => None,
        }
    }

    /// Returns the operation that a function counts as.
    pub fn of_function(function: Function) -> Self {
        Operation::Special(function.counted())
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self {
            Operation::Add => "add",
            Operation::Mul => "mul",
            Operation::Div => "div",
            Operation::Pow => "pow",
            Operation::Fma => "fma",
            Operation::Special(function) => function.name(),
            Operation::Convert(from) => return write!(formatter, "from_{from}"),
        };
        formatter.write_str(name)
    }
}
