//! Counts the cells in the union of sets that may have cells in common.

use super::floors::Floors;
use super::image::Cells;
use super::points::{Piece, count_points, whole};
use super::polynomial::Polynomial;
use crate::error::NestError;
use crate::ir::{Affine, LoopId, Var};

/// Maximum number of intersections. More would take too long to count.
const MOST_MEETS: usize = 128;

/// Returns the number of different cells in sets that may have cells in common.
///
/// Uses inclusion and exclusion. Two sets need no intersection if they have no cell in common, or
/// if one contains the other.
///
/// # Errors
///
/// Fails if too many sets have cells in common, or if a set has a shape that cannot be counted
/// exactly.
pub(super) fn different(mut sets: Vec<Cells>, floors: &mut Floors) -> Result<Vec<Piece>, NestError> {
    join_neighbours(&mut sets, floors);
    let mut union = Union { floors, meets: 0, pieces: Vec::new() };
    for (at, cells) in sets.iter().enumerate() {
        let others: Vec<&Cells> = sets[at + 1..].iter().collect();
        union.beyond(cells, &others, 1)?;
    }
    Ok(union.pieces)
}

struct Union<'a> {
    floors: &'a mut Floors,
    meets: usize,
    pieces: Vec<Piece>,
}

impl Union<'_> {
    /// Adds `sign` for each cell that is in none of the `others`.
    fn beyond(&mut self, cells: &Cells, others: &[&Cells], sign: i128) -> Result<(), NestError> {
        let mut meets = Vec::new();
        for other in others {
            let Some(meet) = cells.meet(other, self.floors) else { continue };
            if meet.covers(cells, self.floors) {
                return Ok(());
            }
            meets.push((meet, *other));
        }
        self.meets += meets.len();
        if self.meets > MOST_MEETS {
            return Err(NestError::new(format!("it is a union of sets with more than {MOST_MEETS} intersections")));
        }
        let loops: Vec<LoopId> = cells.loops.iter().copied().collect();
        for piece in count_points(&cells.bounds, &loops, self.floors)? {
            self.pieces.push(Piece { count: piece.count.times(&Polynomial::constant(sign)), ..piece });
        }
        let others: Vec<&Cells> = meets.iter().map(|(_, other)| *other).collect();
        meets.iter().enumerate().try_for_each(|(at, (meet, _))| self.beyond(meet, &others[at + 1..], -sign))
    }
}

impl Cells {
    /// Returns the cells in both sets, or `None` if there are certainly none.
    fn meet(&self, other: &Cells, floors: &mut Floors) -> Option<Cells> {
        let mut meet = self.clone();
        let other = other.renumbered_beyond(self);
        meet.bounds.extend(other.bounds);
        meet.loops.extend(other.loops);
        // The place is followed by equations: the difference of both places.
        let axes = self.place.len();
        meet.place.extend(self.place.iter().zip(&other.place).map(|(own, other)| own - other));
        (axes..2 * axes).try_for_each(|equation| meet.solve(equation, floors))?;
        meet.place.truncate(axes);
        meet.bounds = whole(meet.bounds, floors)?;
        (!floors.contradict(&meet.bounds)).then_some(meet)
    }

    /// Renumbers the loops after those of other cells.
    fn renumbered_beyond(&self, other: &Cells) -> Cells {
        let shift = other.loops.last().map_or(0, |id| id.0 + 1);
        let beyond = |id: LoopId| LoopId(id.0 + shift);
        let renumbered = |sums: &[Affine]| sums.iter().map(|sum| sum.renumbered(beyond)).collect();
        Cells {
            bounds: renumbered(&self.bounds),
            loops: self.loops.iter().copied().map(beyond).collect(),
            place: renumbered(&self.place),
        }
    }

    /// Uses an equation, a sum in the place, to replace a loop. Returns `None` if the equation
    /// never holds.
    fn solve(&mut self, equation: usize, floors: &mut Floors) -> Option<()> {
        let pivot = self.pivot(equation, &self.loops.clone());
        let factor = pivot.map_or(0, |id| self.place[equation].coefficient(Var::Loop(id)));
        let rest = pivot.map_or(self.place[equation].clone(), |id| self.place[equation].without(Var::Loop(id)));
        let mut zero = rest.clone();
        if let Some(id) = pivot {
            let quotient = floors.divided(&rest, factor.abs());
            zero = &rest - &quotient.scaled(factor.abs());
            self.substitute(id, &quotient.scaled(-factor.signum()));
            self.loops.remove(&id);
        }
        match zero.as_constant() {
            Some(0) => Some(()),
            Some(_) => None,
            None => {
                self.bounds.extend([-&zero, zero]);
                Some(())
            }
        }
    }

    /// Returns true if this set contains all of the cells. This set must be a part of them.
    fn covers(&self, cells: &Cells, floors: &Floors) -> bool {
        let holds = |bound: &Affine| cells.bounds.contains(bound) || floors.imply(&cells.bounds, bound);
        self.loops == cells.loops && self.place == cells.place && self.bounds.iter().all(holds)
    }
}

/// Joins sets that differ by a shift along one axis and leave no gap.
fn join_neighbours(sets: &mut Vec<Cells>, floors: &Floors) {
    let mut at = 0;
    while at < sets.len() {
        let joined = (0..sets.len()).filter(|other| *other != at).find_map(|other| {
            let is_alike = sets[at].place == sets[other].place && sets[at].loops == sets[other].loops;
            let union = united(&sets[at].bounds, &sets[other].bounds, floors).filter(|_| is_alike)?;
            Some((other, union))
        });
        match joined {
            Some((other, union)) => {
                sets[at].bounds = union;
                sets.remove(other);
                at = 0;
            }
            None => at += 1,
        }
    }
}

/// Returns the union of two sets if such bounds can describe it. `one` must begin and end no later
/// than `two`.
fn united(one: &[Affine], two: &[Affine], floors: &Floors) -> Option<Vec<Affine>> {
    let direction = |bound: &Affine| bound.plus(-bound.offset());
    let mut union = Vec::new();
    let (mut shifted, mut begin, mut end) = (None, None, None);
    if one.len() != two.len() {
        return None;
    }
    for bound in one {
        let other = two.iter().find(|other| direction(other) == direction(bound))?;
        union.push(bound.plus((other.offset() - bound.offset()).max(0)));
        if other == bound {
            continue;
        }
        let mut loops = bound.loops();
        let (Some(axis), None) = (loops.next(), loops.next()) else { return None };
        if *shifted.get_or_insert(axis) != axis || bound.coefficient(Var::Loop(axis)).abs() != 1 {
            return None;
        }
        match bound.coefficient(Var::Loop(axis)) {
            1 => begin = Some((bound.without(Var::Loop(axis)), other)),
            _ => end = Some((bound.clone(), other)),
        }
    }
    let Some(axis) = shifted else { return Some(union) };
    // `two` begins at most one behind the end of `one`, and ends at or behind it.
    let later = |bounds: &Option<(Affine, &Affine)>| match bounds {
        Some((own, other)) => own.offset() >= other.offset(),
        None => true,
    };
    if !later(&begin) || end.as_ref().is_some_and(|(own, other)| own.offset() > other.offset()) {
        return None;
    }
    let side = |bounds: &[Affine], sign: i128| {
        let own = |bound: &&Affine| bound.coefficient(Var::Loop(axis)) == sign && bound.loops().count() == 1;
        bounds.iter().filter(own).map(|bound| bound.without(Var::Loop(axis))).collect::<Vec<_>>()
    };
    // Every end of `one` (index <= rest) against every beginning of `two` (index >= -rest).
    let rest: Vec<Affine> = union.iter().filter(|bound| !bound.uses(axis)).cloned().collect();
    let touches =
        side(one, -1).iter().all(|end| side(two, 1).iter().all(|begin| floors.imply(&rest, &(end + begin).plus(1))));
    let all_alone = one.iter().chain(two).filter(|bound| bound.uses(axis)).all(|bound| bound.loops().count() == 1);
    (touches && all_alone).then_some(union)
}
