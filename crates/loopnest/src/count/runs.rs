//! The runs of instructions.

use super::factors::{Factors, Product};
use crate::error::NestError;
use crate::ir::{AXES, Instruction, LoopId, Nest, Tag};
use std::collections::BTreeSet;

/// Counts the runs of an instruction, including work-items that repeat the work of others.
pub(super) fn runs(
    nest: &Nest,
    instruction: &Instruction,
    local: [i128; AXES],
    factors: &mut Factors,
) -> Result<Product, NestError> {
    runs_within(nest, &instruction.within, local, factors)
}

/// Returns the number of times that work-items are at the points of the loops `within`, including
/// work-items that repeat the work of others.
pub(super) fn runs_within(
    nest: &Nest,
    within: &BTreeSet<LoopId>,
    local: [i128; AXES],
    factors: &mut Factors,
) -> Result<Product, NestError> {
    let runs = factors.points(nest, &all_groups(nest, within))?;
    Ok(runs.scaled(repeated(nest, within, local, 0)))
}

/// Returns the number of work-items along the axes from `first` on that repeat what one of them does, because
/// none of the loops `within` runs along their axis.
pub(super) fn repeated(nest: &Nest, within: &BTreeSet<LoopId>, local: [i128; AXES], first: usize) -> i128 {
    let is_repeated = |axis: &usize| nest.loop_with(within, Tag::Local(*axis as u8)).is_none();
    (first..AXES).filter(is_repeated).map(|axis| local[axis]).product()
}

/// Returns the loops, with a work-group loop for every axis that has one.
pub(super) fn all_groups(nest: &Nest, within: &BTreeSet<LoopId>) -> BTreeSet<LoopId> {
    let mut all = within.clone();
    for axis in 0..AXES as u8 {
        if !within.iter().any(|id| nest.loop_at(*id).tag == Tag::Group(axis)) {
            all.extend(nest.tagged(Tag::Group(axis)).next());
        }
    }
    all
}
