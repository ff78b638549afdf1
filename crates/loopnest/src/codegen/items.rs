//! Functions that each work-item runs: OpenCL and CUDA.

use super::dialect::Dialect;
use super::names::Names;
use super::writer::Writer;
use crate::error::NestError;
use crate::ir::{AXES, LoopId, Memory, Nest, Tag};
use crate::schedule::{Schedule, Step};

/// A pragma against early unrolling. GCC unrolls loops of up to 16 iterations before it looks for
/// vectors, and then finds fewer: a tiled matrix product took nine times as long.
pub(super) const KEEP_FOR_VECTORS: &str = "#pragma GCC unroll 1";

/// Writes the body.
pub(super) fn write(names: &Names, schedule: &Schedule, writer: &mut Writer) -> Result<(), NestError> {
    indices(names, writer);
    for memory in [Memory::Local, Memory::Private] {
        for id in names.known.nest.arrays_in(memory) {
            writer.line(&names.declaration(id)?);
        }
    }
    steps(names, &schedule.steps, writer)
}

/// Writes the indices of the work-group and of the work-item.
fn indices(names: &Names, writer: &mut Writer) {
    for axis in 0..AXES {
        let letter = ["x", "y", "z"][axis];
        let (group, item) = match names.dialect {
            Dialect::Cuda => (format!("blockIdx.{letter}"), format!("threadIdx.{letter}")),
            _ => (format!("get_group_id({axis})"), format!("get_local_id({axis})")),
        };
        if names.known.nest.tagged(Tag::Group(axis as u8)).next().is_some() {
            writer.line(&format!("const int gid{axis} = {group};"));
        }
        if names.known.local[axis] > 1 {
            writer.line(&format!("const int lid{axis} = {item};"));
        }
    }
}

fn steps(names: &Names, list: &[Step], writer: &mut Writer) -> Result<(), NestError> {
    for run in list.chunk_by(|one, two| same_loops(names.known.nest, one, two)) {
        match &run[0] {
            Step::Barrier => writer.line(barrier(names)),
            Step::Loop(id, body) => {
                let opened = open_loop(names, *id, writer)?;
                steps(names, body, writer)?;
                writer.close_all(opened);
            }
            Step::Run(first) => {
                let test = names.test(&names.known.conditions(&names.known.nest.instructions[*first].within));
                test.iter().for_each(|test| writer.open(test));
                assignments(names, run).iter().for_each(|line| writer.line(line));
                writer.close_all(test.iter().count());
            }
        }
    }
    Ok(())
}

/// Writes the head of a loop. Returns the number of blocks that it opens.
pub(super) fn open_loop(names: &Names, id: LoopId, writer: &mut Writer) -> Result<usize, NestError> {
    let guard = names.loop_guard(id);
    guard.iter().for_each(|test| writer.open(test));
    pragma(names, id, writer)?;
    writer.open(&names.loop_head(id));
    Ok(1 + guard.iter().count())
}

/// Returns true if both steps are instructions within the same loops.
pub(super) fn same_loops(nest: &Nest, one: &Step, two: &Step) -> bool {
    match (one, two) {
        (Step::Run(one), Step::Run(two)) => nest.instructions[*one].within == nest.instructions[*two].within,
        _ => false,
    }
}

/// Returns one line for each instruction among `run`.
pub(super) fn assignments(names: &Names, run: &[Step]) -> Vec<String> {
    let line = |step: &Step| match step {
        Step::Run(number) => Some(names.assignment(&names.known.nest.instructions[*number])),
        _ => None,
    };
    run.iter().filter_map(line).collect()
}

/// Writes the pragma that tells the compiler how to treat a loop.
fn pragma(names: &Names, id: LoopId, writer: &mut Writer) -> Result<(), NestError> {
    match names.known.nest.loop_at(id).tag {
        Tag::Unroll => writer.line(&names.dialect.unroll(names.known.nest.constant_extent(id)?)),
        Tag::Vector if names.dialect == Dialect::C => {
            writer.line("#pragma GCC ivdep");
            writer.line(KEEP_FOR_VECTORS);
        }
        Tag::Vector => writer.line(&names.dialect.unroll(names.known.nest.constant_extent(id)?)),
        Tag::Parallel if names.dialect == Dialect::C => writer.line("#pragma omp parallel for"),
        _ => {}
    }
    Ok(())
}

fn barrier(names: &Names) -> &'static str {
    let shares_global = names.known.nest.arrays_in(Memory::Global).any(|id| names.known.nest.uses(id) == (true, true));
    match (names.dialect, shares_global) {
        (Dialect::Cuda, _) => "__syncthreads();",
        (_, false) => "barrier(CLK_LOCAL_MEM_FENCE);",
        (_, true) => "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);",
    }
}
