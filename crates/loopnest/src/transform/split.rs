//! Splits one loop into a loop over blocks and a loop within a block.

use super::data::refuse_data;
use super::names::fresh;
use crate::error::NestError;
use crate::ir::{Affine, Loop, LoopId, Nest, Tag, Var};

/// Splits a loop: `index = length * outer + inner` with `0 <= inner < length`. The outer loop takes
/// the place of the loop, and the inner one follows it directly. The order of iterations stays the
/// same.
pub(super) fn split(nest: &mut Nest, index: &str, length: i64, names: [&String; 2]) -> Result<(), NestError> {
    let id = nest.loop_id(index)?;
    if length < 1 {
        return Err(NestError::new(format!("a block of {length} iterations")).remedy("give at least 1"));
    }
    if nest.loop_at(id).tag != Tag::Sequential {
        return Err(NestError::new(format!("loop `{index}` is tagged")).remedy("split a loop before it is tagged"));
    }
    refuse_data(nest, id)?;
    let length = i128::from(length);
    let inner = LoopId(nest.loops.len());
    let replacement = &Affine::term(Var::Loop(id), length) + &Affine::from(inner);
    let own = nest.loop_at(id).clone();

    let blocks = own.constraints.iter().map(|bound| block_bound(bound, id, length)).collect();
    let mut within = vec![Affine::from(inner), (-&Affine::from(inner)).plus(length - 1)];
    within.extend(own.constraints.iter().map(|bound| bound.substitute(Var::Loop(id), &replacement)));

    nest.substitute(id, &replacement);
    for name in names {
        fresh(nest, name).or_else(|error| if name == index { Ok(()) } else { Err(error) })?;
    }
    nest.loops[id.0] = Loop { name: names[0].clone(), constraints: blocks, ..own.clone() };
    nest.loops.push(Loop { name: names[1].clone(), constraints: within, ..own });
    let position = nest.order.iter().position(|other| *other == id).map_or(nest.order.len(), |at| at + 1);
    nest.order.insert(position, inner);
    for instruction in nest.instructions.iter_mut().filter(|instruction| instruction.within.contains(&id)) {
        instruction.within.insert(inner);
    }
    Ok(())
}

/// Returns the bound on blocks that follows from a bound of the loop. It holds if the bound holds
/// for some index of the block.
fn block_bound(bound: &Affine, id: LoopId, length: i128) -> Affine {
    let factor = bound.coefficient(Var::Loop(id));
    let best = if factor > 0 { factor * (length - 1) } else { 0 };
    let scaled = &bound.without(Var::Loop(id)).plus(best) + &Affine::term(Var::Loop(id), factor * length);
    // A constant bound is rounded inwards, so that a loop from 0 still starts at 0.
    let coefficient = factor * length;
    match bound.without(Var::Loop(id)).as_constant() {
        Some(_) => {
            let offset = scaled.offset().div_euclid(coefficient.abs());
            Affine::term(Var::Loop(id), coefficient.signum()).plus(offset)
        }
        None => scaled,
    }
}
