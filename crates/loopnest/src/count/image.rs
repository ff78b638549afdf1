//! Sets of cells that the subscripts of an access reach while its loops run.

use super::floors::Floors;
use super::merge::without_blocks;
use super::project::project;
use crate::error::NestError;
use crate::ir::{Affine, LoopId, Var};
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// A set of cells, each reached at exactly one point: those at `place` for `loops` between
/// `bounds`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Cells {
    pub(super) bounds: Vec<Affine>,
    /// The coordinates along the axes, and the loops that these determine.
    pub(super) loops: BTreeSet<LoopId>,
    /// The cell, as a sum along each axis.
    pub(super) place: Vec<Affine>,
}

/// Returns the cells that `subscripts` reach at the points of `loops` between `bounds`. The
/// returned sets may have cells in common. Their loops are numbered from `first`, the coordinates
/// along the axes before the others.
///
/// Steps of Euclid's algorithm bring the subscripts into Hermite's triangular form. They replace
/// loops by others with the same integer points. The form contains the coordinates, one for each
/// axis, and no other loop. The other loops move no cell and are projected out.
///
/// # Errors
///
/// Fails if a projection makes too many sets.
pub(super) fn cells(
    bounds: Vec<Affine>,
    loops: &[LoopId],
    subscripts: &[Affine],
    first: LoopId,
    floors: &mut Floors,
) -> Result<Vec<Cells>, NestError> {
    let mut open: BTreeSet<LoopId> = loops.iter().copied().collect();
    let mut place: Vec<Affine> = subscripts.iter().map(|sum| floors.known_remainders(sum)).collect();
    let Some(bounds) = without_blocks(&bounds, &mut open, &mut place, floors) else { return Ok(Vec::new()) };
    let mut cells = Cells { bounds, loops: BTreeSet::new(), place };
    for axis in 0..subscripts.len() {
        let pivot = cells.pivot(axis, &open);
        open.retain(|id| Some(*id) != pivot);
        cells.number(axis, pivot, LoopId(first.0 + axis));
    }
    let fresh = LoopId(first.0 + subscripts.len());
    project(cells, open, fresh, floors)
}

impl Cells {
    /// Replaces a loop in the bounds and in the place.
    pub(super) fn substitute(&mut self, id: LoopId, replacement: &Affine) {
        let sums = self.bounds.iter_mut().chain(&mut self.place);
        sums.for_each(|sum| *sum = sum.substitute(Var::Loop(id), replacement));
    }

    /// Replaces loops of `open` until at most one of them occurs in the place along an axis.
    /// Returns that loop. Old and new points correspond one to one.
    pub(super) fn pivot(&mut self, axis: usize, open: &BTreeSet<LoopId>) -> Option<LoopId> {
        loop {
            let factor = |id: LoopId| self.place[axis].coefficient(Var::Loop(id));
            let used: Vec<LoopId> = self.place[axis].loops().filter(|id| open.contains(id)).collect();
            let pivot = used.iter().copied().min_by_key(|id| (factor(*id).abs(), Reverse(*id)))?;
            if used.len() == 1 {
                return Some(pivot);
            }
            let mut replacement = Affine::from(pivot);
            for other in used.into_iter().filter(|id| *id != pivot) {
                replacement.add_term(Var::Loop(other), -factor(other).div_euclid(factor(pivot)));
            }
            self.substitute(pivot, &replacement);
        }
    }

    /// Gives the pivot of an axis the number of the coordinate, and shifts it so that the rest of
    /// the place is less than the pivot's factor. Sets of cells on the same lattice then have the
    /// same place. An axis without a pivot gets its cell as the coordinate.
    fn number(&mut self, axis: usize, pivot: Option<LoopId>, coordinate: LoopId) {
        self.loops.insert(coordinate);
        let Some(pivot) = pivot else {
            let cell = std::mem::replace(&mut self.place[axis], Affine::from(coordinate));
            let beyond = &cell - &Affine::from(coordinate);
            self.bounds.extend([-&beyond, beyond]);
            return;
        };
        let factor = self.place[axis].coefficient(Var::Loop(pivot));
        let (whole, _) = self.place[axis].without(Var::Loop(pivot)).divided(factor.abs());
        let replacement = &Affine::from(coordinate) - &whole;
        self.substitute(pivot, &replacement.scaled(factor.signum()));
    }
}
