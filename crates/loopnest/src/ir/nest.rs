//! A kernel as a loop nest.

use super::affine::{Affine, LookupId, LoopId, SizeId, Var};
use super::expr::{Access, ArrayId, Expr, Type};
use crate::error::{NestError, Place};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// A kernel: loops, arrays, and instructions run at the points of the loops they are within.
///
/// Its meaning is that of running the instructions one after the other in the order of the list; neighbours in the
/// list share the outer loops they have in common. [`Schedule`](crate::Schedule) makes that explicit.
#[derive(Clone, Debug, PartialEq)]
pub struct Nest {
    /// Name of the kernel, an identifier.
    pub name: String,
    /// Names of the sizes, in the order in which their values are given.
    pub sizes: Vec<String>,
    /// What may be taken for granted about the sizes.
    pub assumptions: Assumptions,
    /// Arrays and scalars.
    pub arrays: Vec<Array>,
    /// Values that bounds and subscripts take from arrays.
    pub lookups: Vec<Lookup>,
    /// How many iterations loops have on average whose bounds depend on data: sums of sizes that the user gives.
    pub statistics: BTreeMap<LoopId, Affine>,
    /// Every loop; [`Nest::order`] says how they nest.
    pub loops: Vec<Loop>,
    /// The loops from the outermost to the innermost. A loop's bounds use only loops that stand before it.
    pub order: Vec<LoopId>,
    /// What is computed.
    pub instructions: Vec<Instruction>,
}

/// A value that is taken from an array of integers, which nothing writes.
#[derive(Clone, Debug, PartialEq)]
pub struct Lookup {
    /// Its name, an identifier.
    pub name: String,
    /// The cell.
    pub access: Access,
    /// Where it is declared.
    pub place: Option<Place>,
}

/// What may be taken for granted about the sizes.
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
    /// What it is divided by, at least 1.
    pub modulus: i128,
    /// What is left, from 0 to `modulus - 1`.
    pub remainder: i128,
}

/// Where an array lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Memory {
    /// Device memory that the caller provides; one for all work-items.
    Global,
    /// One for each work-group.
    Local,
    /// One for each work-item: temporaries.
    Private,
    /// A number that the caller gives; only scalars, only read.
    Argument,
}

/// An array, or a scalar when it has no axes.
#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    /// Its name, an identifier.
    pub name: String,
    /// Type of its cells.
    pub element: Type,
    /// Where it lives.
    pub memory: Memory,
    /// Extent of every axis, sums of sizes.
    pub shape: Vec<Affine>,
    /// How the cells lie in memory.
    pub layout: Layout,
    /// Where it is declared.
    pub place: Option<Place>,
}

/// How the cells of an array lie in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The axes from the one whose neighbours are farthest apart to the one whose neighbours touch.
    pub order: Vec<usize>,
    /// Cells added to the extent of every axis in memory.
    pub padding: Vec<i128>,
}

/// The axes of an array from the one whose neighbours are farthest apart to the one whose neighbours touch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AxisOrder {
    /// From the first to the last, as in C.
    Row,
    /// From the last to the first, as in Fortran.
    Column,
    /// As listed.
    Axes(Vec<usize>),
}

impl Layout {
    /// A layout of an array with so many axes; an empty `padding` is none.
    ///
    /// # Errors
    ///
    /// Where the order does not name every axis once, or the padding is not one number of cells for each axis.
    pub fn new(axes: usize, order: &AxisOrder, padding: &[i128]) -> Result<Self, NestError> {
        let mut layout = match order {
            AxisOrder::Row => Layout::row_major(axes),
            AxisOrder::Column => Layout::column_major(axes),
            AxisOrder::Axes(order) => Layout { order: order.clone(), ..Layout::row_major(axes) },
        };
        let mut named = layout.order.clone();
        named.sort_unstable();
        if !named.into_iter().eq(0..axes) {
            return Err(NestError::new(format!("the order does not name each of {axes} axes once"))
                .remedy("axes are counted from 0"));
        }
        if !padding.is_empty() {
            layout.padding = padding.to_vec();
        }
        if layout.padding.len() != axes || padding.iter().any(|cells| *cells < 0) {
            return Err(NestError::new(format!("the padding is not a number of cells for each of {axes} axes")));
        }
        Ok(layout)
    }

    /// The last axis is dense, as in C.
    pub fn row_major(axes: usize) -> Self {
        Layout { order: (0..axes).collect(), padding: vec![0; axes] }
    }

    /// The first axis is dense, as in Fortran.
    pub fn column_major(axes: usize) -> Self {
        Layout { order: (0..axes).rev().collect(), padding: vec![0; axes] }
    }
}

impl Array {
    /// The factors whose product is the distance in cells between neighbours along `axis`.
    pub fn stride(&self, axis: usize) -> Vec<Affine> {
        let faster = self.layout.order.iter().rev().take_while(|other| **other != axis);
        faster.map(|other| self.shape[*other].plus(self.layout.padding[*other])).collect()
    }

    /// The factors whose product is the number of cells in memory, padding included.
    pub fn cells(&self) -> Vec<Affine> {
        self.shape.iter().zip(&self.layout.padding).map(|(extent, padding)| extent.plus(*padding)).collect()
    }

    /// Whether it is a single number.
    pub fn is_scalar(&self) -> bool {
        self.shape.is_empty()
    }
}

/// How the iterations of a loop are run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tag {
    /// One after the other.
    #[default]
    Sequential,
    /// One after the other, written out; the number of iterations is a constant.
    Unroll,
    /// By the lanes of one instruction; the number of iterations is a constant.
    Vector,
    /// By threads, in any order.
    Parallel,
    /// By the work-groups along an axis.
    Group(u8),
    /// By the work-items of a work-group along an axis; axis 0 is that of the SIMD lanes.
    Local(u8),
}

impl Tag {
    /// Whether work-groups or work-items run it.
    pub fn is_hardware(self) -> bool {
        matches!(self, Tag::Group(_) | Tag::Local(_))
    }
}

/// A loop: a name, its bounds, and how it is run.
#[derive(Clone, Debug, PartialEq)]
pub struct Loop {
    /// Its name, an identifier.
    pub name: String,
    /// Sums that are not negative at every point of the loop. Each contains this loop; the others are outer ones.
    pub constraints: Vec<Affine>,
    /// How it is run.
    pub tag: Tag,
    /// Where it is declared.
    pub place: Option<Place>,
}

/// `index >= ceil(numerator / divisor)` or `index <= floor(numerator / divisor)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bound {
    /// A sum of sizes and outer loops.
    pub numerator: Affine,
    /// At least 1.
    pub divisor: i128,
}

impl Loop {
    fn bounds(&self, id: LoopId, sign: i128) -> Vec<Bound> {
        let own = |constraint: &&Affine| constraint.coefficient(Var::Loop(id)) * sign > 0;
        let bound = |constraint: &Affine| Bound {
            numerator: constraint.without(Var::Loop(id)).scaled(-sign),
            divisor: constraint.coefficient(Var::Loop(id)) * sign,
        };
        self.constraints.iter().filter(own).map(bound).collect()
    }

    /// Lower bounds, of which the greatest holds: the index is at least `ceil(numerator / divisor)`.
    pub fn lower(&self, id: LoopId) -> Vec<Bound> {
        self.bounds(id, 1)
    }

    /// Upper bounds, of which the least holds: the index is at most `floor(numerator / divisor)`.
    pub fn upper(&self, id: LoopId) -> Vec<Bound> {
        self.bounds(id, -1)
    }

    /// First and last index where `value` knows sizes and outer loops; the loop is empty when the last is less.
    pub fn range(&self, id: LoopId, value: impl Fn(Var) -> i128) -> (i128, i128) {
        let low = |bound: Bound| -(-bound.numerator.evaluate(&value)).div_euclid(bound.divisor);
        let high = |bound: Bound| bound.numerator.evaluate(&value).div_euclid(bound.divisor);
        let first = self.lower(id).into_iter().map(low).max().unwrap_or(0);
        (first, self.upper(id).into_iter().map(high).min().unwrap_or(first - 1))
    }
}

/// `target = value` at every point of the loops it is within.
#[derive(Clone, Debug, PartialEq)]
pub struct Instruction {
    /// The cell that is written.
    pub target: Access,
    /// What is written.
    pub value: Expr,
    /// The loops it is within; outer loops that their bounds use are among them.
    pub within: BTreeSet<LoopId>,
    /// Where it stands in the text.
    pub place: Option<Place>,
}

impl Instruction {
    /// Every cell it reads, then the one it writes, with places in the text.
    pub fn accesses(&self) -> impl Iterator<Item = (&Access, Option<Place>, Direction)> {
        let loads = self.value.loads().into_iter().map(|(access, place)| (access, place, Direction::Load));
        loads.chain(std::iter::once((&self.target, self.place, Direction::Store)))
    }

    /// Every sum of sizes, indices and values looked up in it.
    pub(crate) fn sums(&self) -> Vec<&Affine> {
        self.target.subscripts.iter().chain(self.value.sums()).collect()
    }
}

/// Whether an access reads or writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Direction {
    /// It reads.
    Load,
    /// It writes.
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

impl Nest {
    /// The loop of that name.
    ///
    /// # Errors
    ///
    /// Where there is none; the nearest name is recommended.
    pub fn loop_id(&self, name: &str) -> Result<LoopId, NestError> {
        let found = self.loops.iter().position(|candidate| candidate.name == name);
        let known = || self.loops.iter().map(|candidate| candidate.name.as_str());
        found.map(LoopId).ok_or_else(|| NestError::unknown("loop", name, known()))
    }

    /// The array or scalar of that name.
    ///
    /// # Errors
    ///
    /// Where there is none; the nearest name is recommended.
    pub fn array_id(&self, name: &str) -> Result<ArrayId, NestError> {
        let found = self.arrays.iter().position(|candidate| candidate.name == name);
        let known = || self.arrays.iter().map(|candidate| candidate.name.as_str());
        found.map(ArrayId).ok_or_else(|| NestError::unknown("array", name, known()))
    }

    /// The loop behind a handle of this nest.
    pub fn loop_at(&self, id: LoopId) -> &Loop {
        &self.loops[id.0]
    }

    /// The array behind a handle of this nest.
    pub fn array(&self, id: ArrayId) -> &Array {
        &self.arrays[id.0]
    }

    /// Handles of all arrays and scalars.
    pub fn array_ids(&self) -> impl Iterator<Item = ArrayId> {
        (0..self.arrays.len()).map(ArrayId)
    }

    /// The loops of `within`, from the outermost to the innermost.
    pub fn nesting(&self, within: &BTreeSet<LoopId>) -> Vec<LoopId> {
        self.order.iter().copied().filter(|id| within.contains(id)).collect()
    }

    /// Everything that holds at the points of the loops `within`.
    pub fn domain(&self, within: &BTreeSet<LoopId>) -> Vec<Affine> {
        within.iter().flat_map(|id| self.loops[id.0].constraints.iter().cloned()).collect()
    }

    /// The loops of `within` and every outer loop that their bounds use.
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

    /// The loops on which the value of a sum depends: those in it, and those that say where its values are looked up.
    pub fn loops_of<'a>(&'a self, sum: &'a Affine) -> impl Iterator<Item = LoopId> + 'a {
        let subscripts = sum.lookups().flat_map(|id| &self.lookup(id).access.subscripts);
        sum.loops().chain(subscripts.flat_map(Affine::loops))
    }

    /// The lookup behind a handle of this nest.
    pub fn lookup(&self, id: LookupId) -> &Lookup {
        &self.lookups[id.0]
    }

    /// Whether the bounds of a loop depend on data.
    pub fn depends_on_data(&self, id: LoopId) -> bool {
        self.loop_at(id).constraints.iter().any(|sum| sum.lookups().next().is_some())
    }

    /// Whether some instruction writes, and whether some instruction reads the array.
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

    /// Every name that is taken.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        let arrays = self.arrays.iter().map(|array| array.name.as_str());
        let loops = self.loops.iter().map(|candidate| candidate.name.as_str());
        let lookups = self.lookups.iter().map(|lookup| lookup.name.as_str());
        self.sizes.iter().map(String::as_str).chain(arrays).chain(loops).chain(lookups)
    }

    /// Whether the sizes keep the assumptions.
    pub fn admits(&self, sizes: &[i64]) -> bool {
        let value = |variable: Var| match variable {
            Var::Size(id) => i128::from(sizes[id.0]),
            _ => 0,
        };
        let remains = |rule: &Congruence| value(Var::Size(rule.size)).rem_euclid(rule.modulus) == rule.remainder;
        self.assumptions.at_least_zero.iter().all(|sum| sum.evaluate(value) >= 0)
            && self.assumptions.congruences.iter().all(remains)
    }
}
