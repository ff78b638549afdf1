//! Builds nests in a program, with handles instead of names.

use super::affine::{Affine, LookupId, LoopId, SizeId};
use super::check;
use super::expr::{Access, ArrayId, Expr, Type};
use super::{Array, Assumptions, Congruence, Instruction, Layout, Lookup, Loop, Memory, Nest, Tag};
use crate::error::NestError;
use std::collections::BTreeMap;

/// Builds a [`Nest`].
///
/// Declaring a size, a loop or an array returns a handle. Expressions are written with these
/// handles.
///
/// ```
/// use tunesmith_loopnest::{Access, Affine, Expr, Memory, NestBuilder, Operator, Type};
///
/// let mut build = NestBuilder::new("double");
/// let n = build.size("n");
/// build.assume(Affine::from(n).plus(-1)); // n >= 1
/// let a = build.array("a", Type::F32, Memory::Global, vec![n.into()]);
/// let out = build.array("out", Type::F32, Memory::Global, vec![n.into()]);
/// let i = build.range("i", 0.into(), n.into());
/// let doubled = Expr::binary(Operator::Mul, Expr::Index(2.into()), build.load(a, vec![i.into()]));
/// build.instruction(Access { array: out, subscripts: vec![i.into()] }, doubled, [i]);
/// let nest = build.finish()?;
/// assert!(nest.to_string().contains("out[i] = 2*a[i] @ i"));
/// # Ok::<(), tunesmith_loopnest::NestError>(())
/// ```
#[derive(Clone, Debug)]
pub struct NestBuilder {
    nest: Nest,
}

impl NestBuilder {
    /// Returns an empty nest.
    pub fn new(name: impl Into<String>) -> Self {
        let nest = Nest {
            name: name.into(),
            sizes: Vec::new(),
            assumptions: Assumptions::default(),
            arrays: Vec::new(),
            lookups: Vec::new(),
            statistics: BTreeMap::new(),
            loops: Vec::new(),
            order: Vec::new(),
            instructions: Vec::new(),
        };
        NestBuilder { nest }
    }

    /// Declares a size.
    pub fn size(&mut self, name: impl Into<String>) -> SizeId {
        self.nest.sizes.push(name.into());
        SizeId(self.nest.sizes.len() - 1)
    }

    /// Assumes that a sum of sizes is not negative.
    pub fn assume(&mut self, at_least_zero: Affine) {
        self.nest.assumptions.at_least_zero.push(at_least_zero);
    }

    /// Assumes that a size is a multiple of `modulus`.
    pub fn assume_multiple(&mut self, size: SizeId, modulus: i128) {
        self.nest.assumptions.congruences.push(Congruence { size, modulus, remainder: 0 });
    }

    /// Declares an array whose last axis is dense.
    pub fn array(&mut self, name: impl Into<String>, element: Type, memory: Memory, shape: Vec<Affine>) -> ArrayId {
        let layout = Layout::row_major(shape.len());
        self.nest.arrays.push(Array { name: name.into(), element, memory, shape, layout, place: None });
        ArrayId(self.nest.arrays.len() - 1)
    }

    /// Declares a loop inside those declared before, from `first` to `end - 1`.
    pub fn range(&mut self, name: impl Into<String>, first: Affine, end: Affine) -> LoopId {
        let id = LoopId(self.nest.loops.len());
        let index = Affine::from(id);
        self.constrained(name, vec![&index - &first, (&end - &index).plus(-1)])
    }

    /// Declares a loop inside those declared before. Every sum in `constraints` is not negative at
    /// its points. [`NestBuilder::next_loop`] gives the handle of the loop beforehand.
    pub fn constrained(&mut self, name: impl Into<String>, constraints: Vec<Affine>) -> LoopId {
        let id = self.next_loop();
        self.nest.loops.push(Loop { name: name.into(), constraints, tag: Tag::Sequential, place: None });
        self.nest.order.push(id);
        id
    }

    /// Returns the handle of the next loop.
    pub fn next_loop(&self) -> LoopId {
        LoopId(self.nest.loops.len())
    }

    /// Declares a value that bounds and subscripts take from an array of integers. Nothing may
    /// write the array. In sums, the value is [`Affine::from`] its handle.
    pub fn lookup(&mut self, name: impl Into<String>, array: ArrayId, subscripts: Vec<Affine>) -> LookupId {
        self.nest.lookups.push(Lookup { name: name.into(), access: Access { array, subscripts }, place: None });
        LookupId(self.nest.lookups.len() - 1)
    }

    /// States the average number of iterations of a loop with looked-up bounds, as a sum of sizes.
    pub fn statistic(&mut self, id: LoopId, average: Affine) {
        self.nest.statistics.insert(id, average);
    }

    /// Returns an expression for the value of a cell.
    pub fn load(&self, array: ArrayId, subscripts: Vec<Affine>) -> Expr {
        Expr::Load(Access { array, subscripts }, None)
    }

    /// Appends `target = value` within `within` and within the outer loops that their bounds use.
    pub fn instruction(&mut self, target: Access, value: Expr, within: impl IntoIterator<Item = LoopId>) {
        let within = self.nest.closed(within);
        self.nest.instructions.push(Instruction { target, value, is_atomic: false, within, place: None });
    }

    /// Appends an atomic update: `value` is `target + e`, `min(target, e)` or `max(target, e)`. Its
    /// iterations may run side by side.
    pub fn atomic(&mut self, target: Access, value: Expr, within: impl IntoIterator<Item = LoopId>) {
        let within = self.nest.closed(within);
        self.nest.instructions.push(Instruction { target, value, is_atomic: true, within, place: None });
    }

    /// Returns the nest unchecked, for a parser that completes and checks it.
    pub(crate) fn unchecked(self) -> Nest {
        self.nest
    }

    /// Returns the finished nest.
    ///
    /// # Errors
    ///
    /// Fails if the nest is not sound:
    /// - a name is taken twice;
    /// - a loop has no bounds;
    /// - a subscript uses a loop that does not enclose the instruction;
    /// - the number of subscripts differs from the number of axes;
    /// - an instruction writes an argument, or an array in which values are looked up;
    /// - an atomic instruction is no update of shared memory;
    /// - a loop has a statistic that it does not need.
    pub fn finish(self) -> Result<Nest, NestError> {
        check::check(&self.nest)?;
        Ok(self.nest)
    }
}
