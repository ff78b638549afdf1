//! Copies the cells that loads touch into local memory first.

use super::data::refuse_data_accesses;
use super::tile::{Footprint, Tile, Use, named};
use crate::error::NestError;
use crate::ir::{Access, Affine, ArrayId, Expr, Instruction, LoopId, Memory, Nest};
use std::collections::BTreeSet;

pub(super) fn prefetch(nest: &mut Nest, array: &str, sweep: &[String], tile: &Tile) -> Result<(), NestError> {
    let source = nest.array_id(array)?;
    let sweep = named(nest, sweep)?;
    if nest.array(source).memory != Memory::Global {
        return Err(NestError::new(format!("`{array}` does not live in global memory")));
    }
    if nest.uses(source).0 {
        let writes = |instruction: &&Instruction| instruction.target.array == source;
        let place = nest.instructions.iter().find(writes).and_then(|writer| writer.place);
        return Err(NestError::new(format!("`{array}` is written, so a copy of it could be out of date")).at(place));
    }
    refuse_data_accesses(nest, source)?;
    let uses = uses(nest, source, &sweep);
    let Some(first) = uses.first() else {
        return Err(NestError::new(format!("no load of `{array}` has a swept loop in its subscripts")));
    };
    let place = nest.instructions[first.number].place;
    let footprint = Footprint::new(nest, uses, sweep)?;
    let copy = ArrayId(nest.arrays.len());
    nest.arrays.push(nest.array(source).clone());
    let value = |cell: &[Affine]| Expr::Load(Access { array: source, subscripts: cell.to_vec() }, place);
    footprint.fill(nest, copy, tile, place, value)
}

/// Returns the loads of an array whose cells depend on the swept loops.
fn uses(nest: &Nest, source: ArrayId, sweep: &BTreeSet<LoopId>) -> Vec<Use> {
    let is_swept = |access: &Access| access.subscripts.iter().flat_map(Affine::loops).any(|id| sweep.contains(&id));
    let mut uses = Vec::new();
    for (number, instruction) in nest.instructions.iter().enumerate() {
        for (access, place) in instruction.value.loads() {
            if access.array == source && is_swept(access) {
                uses.push(Use { number, access: access.clone(), place, cell: access.subscripts.clone() });
            }
        }
    }
    uses
}
