//! Blocks of work-items whose temporaries stay in registers, in C.
//!
//! Consider a sequential loop that adds to a temporary of every work-item. The loop over the
//! work-items stands inside it. Each iteration then loads and stores all sums, unless a compiler
//! happens to unroll the whole loop.
//!
//! Between two barriers, work-items may run in any order. A block of a few rows and columns of
//! work-items therefore runs such a loop alone. Its sums fill as many vectors as there are
//! registers. GCC keeps values of vector types in registers: a tiled matrix product becomes 2 to 5
//! times as fast.
//!
//! # Tried without gain
//!
//! - Vectors wider than the machine's: up to ten times slower.
//! - Arrays of floats in place of vectors: 1.5 ms for a product of 256 x 256 matrices (work-groups
//!   of 16 x 16, depth 64) that takes 0.44 ms with vectors.
//! - Blocks for whole tiles only: a tiled convolution of an image of 60 x 60, which is not a
//!   multiple of the work-group, takes 0.59 ms (16 x 16) instead of 0.25 ms.

use super::dialect::Dialect;
use super::full::versions;
use super::items::{assignments, open_loop, same_loops};
use super::names::{Copies, Names};
use super::writer::Writer;
use crate::blocks::{Block, NARROWEST};
use crate::error::NestError;
use crate::ir::{Access, ArrayId, Expr, Memory, Type};
use crate::schedule::{Step, runs, use_array};

impl Names<'_> {
    /// Returns the vectors in which a block keeps the cells that its work-items have of a
    /// temporary.
    pub(super) fn register(&self, block: Block, id: ArrayId, cell: &str) -> String {
        let array = self.known.nest.array(id);
        let cell = if array.is_scalar() { String::new() } else { format!("[{cell}]") };
        let row = if block.rows > 1 { "[lid1 - first1]" } else { "" };
        format!("nest_{}_v{cell}{row}[(lid0 - first0) / nest_lanes_{}]", array.name, block.element)
    }

    /// Returns the adjacent cells of an array that the work-items of a vector access.
    pub(super) fn vector(&self, access: &Access, cell: String) -> String {
        match self.block {
            Some(block) if self.known.is_vector_cell(access) => format!("nest_{}_at({cell})", block.element),
            _ => cell,
        }
    }

    /// Returns a value to assign, as a vector if a block is being run.
    pub(super) fn spread(&self, expr: &Expr, value: String) -> String {
        match self.block {
            Some(block) if self.known.differs(expr, block.element) == Some(false) => {
                format!("nest_{}_of({value})", block.element)
            }
            _ => value,
        }
    }
}

/// Writes steps for all work-items of the group, block by block.
pub(super) fn write(names: &Names, block: Block, steps: &[Step], writer: &mut Writer) -> Result<(), NestError> {
    let Block { rows, columns, element } = block;
    writer.first(&types(names, element));
    let names = Names { block: Some(block), ..names.clone() };
    let [width, height, depth] = names.known.local;
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
    let used: Vec<ArrayId> =
        names.known.nest.arrays_in(Memory::Private).filter(|id| use_array(names.known.nest, &numbers, *id)).collect();
    for &id in &used {
        let array = names.known.nest.array(id);
        let cells = if array.is_scalar() { String::new() } else { format!("[{}]", names.cells(id)?) };
        let row = if rows > 1 { format!("[{rows}]") } else { String::new() };
        writer.line(&format!("nest_{element} nest_{}_v{cells}{row}[{columns} / nest_lanes_{element}];", array.name));
    }
    let kept: Vec<ArrayId> = used.into_iter().filter(|id| names.temporaries[id.0] == Copies::Group).collect();
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
    for run in steps.chunk_by(|one, two| same_loops(names.known.nest, one, two)) {
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

/// Writes lines that all work-items of a block run.
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

/// Returns the vector types. They are as wide as the machine's registers, but not wider than a row
/// of work-items. They are single values if the compiler has no vectors.
fn types(names: &Names, element: Type) -> String {
    let size = i128::from(element.bits() / 8);
    let most = names.known.widest(element);
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
