//! Nests made in a program, with handles instead of names.

use super::affine::{Affine, LookupId, LoopId, SizeId};
use super::check;
use super::expr::{Access, ArrayId, Expr, Type};
use super::{Array, Assumptions, Congruence, Instruction, Layout, Lookup, Loop, Memory, Nest, Tag};
use crate::error::NestError;
use std::collections::BTreeMap;

/// Builds a [`Nest`]. Declaring a size, a loop or an array returns the handle that expressions are
/// written with.
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

    /// Takes for granted that a sum of sizes is not negative.
    pub fn assume(&mut self, at_least_zero: Affine) {
        self.nest.assumptions.at_least_zero.push(at_least_zero);
    }

    /// Takes for granted that a size is a multiple of `modulus`.
    pub fn assume_multiple(&mut self, size: SizeId, modulus: i128) {
        self.nest.assumptions.congruences.push(Congruence { size, modulus, remainder: 0 });
    }

    /// Declares an array with its last axis dense.
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

    /// Declares a loop inside those declared before, at whose points every sum in `constraints` is
    /// not negative. The handle of the loop to come is [`NestBuilder::next_loop`].
    pub fn constrained(&mut self, name: impl Into<String>, constraints: Vec<Affine>) -> LoopId {
        let id = self.next_loop();
        self.nest.loops.push(Loop { name: name.into(), constraints, tag: Tag::Sequential, place: None });
        self.nest.order.push(id);
        id
    }

    /// Returns the handle that the next loop will have.
    pub fn next_loop(&self) -> LoopId {
        LoopId(self.nest.loops.len())
    }

    /// Declares a value that bounds and subscripts take from an array of integers, which nothing
    /// writes. In sums it is [`Affine::from`] its handle.
    pub fn lookup(&mut self, name: impl Into<String>, array: ArrayId, subscripts: Vec<Affine>) -> LookupId {
        self.nest.lookups.push(Lookup { name: name.into(), access: Access { array, subscripts }, place: None });
        LookupId(self.nest.lookups.len() - 1)
    }

    /// Says how many iterations a loop has on average whose bounds are looked up: a sum of sizes.
    pub fn statistic(&mut self, id: LoopId, average: Affine) {
        self.nest.statistics.insert(id, average);
    }

    /// Returns the value of a cell.
    pub fn load(&self, array: ArrayId, subscripts: Vec<Affine>) -> Expr {
        Expr::Load(Access { array, subscripts }, None)
    }

    /// Appends `target = value` within `within` and the outer loops that their bounds use.
    pub fn instruction(&mut self, target: Access, value: Expr, within: impl IntoIterator<Item = LoopId>) {
        let within = self.nest.closed(within);
        self.nest.instructions.push(Instruction { target, value, within, place: None });
    }

    /// Returns the nest as it stands, for a reader that fills and checks it.
    pub(crate) fn unchecked(self) -> Nest {
        self.nest
    }

    /// Returns the finished nest.
    ///
    /// # Errors
    ///
    /// Where it is not sound: a name taken twice, a loop without bounds, a subscript that uses a
    /// loop the instruction is not within, a number of subscripts that is not that of the axes, an
    /// argument that is written, a value looked up in an array that is written, a statistic of a
    /// loop that has no use for one.
    pub fn finish(self) -> Result<Nest, NestError> {
        check::check(&self.nest)?;
        Ok(self.nest)
    }
}
