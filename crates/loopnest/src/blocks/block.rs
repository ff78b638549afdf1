//! Blocks of work-items that generated C runs side by side.

use super::known::Known;
use crate::ir::{Access, Affine, ArrayId, Expr, Instruction, LoopId, Memory, Nest, Operator, Tag, Type, Var};
use crate::schedule::{Step, runs, use_array};
use std::collections::BTreeSet;

/// Width of the widest vectors, in bytes: AVX-512.
const WIDEST: i128 = 64;
/// Width of the narrowest vectors, in bytes: SSE and Neon.
pub(crate) const NARROWEST: i128 = 16;
/// Maximum size of the temporaries of a block, in bytes: 4 of the widest registers, 8 of AVX's 16,
/// or all 16 of SSE.
const REGISTERS: i128 = 256;
/// Maximum number of rows of a block. More rows only repeat the same work for fewer columns.
const MOST_ROWS: i128 = 8;

/// Work-items that run side by side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Block {
    /// Work-items along axis 1.
    pub(crate) rows: i128,
    /// Work-items along axis 0: a multiple of the number of lanes of a vector.
    pub(crate) columns: i128,
    /// The type of all values that differ between the work-items.
    pub(crate) element: Type,
}

impl Known<'_> {
    /// Returns the best block in which to run steps without a barrier.
    ///
    /// Returns `None` if the steps add to no temporary in a loop, if a relevant bound or condition
    /// differs between work-items, or if vectors cannot do what the steps need.
    pub(crate) fn block(&self, steps: &[Step]) -> Option<Block> {
        let numbers = runs(steps);
        let instructions: Vec<&Instruction> = numbers.iter().map(|number| &self.nest.instructions[*number]).collect();
        // Cells in half precision have no arithmetic of their own.
        let element = Some(self.nest.array(summed(self.nest, steps)?).element).filter(|own| *own != Type::F16)?;
        let is_harmless = instructions.iter().all(|instruction| self.is_harmless(instruction));
        let fits = steps.iter().all(|step| self.is_uniform(step, is_harmless))
            && instructions.iter().all(|instruction| self.is_vector(instruction, element));
        if !fits {
            return None;
        }
        let cells = |id: ArrayId| {
            let used = use_array(self.nest, &numbers, id);
            let extents = self.nest.array(id).cells().into_iter().map(|extent| extent.as_constant());
            if used { extents.product() } else { Some(0) }
        };
        let bytes =
            self.nest.arrays_in(Memory::Private).map(cells).sum::<Option<i128>>()? * i128::from(element.bits() / 8);
        let unit = self.widest(element);
        let fits = |rows: i128, columns: i128| rows * columns * bytes <= REGISTERS;
        let rows = (1..=MOST_ROWS).rev().find(|rows| self.local[1] % rows == 0 && fits(*rows, unit))?;
        let columns = (1..=self.local[0] / unit).rev().map(|vectors| vectors * unit);
        let columns = columns.into_iter().find(|columns| self.local[0] % columns == 0 && fits(rows, *columns))?;
        (unit * i128::from(element.bits() / 8) >= NARROWEST).then_some(Block { rows, columns, element })
    }

    /// Returns the largest number of lanes for which whole vectors make up a row of work-items.
    pub(crate) fn widest(&self, element: Type) -> i128 {
        let most = WIDEST * 8 / i128::from(element.bits());
        1 << self.local[0].trailing_zeros().min(most.trailing_zeros())
    }

    /// Returns true if all work-items of the group take the step together. With `for_all`,
    /// work-items outside the bounds must take it as well.
    fn is_uniform(&self, step: &Step, for_all: bool) -> bool {
        match step {
            Step::Barrier => false,
            Step::Run(number) => for_all || self.conditions(&self.nest.instructions[*number].within).is_empty(),
            Step::Loop(id, body) => {
                let own = self.nest.loop_at(*id);
                let is_item = |id: LoopId| matches!(self.nest.loop_at(id).tag, Tag::Local(_));
                matches!(own.tag, Tag::Sequential | Tag::Unroll)
                    && !self.loop_bounds(*id).iter().any(|sum| self.nest.loops_of(sum).any(is_item))
                    && self.guard(*id).is_empty()
                    && body.iter().all(|step| self.is_uniform(step, for_all))
            }
        }
    }

    /// Returns true if work-items outside the bounds of an instruction may run it without effect.
    /// The instruction then changes only temporaries that mean nothing to them, and reads only
    /// memory of their work-group, within its arrays.
    fn is_harmless(&self, instruction: &Instruction) -> bool {
        let Instruction { target, within, .. } = instruction;
        let axes = |within: &BTreeSet<LoopId>| {
            within.iter().copied().filter(|id| self.nest.loop_at(*id).tag.is_hardware()).collect::<Vec<LoopId>>()
        };
        let has_those_axes = |other: &Instruction| {
            other.accesses().all(|(access, ..)| access.array != target.array) || axes(&other.within) == axes(within)
        };
        let known = self.within(&self.nest.closed(within.iter().copied()));
        let is_within = |access: &Access| {
            let shape = &self.nest.array(access.array).shape;
            access.subscripts.iter().zip(shape).all(|(subscript, extent)| {
                [subscript.clone(), (extent - subscript).plus(-1)].iter().all(|bound| self.follows(known.iter(), bound))
            })
        };
        let array = self.nest.array(target.array);
        array.memory == Memory::Private
            && array.element.is_float()
            && self.nest.instructions.iter().all(has_those_axes)
            && instruction
                .accesses()
                .all(|(access, ..)| self.nest.array(access.array).memory != Memory::Global && is_within(access))
    }

    /// Returns true if vectors of a type can run an instruction.
    fn is_vector(&self, instruction: &Instruction, element: Type) -> bool {
        let looks_up = |sum: &&Affine| sum.lookups().next().is_some();
        !instruction.is_atomic
            && !instruction.sums().iter().any(looks_up)
            && self.is_side_by_side(&instruction.target, element)
            && self.differs(&instruction.value, element).is_some()
    }

    /// Returns true if a value differs between the work-items of a row. Returns `None` if it
    /// differs but is not a vector of that type.
    pub(crate) fn differs(&self, expr: &Expr, element: Type) -> Option<bool> {
        match expr {
            Expr::Number(_) => Some(false),
            Expr::Index(sum) => (!self.is_on_lane(sum)).then_some(false),
            Expr::Load(access, _) => {
                let differs = self.is_vector_cell(access);
                (!differs || self.is_side_by_side(access, element)).then_some(differs)
            }
            Expr::Neg(_) | Expr::Binary(..) | Expr::Call(..) => {
                let parts = expr.children().into_iter().map(|part| self.differs(part, element));
                let differs = parts.collect::<Option<Vec<bool>>>()?.contains(&true);
                let is_plain = !matches!(expr, Expr::Binary(Operator::Pow, ..) | Expr::Call(..));
                (!differs || is_plain && self.nest.operation_type(expr, element) == element).then_some(differs)
            }
        }
    }

    /// Returns true if each work-item of a row has a cell of its own there.
    pub(crate) fn is_vector_cell(&self, access: &Access) -> bool {
        self.nest.array(access.array).memory == Memory::Private
            || access.subscripts.iter().any(|sum| self.is_on_lane(sum))
    }

    /// Returns true if the cells of the work-items of a row have that type and are adjacent.
    fn is_side_by_side(&self, access: &Access, element: Type) -> bool {
        let array = self.nest.array(access.array);
        let is_placed = |(axis, subscript): (usize, &Affine)| {
            let is_fastest = array.memory != Memory::Private && array.layout.order.last() == Some(&axis);
            let steps = subscript.loops().filter(|id| self.is_lane(*id)).map(|id| subscript.coefficient(Var::Loop(id)));
            steps.eq(is_fastest.then_some(1))
        };
        array.element == element && access.subscripts.iter().enumerate().all(is_placed)
    }

    fn is_on_lane(&self, sum: &Affine) -> bool {
        sum.loops().any(|id| self.is_lane(id))
    }

    fn is_lane(&self, id: LoopId) -> bool {
        self.nest.loop_at(id).tag == Tag::Local(0)
    }
}

/// Returns a temporary to which some instruction in a loop adds.
fn summed(nest: &Nest, steps: &[Step]) -> Option<ArrayId> {
    let in_loops = steps.iter().filter(|step| matches!(step, Step::Loop(..)));
    let instructions =
        in_loops.flat_map(|step| runs(std::slice::from_ref(step))).map(|number| &nest.instructions[number]);
    let adds = |Instruction { target, value, .. }: &&Instruction| {
        nest.array(target.array).memory == Memory::Private
            && value.loads().iter().any(|(access, _)| access.array == target.array)
    };
    instructions.into_iter().find(adds).map(|instruction| instruction.target.array)
}
