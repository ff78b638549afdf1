//! Instructions of a nest.

use super::affine::{Affine, LoopId};
use super::expr::{Access, Expr};
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
