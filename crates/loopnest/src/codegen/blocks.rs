//! Blocks of work-items whose temporaries stay in registers: C.
//!
//! Where a sequential loop adds to a temporary of every work-item, the loop over the work-items stands inside of it, and each iteration
//! loads and stores all sums, unless a compiler happens to write out the whole loop. Between two barriers work-items may run in any
//! order: here a block of a few rows and columns of them goes through such loops alone, its sums in as many vectors as there are
//! registers for. GCC keeps them there where they have vector types; for a tiled matrix product that is 2 to 5 times as fast.
//!
//! # Tried without gain
//!
//! - Vectors wider than the machine's: up to ten times slower.
//! - Arrays of floats in place of vectors: 1.5 ms for a product of 256 x 256 matrices (work-groups
//!   of 16 x 16, depth 64) that takes 0.44 ms with vectors.
//! - Whole tiles alone in blocks: a tiled convolution of an image of 60 x 60, which work-groups do
//!   not divide, takes 0.59 ms (16 x 16) instead of 0.25 ms.

use super::dialect::Dialect;
use super::full::versions;
use super::items::{assignments, open_loop, same_loops};
use super::lanes::use_array;
use super::names::{Lanes, Names};
use super::writer::Writer;
use crate::error::NestError;
use crate::ir::{Access, Affine, ArrayId, Expr, Instruction, LoopId, Memory, Nest, Operator, Tag, Type, Var};
use crate::schedule::{Schedule, Step, phases, runs};
use std::collections::BTreeSet;

/// The widest vectors, in bytes: those of AVX-512.
const WIDEST: i128 = 64;
/// The narrowest ones: those of SSE and Neon.
const NARROWEST: i128 = 16;
/// What the temporaries of a block may take: 4 of the widest registers, 8 of AVX's 16, all 16 of SSE.
const REGISTERS: i128 = 256;
/// Rows of a block: more of them only repeat the same work for fewer columns.
const MOST_ROWS: i128 = 8;

/// Work-items that run side by side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Block {
    /// Work-items along axis 1.
    rows: i128,
    /// Work-items along axis 0: a multiple of the lanes of a vector.
    columns: i128,
    /// The type of all values that differ between them.
    element: Type,
}

impl Names<'_> {
    /// The block in which steps without a barrier are best run; nothing where they add to no temporary in a loop, where one of their
    /// bounds or conditions that matter differs between work-items, or where they need more than vectors can do.
    pub(super) fn block(&self, steps: &[Step]) -> Option<Block> {
        let numbers = runs(steps);
        let instructions: Vec<&Instruction> = numbers.iter().map(|number| &self.nest.instructions[*number]).collect();
        let element = self.nest.array(summed(self.nest, steps)?).element;
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
        let bytes = self.arrays(Memory::Private).map(cells).sum::<Option<i128>>()? * i128::from(element.bits() / 8);
        let unit = self.widest(element);
        let fits = |rows: i128, columns: i128| rows * columns * bytes <= REGISTERS;
        let rows = (1..=MOST_ROWS).rev().find(|rows| self.local[1] % rows == 0 && fits(*rows, unit))?;
        let columns = (1..=self.local[0] / unit).rev().map(|vectors| vectors * unit);
        let columns = columns.into_iter().find(|columns| self.local[0] % columns == 0 && fits(rows, *columns))?;
        (unit * i128::from(element.bits() / 8) >= NARROWEST).then_some(Block { rows, columns, element })
    }

    /// The most lanes of a vector such that whole vectors make up a row of work-items.
    fn widest(&self, element: Type) -> i128 {
        let most = WIDEST * 8 / i128::from(element.bits());
        1 << self.local[0].trailing_zeros().min(most.trailing_zeros())
    }

    /// Whether all work-items of the group take the step together; with `for_all` those outside of the bounds as well.
    fn is_uniform(&self, step: &Step, for_all: bool) -> bool {
        match step {
            Step::Barrier => false,
            Step::Run(number) => for_all || self.conditions(&self.nest.instructions[*number].within).is_empty(),
            Step::Loop(id, body) => {
                let own = self.nest.loop_at(*id);
                let is_item = |id: LoopId| matches!(self.nest.loop_at(id).tag, Tag::Local(_));
                matches!(own.tag, Tag::Sequential | Tag::Unroll)
                    && !self.loop_bounds(*id).iter().any(|sum| self.nest.loops_of(sum).any(is_item))
                    && self.loop_guard(*id).is_none()
                    && body.iter().all(|step| self.is_uniform(step, for_all))
            }
        }
    }

    /// Whether nothing comes of it where work-items run an instruction of whose bounds they lie outside: it changes temporaries that mean
    /// nothing to them, and reads no memory but that of their work-group, within its arrays.
    fn is_harmless(&self, instruction: &Instruction) -> bool {
        let Instruction { target, within, .. } = instruction;
        let axes = |within: &BTreeSet<LoopId>| {
            within.iter().copied().filter(|id| self.nest.loop_at(*id).tag.is_hardware()).collect::<Vec<LoopId>>()
        };
        let has_those_axes = |other: &Instruction| {
            other.accesses().all(|(access, ..)| access.array != target.array) || axes(&other.within) == axes(within)
        };
        let known = self.known(&self.nest.closed(within.iter().copied()));
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

    /// Whether vectors of a type can do what an instruction does.
    fn is_vector(&self, instruction: &Instruction, element: Type) -> bool {
        let looks_up = |sum: &&Affine| sum.lookups().next().is_some();
        !instruction.sums().iter().any(looks_up)
            && self.is_side_by_side(&instruction.target, element)
            && self.differs(&instruction.value, element).is_some()
    }

    /// Whether a value differs between the work-items of a row; nothing where it does and is no vector of that type.
    fn differs(&self, expr: &Expr, element: Type) -> Option<bool> {
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

    /// Whether each work-item of a row has a cell of its own there.
    fn is_vector_cell(&self, access: &Access) -> bool {
        self.nest.array(access.array).memory == Memory::Private
            || access.subscripts.iter().any(|sum| self.is_on_lane(sum))
    }

    /// Whether the cells of the work-items of a row are of that type and beside one another.
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

    /// The vectors in which a block keeps a cell that its work-items have of a temporary.
    pub(super) fn register(&self, block: Block, id: ArrayId, cell: &str) -> String {
        let array = self.nest.array(id);
        let cell = if array.is_scalar() { String::new() } else { format!("[{cell}]") };
        let row = if block.rows > 1 { "[lid1 - first1]" } else { "" };
        format!("nest_{}_v{cell}{row}[(lid0 - first0) / nest_lanes_{}]", array.name, block.element)
    }

    /// The cells of an array beside one another that the work-items of a vector reach there.
    pub(super) fn vector(&self, access: &Access, cell: String) -> String {
        match self.block {
            Some(block) if self.is_vector_cell(access) => format!("nest_{}_at({cell})", block.element),
            _ => cell,
        }
    }

    /// A value that is assigned, as a vector where a block is run.
    pub(super) fn spread(&self, expr: &Expr, value: String) -> String {
        match self.block {
            Some(block) if self.differs(expr, block.element) == Some(false) => {
                format!("nest_{}_of({value})", block.element)
            }
            _ => value,
        }
    }
}

impl Nest {
    /// Work-items of a work-group whose loops generated C runs side by side: of the smallest block whose temporaries it keeps in registers,
    /// or else those of a row.
    ///
    /// # Errors
    ///
    /// The nest cannot be [scheduled](Schedule), or its work-items have no constant number.
    pub fn side_by_side(&self) -> Result<i128, NestError> {
        let blocks = self.blocks()?.into_iter().map(|(block, _)| block.rows * block.columns).min();
        Ok(blocks.unwrap_or(self.local_size()?[0]))
    }

    /// For each instruction the rows of work-items that generated C runs side by side in whole tiles: 1 where it runs row by row.
    ///
    /// # Errors
    ///
    /// As for [`side_by_side`](Self::side_by_side).
    pub fn rows_side_by_side(&self) -> Result<Vec<i128>, NestError> {
        let mut rows = vec![1; self.instructions.len()];
        for (block, numbers) in self.blocks()? {
            numbers.into_iter().for_each(|number| rows[number] = block.rows);
        }
        Ok(rows)
    }

    /// The blocks that whole tiles are run in, with their instructions.
    fn blocks(&self) -> Result<Vec<(Block, Vec<usize>)>, NestError> {
        let (schedule, local) = (Schedule::new(self)?, self.local_size()?);
        let mut found = Vec::new();
        blocks(&Names::new(self, Dialect::C, local), &schedule.steps, &mut found);
        Ok(found)
    }
}

fn blocks(names: &Names, steps: &[Step], found: &mut Vec<(Block, Vec<usize>)>) {
    for phase in phases(steps) {
        match &phase[0] {
            Step::Barrier => {}
            Step::Loop(id, body) if phase[0].has_barrier() => blocks(&names.inside(*id), body, found),
            _ => found.extend(names.in_whole_tiles(phase).block(phase).map(|block| (block, runs(phase)))),
        }
    }
}

/// The temporary that some instruction in a loop adds to.
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

/// Writes steps for all work-items of the group, block by block.
pub(super) fn write(names: &Names, block: Block, steps: &[Step], writer: &mut Writer) -> Result<(), NestError> {
    let Block { rows, columns, element } = block;
    writer.first(&types(names, element));
    let names = Names { block: Some(block), ..names.clone() };
    let [width, height, depth] = names.local;
    let mut heads = Vec::new();
    if depth > 1 {
        heads.push(format!("for (int lid2 = 0; lid2 < {depth}; lid2++)"));
    }
    if rows > 1 {
        heads.push(format!("for (int first1 = 0; first1 < {height}; first1 += {rows})"));
    } else if height > 1 {
        heads.push(format!("for (int lid1 = 0; lid1 < {height}; lid1++)"));
    }
    heads.push(format!("for (int first0 = 0; first0 < {width}; first0 += {columns})"));
    heads.iter().for_each(|head| writer.open(head));

    let numbers = runs(steps);
    let used: Vec<ArrayId> = names.arrays(Memory::Private).filter(|id| use_array(names.nest, &numbers, *id)).collect();
    for &id in &used {
        let array = names.nest.array(id);
        let cells = if array.is_scalar() { String::new() } else { format!("[{}]", names.cells(id)?) };
        let row = if rows > 1 { format!("[{rows}]") } else { String::new() };
        writer.line(&format!("nest_{element} nest_{}_v{cells}{row}[{columns} / nest_lanes_{element}];", array.name));
    }
    let kept: Vec<ArrayId> = used.into_iter().filter(|id| names.lanes[id.0] == Lanes::Group).collect();
    let moves = |loads: bool| {
        let mut lines = Vec::new();
        for &id in &kept {
            for cell in 0..names.cells(id)? {
                let register = names.register(block, id, &cell.to_string());
                let copy = format!("nest_{element}_at({})", names.copy_of(id, cell));
                lines.push(if loads { format!("{register} = {copy};") } else { format!("{copy} = {register};") });
            }
        }
        Ok(lines)
    };
    side_by_side(block, &moves(true)?, writer);
    within(&names, block, steps, writer)?;
    side_by_side(block, &moves(false)?, writer);
    writer.close_all(heads.len());
    Ok(())
}

fn within(names: &Names, block: Block, steps: &[Step], writer: &mut Writer) -> Result<(), NestError> {
    for run in steps.chunk_by(|one, two| same_loops(names.nest, one, two)) {
        match &run[0] {
            Step::Barrier => {}
            Step::Loop(id, body) => {
                let opened = open_loop(names, *id, writer)?;
                versions(&names.inside(*id), body, writer, |names, writer| within(names, block, body, writer))?;
                writer.close_all(opened);
            }
            Step::Run(_) => side_by_side(block, &assignments(names, run), writer),
        }
    }
    Ok(())
}

/// Writes lines for all work-items of a block.
fn side_by_side(block: Block, lines: &[String], writer: &mut Writer) {
    let Block { rows, columns, element } = block;
    if lines.is_empty() {
        return;
    }
    let mut opened = 1;
    if rows > 1 {
        writer.line(&Dialect::C.unroll(rows));
        writer.open(&format!("for (int lid1 = first1; lid1 < first1 + {rows}; lid1++)"));
        opened += 1;
    }
    writer.line(&Dialect::C.unroll(columns * i128::from(element.bits() / 8) / NARROWEST));
    writer.open(&format!("for (int lid0 = first0; lid0 < first0 + {columns}; lid0 += nest_lanes_{element})"));
    lines.iter().for_each(|line| writer.line(line));
    writer.close_all(opened);
}

/// The types of vectors, as wide as the machine's registers but no wider than rows of work-items are: single values where the compiler has
/// no vectors.
fn types(names: &Names, element: Type) -> String {
    let size = i128::from(element.bits() / 8);
    let most = names.widest(element);
    let mut text = String::new();
    for (head, bytes) in
        [("#if defined(__AVX512F__)", 64), ("#elif defined(__AVX__)", 32), ("#elif defined(__GNUC__)", 16)]
    {
        text += &format!("{head}\nenum {{ nest_lanes_{element} = {} }};\n", most.min(bytes / size));
    }
    let kind = Dialect::C.name(element);
    text += &format!("#else\nenum {{ nest_lanes_{element} = 1 }};\n#endif\n#ifdef __GNUC__\n");
    let attributes = format!("vector_size({size} * nest_lanes_{element}), aligned({size}), may_alias");
    text += &format!("typedef {kind} nest_{element} __attribute__(({attributes}));\n");
    text += &format!("#else\ntypedef {kind} nest_{element};\n#endif\n");
    text += &format!("#define nest_{element}_at(cell) (*(nest_{element} *)&(cell))\n");
    text + &format!("#define nest_{element}_of(value) ((value) - (nest_{element}){{0}})")
}
