//! Simplifies bounds without changing their points.

use super::floors::Floors;
use super::points::whole;
use crate::ir::{Affine, LoopId, Var};
use std::collections::BTreeSet;

/// Joins all loops over blocks of a constant length with the loops within their blocks, in `bounds`
/// and in `sums`. Loops within blocks leave `open`. Returns the bounds in their tightest form, or
/// `None` if they contradict each other.
pub(super) fn without_blocks(
    bounds: &[Affine],
    open: &mut BTreeSet<LoopId>,
    sums: &mut [Affine],
    floors: &mut Floors,
) -> Option<Vec<Affine>> {
    let known = bounds.iter().map(|bound| floors.known_remainders(bound)).collect();
    let mut bounds = whole(known, floors)?;
    while let Some(inner) = join_blocks(&mut bounds, open, sums, floors) {
        open.remove(&inner);
        // The bounds of the blocks may now be redundant. They would hide that the joined loop is a
        // block itself.
        bounds = whole(bounds, floors)?;
    }
    Some(bounds)
}

/// Joins a loop over blocks of constant length with the loop within a block, if bounds and `sums`
/// use both only as `length * outer + inner`. The joined loop has the number of the outer one.
/// Returns the inner one.
fn join_blocks(
    bounds: &mut Vec<Affine>,
    open: &BTreeSet<LoopId>,
    sums: &mut [Affine],
    floors: &mut Floors,
) -> Option<LoopId> {
    for inner in open {
        let Some(length) = block_length(bounds, *inner) else { continue };
        for outer in open.iter().filter(|outer| *outer != inner) {
            if let Some(joined) = joined(bounds, *outer, *inner, length, floors)
                && sums.iter().all(|sum| moves_together(sum, *outer, *inner, length))
            {
                *bounds = joined;
                sums.iter_mut().for_each(|sum| *sum = collapsed(sum, *outer, *inner));
                return Some(*inner);
            }
        }
    }
    None
}

/// Returns the constant number of points of a loop that starts at 0.
fn block_length(bounds: &[Affine], inner: LoopId) -> Option<i128> {
    let own = Var::Loop(inner);
    let alone = |bound: &&Affine| bound.coefficient(own) != 0 && bound.without(own).as_constant().is_some();
    let starts = bounds.iter().filter(alone).any(|bound| bound.coefficient(own) == 1 && bound.offset() == 0);
    let end = bounds.iter().filter(alone).find(|bound| bound.coefficient(own) == -1)?;
    starts.then_some(end.offset() + 1)
}

fn moves_together(sum: &Affine, outer: LoopId, inner: LoopId, length: i128) -> bool {
    sum.coefficient(Var::Loop(outer)) == length * sum.coefficient(Var::Loop(inner))
}

/// Returns the sum in terms of the joined loop.
fn collapsed(sum: &Affine, outer: LoopId, inner: LoopId) -> Affine {
    let factor = sum.coefficient(Var::Loop(inner));
    let mut rest = sum.without(Var::Loop(outer)).without(Var::Loop(inner));
    rest.add_term(Var::Loop(outer), factor);
    rest
}

fn joined(bounds: &[Affine], outer: LoopId, inner: LoopId, length: i128, floors: &mut Floors) -> Option<Vec<Affine>> {
    let (block, point) = (Var::Loop(outer), Var::Loop(inner));
    let mut joined = Vec::new();
    let mut shadows = None;
    for bound in bounds {
        let (of_block, of_point) = (bound.coefficient(block), bound.coefficient(point));
        let rest = bound.without(block).without(point);
        match (of_block, of_point) {
            (0, 0) => joined.push(bound.clone()),
            // The bounds of the block itself.
            (0, 1 | -1) if rest.as_constant() == Some(if of_point == 1 { 0 } else { length - 1 }) => {}
            // outer >= -rest: the joined loop begins with that block. outer <= rest: it ends with
            // that block.
            (1, 0) => joined.push(&rest.scaled(length) + &Affine::from(outer)),
            (-1, 0) => joined.push((&rest.scaled(length) - &Affine::from(outer)).plus(length - 1)),
            _ if of_block == length * of_point && of_point != 0 => joined.push(collapsed(bound, outer, inner)),
            // A split leaves bounds on blocks that follow from the bounds on their points.
            (_, 0) if shadows.get_or_insert_with(|| of_blocks(bounds, point, length, floors)).contains(bound) => {}
            _ => return None,
        }
    }
    Some(joined)
}

/// Returns the bounds on a block that hold if any point of the block satisfies the bounds.
fn of_blocks(bounds: &[Affine], point: Var, length: i128, floors: &mut Floors) -> Vec<Affine> {
    let most = |bound: &Affine| (bound.coefficient(point) * (length - 1)).max(0);
    let of_points = bounds.iter().filter(|bound| bound.coefficient(point) != 0);
    let shadows = of_points.map(|bound| bound.without(point).plus(most(bound))).collect();
    whole(shadows, floors).unwrap_or_default()
}

/// Removes the bounds that `regards` selects and the other bounds imply.
pub(super) fn without_redundant(
    bounds: Vec<Affine>,
    floors: &Floors,
    regards: impl Fn(&Affine) -> bool,
) -> Vec<Affine> {
    let mut bounds = bounds;
    let mut at = 0;
    while at < bounds.len() {
        if regards(&bounds[at]) {
            let candidate = bounds.remove(at);
            if floors.imply(&bounds, &candidate) {
                continue;
            }
            bounds.insert(at, candidate);
        }
        at += 1;
    }
    bounds
}
