//! Checks that the first work-item runs an instruction in every iteration of the loops around it.

use super::floors::Floors;
use super::runs::all_groups;
use crate::error::NestError;
use crate::ir::{Affine, Instruction, LoopId, Nest, Var};
use std::collections::BTreeSet;

/// Refuses an instruction that the first work-item may skip, or that is within a loop that may have
/// no iteration.
pub(super) fn runs_everywhere(nest: &Nest, floors: &Floors, instruction: &Instruction) -> Result<(), NestError> {
    let is_hardware = |id: &LoopId| nest.loop_at(*id).tag.is_hardware();
    // Without work-groups nothing runs, inside their loops or outside.
    let (hardware, sequential): (BTreeSet<LoopId>, BTreeSet<LoopId>) =
        all_groups(nest, &instruction.within).into_iter().partition(is_hardware);
    let refuse = |message: String| Err(NestError::new(message).at(instruction.place));
    let around = nest.domain(&sequential);
    if let Some(id) = around.iter().flat_map(Affine::loops).find(is_hardware) {
        return refuse(format!("the number of iterations depends on the work-item's `{}`", nest.loop_at(id).name));
    }
    let mut outer: Vec<Affine> = Vec::new();
    for id in nest.nesting(&sequential) {
        let own: Vec<Affine> = nest.loop_at(id).constraints.iter().map(|sum| floors.known_remainders(sum)).collect();
        if !has_iteration(floors, &outer, &own, id) {
            let error = NestError::new(format!("loop `{}` may have no iteration", nest.loop_at(id).name));
            return Err(error.remedy(ASSUME).at(instruction.place));
        }
        outer.extend(own);
    }
    let first = |sum: &Affine| hardware.iter().fold(sum.clone(), |sum, id| sum.without(Var::Loop(*id)));
    let holds = |sum: &Affine| floors.imply(&outer, &floors.known_remainders(&first(sum)));
    match nest.domain(&hardware).iter().all(holds) {
        true => Ok(()),
        false => Err(NestError::new("the first work-item may leave this instruction out")
            .remedy(ASSUME)
            .at(instruction.place)),
    }
}

const ASSUME: &str = "state a known property of the sizes, such as `assume n > 0`";

/// Returns true if a loop has an iteration at all points of the loops around it. Returns false if
/// neither of two bounds has coefficient 1.
fn has_iteration(floors: &Floors, outer: &[Affine], own: &[Affine], id: LoopId) -> bool {
    let index = Var::Loop(id);
    let side = |sign: i128| own.iter().filter(move |sum| sum.coefficient(index) * sign > 0);
    side(1).all(|low| {
        side(-1).all(|high| {
            let (up, down) = (low.coefficient(index), -high.coefficient(index));
            let room = &low.scaled(down) + &high.scaled(up);
            (up == 1 || down == 1) && floors.imply(outer, &room)
        })
    })
}
