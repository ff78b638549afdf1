//! Dependent operations that follow each other.

use crate::ir::{Expr, Function, Operation, Type};
use std::collections::BTreeMap;

/// Operations of a chain, by kind and type.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Length(BTreeMap<(Operation, Type), i128>);

impl Length {
    /// Returns the outermost operation of an expression that is computed as `kind`. A small power is
    /// a chain of multiplications. With `in_sum`, the last multiplication belongs to a sum that it is
    /// fused with. Integers have no operations: their arithmetic is mostly that of subscripts.
    pub(super) fn of(expr: &Expr, kind: Type, in_sum: bool) -> Self {
        let own = Operation::outermost(expr).filter(|_| kind.is_float());
        let own = own.map(|(operation, times)| match operation {
            Operation::Mul => (operation, times - i128::from(in_sum)),
            _ => (operation, times),
        });
        let own = own.filter(|(_, times)| *times > 0);
        Length(own.map(|(operation, times)| ((operation, kind), times)).into_iter().collect())
    }

    pub(super) fn one(operation: Operation, kind: Type) -> Self {
        Length(BTreeMap::from([((operation, kind), 1)]))
    }

    pub(super) fn plus(mut self, other: &Length) -> Self {
        other.0.iter().for_each(|(operation, times)| *self.0.entry(*operation).or_default() += times);
        self
    }

    /// Returns the operations that it has more than an earlier one.
    pub(super) fn since(&self, earlier: &Length) -> Self {
        let more = |(operation, times): (&(Operation, Type), &i128)| {
            let times = times - earlier.0.get(operation).unwrap_or(&0);
            (times > 0).then_some((*operation, times))
        };
        Length(self.0.iter().filter_map(more).collect())
    }

    pub(super) fn longer(self, other: Length) -> Self {
        if other.cycles() > self.cycles() { other } else { self }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = ((Operation, Type), i128)> {
        self.0.iter().map(|(operation, times)| (*operation, *times))
    }

    /// Returns the number of operations.
    pub(super) fn operations(&self) -> i128 {
        self.0.values().sum()
    }

    /// Returns the cycles that processors of today take for it, roughly. They decide which of two
    /// chains is the longer one, and nothing else.
    pub(super) fn cycles(&self) -> i128 {
        self.iter().map(|(operation, times)| cycles(operation) * times).sum()
    }
}

fn cycles((operation, kind): (Operation, Type)) -> i128 {
    let wide = i128::from(kind == Type::F64);
    match operation {
        Operation::Add => 3,
        Operation::Mul | Operation::Fma => 4,
        Operation::Div => 11 + 2 * wide,
        Operation::Special(Function::Sqrt) => 15 + 5 * wide,
        // Chains have none.
        Operation::Convert(_) => 0,
        Operation::Special(Function::Abs | Function::Min | Function::Max | Function::Select(_)) => 2,
        Operation::Pow | Operation::Special(_) => 60,
    }
}
