//! Instructions of a nest.

use super::affine::{Affine, LoopId};
use super::expr::{Access, ArrayId, Expr, Function, Operator};
use super::operation::Operation;
use crate::error::Place;
use std::collections::BTreeSet;
use std::fmt;

/// `target = value` at every point of the loops around the instruction.
#[derive(Clone, Debug, PartialEq)]
pub struct Instruction {
    /// The cell that is written.
    pub target: Access,
    /// The value that is written.
    pub value: Expr,
    /// True if the instruction is an [update](Instruction::update) that no other one interrupts. Its
    /// iterations may then run in any order and side by side.
    pub is_atomic: bool,
    /// The loops around it, including the outer loops that their bounds use.
    pub within: BTreeSet<LoopId>,
    /// The place in the text.
    pub place: Option<Place>,
}

impl Instruction {
    /// Returns the cells that it reads, then the cell that it writes, with their places in the
    /// text.
    pub fn accesses(&self) -> impl Iterator<Item = (&Access, Option<Place>, Direction)> {
        let loads = self.value.loads().into_iter().map(|(access, place)| (access, place, Direction::Load));
        loads.chain(std::iter::once((&self.target, self.place, Direction::Store)))
    }

    /// Returns the operation and the operand of an atomic update `x = x + e`, `x = min(x, e)` or
    /// `x = max(x, e)`, also with the parts of the operation exchanged. Returns `None` for any other
    /// instruction.
    pub fn update(&self) -> Option<(Operation, &Expr)> {
        let is_target = |part: &Expr| matches!(part, Expr::Load(access, _) if *access == self.target);
        let (operation, [left, right]) = match &self.value {
            Expr::Binary(Operator::Add, left, right) => (Operation::Add, [left.as_ref(), right.as_ref()]),
            Expr::Call(function @ (Function::Min | Function::Max), arguments) => {
                (Operation::Special(*function), [arguments.first()?, arguments.get(1)?])
            }
            _ => return None,
        };
        let operand = if is_target(left) { right } else { Some(left).filter(|_| is_target(right))? };
        Some((operation, operand)).filter(|_| self.is_atomic)
    }

    /// Returns the part of the value that the work-item computes on its own: the operand of an atomic
    /// update, and else the value.
    pub(crate) fn computed(&self) -> &Expr {
        self.update().map_or(&self.value, |(_, operand)| operand)
    }

    /// Returns the accesses of [`Instruction::accesses`] that are no part of an atomic update.
    pub(crate) fn plain_accesses(&self) -> impl Iterator<Item = (&Access, Option<Place>, Direction)> {
        self.accesses().filter(|(access, ..)| !self.is_atomic || access.array != self.target.array)
    }

    /// Returns true if both instructions update the array atomically by the same operation. They may
    /// then run in any order.
    pub(crate) fn commutes(&self, other: &Instruction, array: ArrayId) -> bool {
        let operation = |own: &Instruction| own.update().map(|(operation, _)| operation);
        let is_of_array = [self, other].iter().all(|own| own.target.array == array);
        is_of_array && operation(self).is_some() && operation(self) == operation(other)
    }

    /// Returns every sum of sizes, indices and looked-up values in it.
    pub(crate) fn sums(&self) -> Vec<&Affine> {
        self.target.subscripts.iter().chain(self.value.sums()).collect()
    }
}

/// The direction of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Direction {
    /// A read.
    Load,
    /// A write.
    Store,
}

impl fmt::Display for Direction {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Direction::Load => "load",
            Direction::Store => "store",
        })
    }
}
