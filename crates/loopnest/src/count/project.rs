//! Projects loops out of sets of cells, exactly.

use super::floors::Floors;
use super::image::Cells;
use super::merge::without_redundant;
use super::points::whole;
use crate::error::NestError;
use crate::ir::{Affine, LoopId, Var};
use std::collections::BTreeSet;

/// Maximum number of parts by remainders of projected loops. More parts would be sets with too many
/// intersections.
const MOST_PARTS: i128 = 16;

/// Projects the loops `open` out. Returns sets of the cells for which some integer points of those
/// loops are between the bounds. New loops are numbered from `fresh`.
///
/// Consider a loop between `a*i >= low` and `b*i <= high`. Some integer exists where `a*high -
/// b*low >= 0` if a or b is 1, or if those bounds always leave room for an integer (the dark shadow
/// of Pugh's Omega test, 1991). Otherwise one of the two bounds is rounded: `ceil(low / a)` becomes
/// a loop of its own. The other loops determine its value, so no cell is counted twice. If these
/// include loops that are still to be projected out, the loops are first taken apart by remainders.
///
/// # Errors
///
/// Fails if there are too many sets.
pub(super) fn project(
    cells: Cells,
    open: BTreeSet<LoopId>,
    fresh: LoopId,
    floors: &mut Floors,
) -> Result<Vec<Cells>, NestError> {
    let mut done = Vec::new();
    let (mut left, mut parts) = (vec![(cells, open, fresh)], 0);
    while let Some((mut cells, mut open, mut fresh)) = left.pop() {
        let Some(bounds) = whole(std::mem::take(&mut cells.bounds), floors) else { continue };
        let Some(id) = cheapest(&bounds, &open) else {
            cells.bounds = bounds;
            if !floors.contradict(&cells.bounds) {
                done.push(cells);
            }
            continue;
        };
        open.remove(&id);
        let bounds = without_redundant(bounds, floors, |bound| bound.uses(id));
        match rounding(&bounds, id, &open, floors) {
            Rounding::Bounds(chosen) => {
                cells.bounds = bounds;
                for at in chosen {
                    cells.round(at, id, fresh);
                    fresh = LoopId(fresh.0 + 1);
                }
                cells.bounds = shadow(&cells.bounds, id);
                left.push((cells, open, fresh));
            }
            Rounding::Apart(other, period) => {
                parts += period;
                if parts > MOST_PARTS {
                    return Err(NestError::new("the cells that are touched have gaps of too many kinds"));
                }
                open.insert(id);
                cells.bounds = bounds;
                left.extend((0..period).map(|remainder| {
                    let mut part = cells.clone();
                    part.substitute(other, &Affine::term(Var::Loop(other), period).plus(remainder));
                    (part, open.clone(), fresh)
                }));
            }
        }
    }
    Ok(done)
}

/// The step that makes the shadow of a loop exact.
enum Rounding {
    /// Round these bounds.
    Bounds(Vec<usize>),
    /// Take a loop apart by its remainders in a period.
    Apart(LoopId, i128),
}

fn cheapest(bounds: &[Affine], open: &BTreeSet<LoopId>) -> Option<LoopId> {
    let cost = |id: &LoopId| {
        let factors = bounds.iter().map(|bound| bound.coefficient(Var::Loop(*id)));
        let sides = |sign: i128| factors.clone().filter(move |factor| factor * sign > 0).count();
        (factors.clone().any(|factor| factor.abs() > 1), sides(1) * sides(-1))
    };
    open.iter().copied().min_by_key(|id| cost(id))
}

/// Returns the bounds to round so that the shadow of `id` hides no gap. These are the bounds of one
/// side that leave no room for an integer with a bound of the other side.
fn rounding(bounds: &[Affine], id: LoopId, open: &BTreeSet<LoopId>, floors: &Floors) -> Rounding {
    let mut tight = [BTreeSet::new(), BTreeSet::new()];
    let factor = |at: usize| bounds[at].coefficient(Var::Loop(id));
    let known = &shadow(bounds, id);
    for low in (0..bounds.len()).filter(|at| factor(*at) > 1) {
        for high in (0..bounds.len()).filter(|at| factor(*at) < -1) {
            let between = &bounds[low].scaled(-factor(high)) + &bounds[high].scaled(factor(low));
            if !floors.imply(known, &between.plus((factor(low) - 1) * (factor(high) + 1))) {
                tight[0].insert(low);
                tight[1].insert(high);
            }
        }
    }
    let odd = |at: &usize| bounds[*at].odd_beside(id).find(|(other, _)| open.contains(other));
    let cost = |side: &BTreeSet<usize>| {
        let cases = side.iter().map(|at| factor(*at).abs()).product::<i128>();
        (side.iter().any(|at| odd(at).is_some()), cases)
    };
    let [lower, upper] = tight;
    let side = if cost(&lower) <= cost(&upper) { lower } else { upper };
    match side.iter().find_map(odd) {
        Some((other, period)) => Rounding::Apart(other, period),
        None => Rounding::Bounds(side.into_iter().collect()),
    }
}

/// Returns the bounds on the other loops under which a real value of `id` exists.
fn shadow(bounds: &[Affine], id: LoopId) -> Vec<Affine> {
    let own = Var::Loop(id);
    let (with, mut rest): (Vec<Affine>, Vec<Affine>) =
        bounds.iter().cloned().partition(|bound| bound.coefficient(own) != 0);
    let (lower, upper): (Vec<Affine>, Vec<Affine>) = with.into_iter().partition(|bound| bound.coefficient(own) > 0);
    for low in &lower {
        for high in &upper {
            rest.push(&low.scaled(-high.coefficient(own)) + &high.scaled(low.coefficient(own)));
        }
    }
    rest
}

impl Cells {
    /// Replaces a bound of `id` by one with coefficient 1: divides it, and rounds the rest down to
    /// the new loop `fresh`.
    fn round(&mut self, at: usize, id: LoopId, fresh: LoopId) {
        let factor = self.bounds[at].coefficient(Var::Loop(id));
        let (mut quotient, rest) = self.bounds[at].without(Var::Loop(id)).divided(factor.abs());
        quotient.add_term(Var::Loop(id), factor.signum());
        quotient.add_term(Var::Loop(fresh), 1);
        self.bounds[at] = quotient;
        let left = &rest - &Affine::term(Var::Loop(fresh), factor.abs());
        self.bounds.extend([(-&left).plus(factor.abs() - 1), left]);
        self.loops.insert(fresh);
    }
}
