//! Work-items that generated C runs side by side.
//!
//! Counting and code generation share this module, because counts of lanes follow from the blocks
//! that the C generator writes.

mod block;
mod known;
mod whole;

pub(crate) use block::{Block, NARROWEST};
pub(crate) use known::Known;

use crate::error::NestError;
use crate::ir::Nest;
use crate::schedule::{Schedule, Step, phases, runs};

/// Returns the number of work-items of a work-group whose loops generated C runs side by side.
/// These are the work-items of the smallest block with its temporaries in registers, or else those
/// of a row.
///
/// # Errors
///
/// Fails if the nest cannot be [scheduled](Schedule), or if the number of work-items is not
/// constant.
pub fn side_by_side(nest: &Nest) -> Result<i128, NestError> {
    let smallest = blocks(nest)?.into_iter().map(|(block, _)| block.rows * block.columns).min();
    Ok(smallest.unwrap_or(nest.local_size()?[0]))
}

/// Returns, for each instruction, the rows of work-items that generated C runs side by side in
/// whole tiles. The number is 1 for an instruction that runs row by row.
///
/// # Errors
///
/// Fails like [`side_by_side`].
pub fn rows_side_by_side(nest: &Nest) -> Result<Vec<i128>, NestError> {
    let mut rows = vec![1; nest.instructions.len()];
    for (block, numbers) in blocks(nest)? {
        numbers.into_iter().for_each(|number| rows[number] = block.rows);
    }
    Ok(rows)
}

/// Returns the blocks for whole tiles, each with its instructions.
pub(crate) fn blocks(nest: &Nest) -> Result<Vec<(Block, Vec<usize>)>, NestError> {
    let schedule = Schedule::new(nest)?;
    let mut found = Vec::new();
    gather(&Known::new(nest)?, &schedule.steps, &mut found);
    Ok(found)
}

fn gather(known: &Known, steps: &[Step], found: &mut Vec<(Block, Vec<usize>)>) {
    for phase in phases(steps) {
        match &phase[0] {
            Step::Barrier => {}
            Step::Loop(id, body) if phase[0].has_barrier() => gather(&known.inside(*id), body, found),
            _ => {
                let whole = known.with(known.in_whole_tiles(phase), false);
                found.extend(whole.block(phase).map(|block| (block, runs(phase))));
            }
        }
    }
}
