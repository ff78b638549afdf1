//! The lane of a nest, and the cells that neighbouring lanes access.

use super::polynomial::Polynomial;
use crate::ir::{Access, Affine, LookupId, LoopId, Nest, Tag, Var};
use std::collections::BTreeSet;

/// Returns the loop whose iterations count as SIMD lanes: work-items along axis 0, or else the
/// innermost loop, which a compiler would vectorise.
pub(super) fn lane(nest: &Nest, within: &BTreeSet<LoopId>) -> Option<LoopId> {
    match nest.tagged(Tag::Local(0)).next() {
        Some(_) => nest.loop_with(within, Tag::Local(0)),
        None => nest.nesting(within).last().copied(),
    }
}

/// Returns true if data decide the distance between the cells of neighbouring lanes: through a
/// looked-up value, or through a loop whose bounds are looked up.
pub(super) fn is_scattered(nest: &Nest, access: &Access, lane: LoopId) -> bool {
    let moves = |id: LookupId| nest.lookup(id).access.subscripts.iter().any(|sum| sum.uses(lane));
    let looks_up = |sum: &Affine| sum.lookups().any(moves);
    let starts_by_lane = |id: LoopId| id != lane && nest.loop_at(id).constraints.iter().any(looks_up);
    access.subscripts.iter().any(|sum| looks_up(sum) || nest.loops_of(sum).any(starts_by_lane))
}

/// Returns the number of cells from one iteration of a loop to the next.
pub(super) fn distance(nest: &Nest, access: &Access, id: LoopId) -> Polynomial {
    let array = nest.array(access.array);
    let mut distance = Polynomial::default();
    for (axis, subscript) in access.subscripts.iter().enumerate() {
        let start = Polynomial::constant(subscript.coefficient(Var::Loop(id)));
        let along =
            array.stride(axis).iter().map(Polynomial::from).fold(start, |product, extent| product.times(&extent));
        distance = distance.plus(&along);
    }
    distance
}
