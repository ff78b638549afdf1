//! What a run of a nest did, counted one by one.

use crate::ir::{ArrayId, Direction, Function, Operator, Type};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// Kinds of arithmetic that are counted apart.
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
    /// A product and a sum in one, where they are [counted](crate::Nest::count_modern) as such: no operator counts as it.
    Fma,
    /// A function.
    Special(Function),
}

impl Operation {
    /// What an operator counts as.
    pub fn of(operator: Operator) -> Self {
        match operator {
            Operator::Add | Operator::Sub => Operation::Add,
            Operator::Mul => Operation::Mul,
            Operator::Div => Operation::Div,
            Operator::Pow => Operation::Pow,
        }
    }
}

/// What a run of a nest did, over all work-items.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// How often each instruction ran.
    pub runs: Vec<u64>,
    /// Arithmetic by kind and type.
    pub operations: BTreeMap<(Operation, Type), u64>,
    /// Accesses to every array.
    pub accesses: BTreeMap<(ArrayId, Direction), u64>,
    /// The cells of every array that were touched, numbered with the last axis fastest.
    pub touched: BTreeMap<ArrayId, BTreeSet<usize>>,
    /// Barriers times the work-items that met them.
    pub barriers: u64,
    /// Work-groups.
    pub groups: u64,
}

impl fmt::Display for Operation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Operation::Add => "add",
            Operation::Mul => "mul",
            Operation::Div => "div",
            Operation::Pow => "pow",
            Operation::Fma => "fma",
            Operation::Special(function) => function.name(),
        })
    }
}
