//! A kernel as a loop nest.

use super::affine::{Affine, LookupId, LoopId, SizeId, Var};
use super::array::{Array, Memory};
use super::expr::{Access, ArrayId, Expr, Type};
use super::instruction::{Direction, Instruction};
use super::loops::Loop;
use super::types;
use crate::error::{NestError, Place};
use std::collections::{BTreeMap, BTreeSet};

/// A kernel: loops, arrays, and instructions that run at the points of the loops around them.
///
/// A nest means that its instructions run one after the other, in the order of the list. Neighbours
/// in the list share the outer loops that they have in common. [`Schedule`](crate::Schedule) makes
/// this order explicit.
#[derive(Clone, Debug, PartialEq)]
pub struct Nest {
    /// Name of the kernel, an identifier.
    pub name: String,
    /// Names of the sizes, in the order in which their values are given.
    pub sizes: Vec<String>,
    /// Assumed facts about the sizes.
    pub assumptions: Assumptions,
    /// Arrays and scalars.
    pub arrays: Vec<Array>,
    /// Values that bounds and subscripts take from arrays.
    pub lookups: Vec<Lookup>,
    /// The average number of iterations of loops whose bounds depend on data: sums of sizes that
    /// the user states.
    pub statistics: BTreeMap<LoopId, Affine>,
    /// Every loop. [`Nest::order`] gives their nesting.
    pub loops: Vec<Loop>,
    /// The loops from the outermost to the innermost. The bounds of a loop use only loops before
    /// it.
    pub order: Vec<LoopId>,
    /// The computation.
    pub instructions: Vec<Instruction>,
}

/// A value that is taken from an array of integers. Nothing writes the array.
#[derive(Clone, Debug, PartialEq)]
pub struct Lookup {
    /// Its name, an identifier.
    pub name: String,
    /// The cell that holds the value.
    pub access: Access,
    /// The place of its declaration.
    pub place: Option<Place>,
}

/// Assumed facts about the sizes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Assumptions {
    /// Sums of sizes that are not negative.
    pub at_least_zero: Vec<Affine>,
    /// Sizes with a known remainder.
    pub congruences: Vec<Congruence>,
}

/// `size mod modulus = remainder`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Congruence {
    /// The size.
    pub size: SizeId,
    /// The divisor, at least 1.
    pub modulus: i128,
    /// The remainder, from 0 to `modulus - 1`.
    pub remainder: i128,
}

impl Nest {
    /// Returns the loop of that name.
    ///
    /// # Errors
    ///
    /// Fails if there is none, and suggests the nearest name.
    pub fn loop_id(&self, name: &str) -> Result<LoopId, NestError> {
        let found = self.loops.iter().position(|candidate| candidate.name == name);
        let known = || self.loops.iter().map(|candidate| candidate.name.as_str());
        found.map(LoopId).ok_or_else(|| NestError::unknown("loop", name, known()))
    }

    /// Returns the array or scalar of that name.
    ///
    /// # Errors
    ///
    /// Fails if there is none, and suggests the nearest name.
    pub fn array_id(&self, name: &str) -> Result<ArrayId, NestError> {
        let found = self.arrays.iter().position(|candidate| candidate.name == name);
        let known = || self.arrays.iter().map(|candidate| candidate.name.as_str());
        found.map(ArrayId).ok_or_else(|| NestError::unknown("array", name, known()))
    }

    /// Returns the loop behind a handle of this nest.
    pub fn loop_at(&self, id: LoopId) -> &Loop {
        &self.loops[id.0]
    }

    /// Returns the array behind a handle of this nest.
    pub fn array(&self, id: ArrayId) -> &Array {
        &self.arrays[id.0]
    }

    /// Returns the handles of all arrays and scalars.
    pub fn array_ids(&self) -> impl Iterator<Item = ArrayId> {
        (0..self.arrays.len()).map(ArrayId)
    }

    /// Returns the arrays in a kind of memory.
    pub fn arrays_in(&self, memory: Memory) -> impl Iterator<Item = ArrayId> {
        self.array_ids().filter(move |id| self.array(*id).memory == memory)
    }

    /// Returns the loops of `within`, from the outermost to the innermost.
    pub fn nesting(&self, within: &BTreeSet<LoopId>) -> Vec<LoopId> {
        self.order.iter().copied().filter(|id| within.contains(id)).collect()
    }

    /// Returns the constraints of all loops in `within`.
    pub fn domain(&self, within: &BTreeSet<LoopId>) -> Vec<Affine> {
        within.iter().flat_map(|id| self.loops[id.0].constraints.iter().cloned()).collect()
    }

    /// Returns the loops of `within` and every outer loop that their bounds use.
    pub(crate) fn closed(&self, within: impl IntoIterator<Item = LoopId>) -> BTreeSet<LoopId> {
        let mut closed = BTreeSet::new();
        let mut open: Vec<LoopId> = within.into_iter().collect();
        while let Some(id) = open.pop() {
            if closed.insert(id) {
                open.extend(self.loops[id.0].constraints.iter().flat_map(|sum| self.loops_of(sum)));
            }
        }
        closed
    }

    /// Returns the loops on which the value of a sum depends: the loops in it, and the loops in the
    /// subscripts of its lookups.
    pub fn loops_of<'a>(&'a self, sum: &'a Affine) -> impl Iterator<Item = LoopId> + 'a {
        let subscripts = sum.lookups().flat_map(|id| &self.lookup(id).access.subscripts);
        sum.loops().chain(subscripts.flat_map(Affine::loops))
    }

    /// Returns the lookup behind a handle of this nest.
    pub fn lookup(&self, id: LookupId) -> &Lookup {
        &self.lookups[id.0]
    }

    /// Returns true if the bounds of a loop depend on data.
    pub fn depends_on_data(&self, id: LoopId) -> bool {
        self.loop_at(id).constraints.iter().any(|sum| sum.lookups().next().is_some())
    }

    /// Returns `(written, read)`: true if some instruction writes the array, and if some
    /// instruction reads it.
    pub fn uses(&self, array: ArrayId) -> (bool, bool) {
        let mut uses = (false, false);
        for (access, _, direction) in self.instructions.iter().flat_map(Instruction::accesses) {
            if access.array == array {
                uses.0 |= direction == Direction::Store;
                uses.1 |= direction == Direction::Load;
            }
        }
        uses
    }

    /// Replaces the index of a loop in every instruction and in the bounds of the other loops.
    pub(crate) fn substitute(&mut self, id: LoopId, replacement: &Affine) {
        let change = |affine: &Affine| affine.substitute(Var::Loop(id), replacement);
        for (place, other) in self.loops.iter_mut().enumerate() {
            if place != id.0 {
                other.constraints.iter_mut().for_each(|constraint| *constraint = change(constraint));
            }
        }
        for lookup in &mut self.lookups {
            lookup.access = lookup.access.map(&change);
        }
        for instruction in &mut self.instructions {
            instruction.target = instruction.target.map(&change);
            let value = std::mem::replace(&mut instruction.value, Expr::Number(0.0));
            instruction.value = value.map_affine(&change);
        }
    }

    /// Returns every name in use.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        let arrays = self.arrays.iter().map(|array| array.name.as_str());
        let loops = self.loops.iter().map(|candidate| candidate.name.as_str());
        let lookups = self.lookups.iter().map(|lookup| lookup.name.as_str());
        self.sizes.iter().map(String::as_str).chain(arrays).chain(loops).chain(lookups)
    }

    /// Returns true if the sizes satisfy the assumptions.
    pub fn admits(&self, sizes: &[i64]) -> bool {
        let value = |variable: Var| match variable {
            Var::Size(id) => i128::from(sizes[id.0]),
            _ => 0,
        };
        let remains = |rule: &Congruence| value(Var::Size(rule.size)).rem_euclid(rule.modulus) == rule.remainder;
        self.assumptions.at_least_zero.iter().all(|sum| sum.evaluate(value) >= 0)
            && self.assumptions.congruences.iter().all(remains)
    }

    /// Returns the size, loop or lookup of that name as a variable.
    pub fn variable(&self, name: &str) -> Option<Var> {
        let size = self.sizes.iter().position(|size| size == name).map(|at| Var::Size(SizeId(at)));
        let lookup = || self.lookups.iter().position(|lookup| lookup.name == name).map(|at| Var::Lookup(LookupId(at)));
        size.or_else(|| self.loop_id(name).ok().map(Var::Loop)).or_else(lookup)
    }

    /// Returns the type in which the outermost operation of `expr` is computed, if its value is
    /// wanted as `context`.
    ///
    /// Cells decide the type. An operation on an `f32` and an `f64` is computed in `f64`, one on an
    /// integer and an `f32` in `f32`, one on `f16` in `f32`. Numbers and indices take the type of the other operand, or
    /// that of `context` if no cell occurs. Division is always computed in floating point, and so
    /// are all functions except `abs`, `min`, `max` and `select`.
    pub fn operation_type(&self, expr: &Expr, context: Type) -> Type {
        types::operation_type(self, expr, context)
    }

    /// Returns the type from which the value of `expr` is converted if it is wanted as `to`, or `None`
    /// if no conversion is needed.
    ///
    /// A number is free in every type, and so is a sum of indices and sizes, unless it depends on a
    /// loop and is wanted in floating point.
    pub fn converted_from(&self, expr: &Expr, to: Type) -> Option<Type> {
        types::converted_from(self, expr, to)
    }
}
