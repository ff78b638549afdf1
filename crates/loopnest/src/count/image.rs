//! Sets of cells: what the subscripts of an access reach while its loops run.

use super::floors::Floors;
use super::merge::{without_blocks, without_redundant};
use super::points::whole;
use crate::error::NestError;
use crate::ir::{Affine, LoopId, Var};
use crate::polyhedra::gcd;
use std::collections::BTreeSet;

/// More parts of loops than this, by remainders, would make too many sets.
const MOST_PARTS: i128 = 16;

/// Cells along some axes: `step * coordinate + residue` for coordinates between bounds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Cells {
    /// Bounds of the coordinates, which are loops numbered from the first given.
    pub(super) bounds: Vec<Affine>,
    /// Distance of neighbouring cells along each axis; 0 along an axis where there is one cell only.
    pub(super) steps: Vec<i128>,
    /// What cells leave when divided by the step.
    pub(super) residues: Vec<i128>,
}

/// The cells that `subscripts` reach at the points of `loops` between `bounds`, in sets that may have cells in common;
/// coordinates are the loops from `first`.
///
/// Loops that the coordinates determine are replaced, the others are projected out. A projection is exact where one
/// of each two bounds has coefficient 1, or where they always leave room for an integer (the dark shadow of Pugh's
/// Omega test, 1991). A subscript such as `2*i + 3*j` determines a loop
/// once `j` is taken apart by its remainder.
///
/// # Errors
///
/// Where a projection could hide a gap.
pub(super) fn cells(
    bounds: Vec<Affine>,
    loops: &[LoopId],
    subscripts: &[Affine],
    first: LoopId,
    floors: &mut Floors,
) -> Result<Vec<Cells>, NestError> {
    let mut open: BTreeSet<LoopId> = loops.iter().copied().collect();
    let mut subscripts: Vec<Affine> = subscripts.iter().map(|sum| floors.known_remainders(sum)).collect();
    let Some(bounds) = without_blocks(&bounds, &mut open, &mut subscripts, floors) else { return Ok(Vec::new()) };
    let gaps = match reached(bounds.clone(), open.clone(), &subscripts, first, floors) {
        Ok(cells) => return Ok(cells.into_iter().collect()),
        Err(gaps) => gaps,
    };
    let parts = apart(bounds, subscripts, MOST_PARTS).filter(|parts| parts.len() > 1).ok_or(gaps)?;
    let mut sets = Vec::new();
    for (bounds, subscripts) in parts {
        sets.extend(reached(bounds, open.clone(), &subscripts, first, floors)?);
    }
    Ok(sets)
}

/// Bounds and subscripts with loops replaced by `period * quotient + remainder`, for every remainder, so that in each
/// subscript the coefficient of some loop divides all others. Nothing where that takes more parts than `room`.
fn apart(bounds: Vec<Affine>, subscripts: Vec<Affine>, room: i128) -> Option<Vec<(Vec<Affine>, Vec<Affine>)>> {
    let Some((id, period)) = subscripts.iter().find_map(undivided) else { return Some(vec![(bounds, subscripts)]) };
    if period > room {
        return None;
    }
    let mut parts = Vec::new();
    for remainder in 0..period {
        let index = Affine::term(Var::Loop(id), period).plus(remainder);
        let replaced = |sums: &[Affine]| sums.iter().map(|sum| sum.substitute(Var::Loop(id), &index)).collect();
        parts.extend(apart(replaced(&bounds), replaced(&subscripts), room / period)?);
    }
    Some(parts)
}

/// A loop whose coefficient is no multiple of the subscript's least one, and the period in which it becomes one: `j` and 2 of
/// `2*i + 3*j`.
fn undivided(subscript: &Affine) -> Option<(LoopId, i128)> {
    let factors = || subscript.loops().map(|id| (id, subscript.coefficient(Var::Loop(id)).abs()));
    let least = factors().map(|(_, factor)| factor).min()?;
    let (id, factor) = factors().find(|(_, factor)| factor % least != 0)?;
    Some((id, least / gcd(least, factor)))
}

/// The cells as one set, where the subscripts determine loops or no projection hides a gap; nothing where there is no cell.
fn reached(
    bounds: Vec<Affine>,
    mut open: BTreeSet<LoopId>,
    subscripts: &[Affine],
    first: LoopId,
    floors: &mut Floors,
) -> Result<Option<Cells>, NestError> {
    let mut cells = Cells { bounds, steps: Vec::new(), residues: Vec::new() };
    let mut equations = Vec::new();
    for (axis, subscript) in subscripts.iter().enumerate() {
        let (step, residue, coordinate) = lattice(subscript)?;
        cells.steps.push(step);
        cells.residues.push(residue);
        equations.push(&Affine::from(LoopId(first.0 + axis)) - &coordinate);
    }
    solve(&mut cells.bounds, &mut equations, &mut open);
    for equation in equations {
        cells.bounds.extend([-&equation, equation]);
    }
    match whole(cells.bounds, floors) {
        Some(bounds) => cells.bounds = bounds,
        None => return Ok(None),
    }
    while let Some(id) = cheapest(&cells.bounds, &open) {
        open.remove(&id);
        match project(cells.bounds, id, floors)? {
            Some(bounds) => cells.bounds = bounds,
            None => return Ok(None),
        }
    }
    Ok((!floors.contradict(&cells.bounds)).then_some(cells))
}

/// A subscript as `step * coordinate + residue`.
fn lattice(subscript: &Affine) -> Result<(i128, i128, Affine), NestError> {
    let step = subscript.terms().fold(0, |common, (variable, coefficient)| match variable {
        Var::Loop(_) => gcd(common, coefficient.abs()),
        _ => common,
    });
    if step <= 1 {
        return Ok((step, 0, subscript.clone()));
    }
    let mut coordinate = Affine::constant(subscript.offset().div_euclid(step));
    for (variable, coefficient) in subscript.terms() {
        if coefficient % step != 0 {
            return Err(NestError::new("the place of a strided access depends on the remainder of a size"));
        }
        coordinate.add_term(variable, coefficient / step);
    }
    Ok((step, subscript.offset().rem_euclid(step), coordinate))
}

/// Replaces a loop by what an equation says of it, for each equation in which one has coefficient 1.
fn solve(bounds: &mut [Affine], equations: &mut Vec<Affine>, open: &mut BTreeSet<LoopId>) {
    let mut at = 0;
    while at < equations.len() {
        let solvable = open.iter().copied().find(|id| equations[at].coefficient(Var::Loop(*id)).abs() == 1);
        let Some(id) = solvable else {
            at += 1;
            continue;
        };
        let equation = equations.remove(at);
        let sign = equation.coefficient(Var::Loop(id));
        let solution = equation.without(Var::Loop(id)).scaled(-sign);
        for sum in bounds.iter_mut().chain(equations.iter_mut()) {
            *sum = sum.substitute(Var::Loop(id), &solution);
        }
        open.remove(&id);
    }
}

fn cheapest(bounds: &[Affine], open: &BTreeSet<LoopId>) -> Option<LoopId> {
    let cost = |id: &LoopId| {
        let factors = bounds.iter().map(|bound| bound.coefficient(Var::Loop(*id)));
        let sides = |sign: i128| factors.clone().filter(move |factor| factor * sign > 0).count();
        (factors.clone().any(|factor| factor.abs() > 1), sides(1) * sides(-1))
    };
    open.iter().copied().min_by_key(|id| cost(id))
}

/// What bounds say of the other loops, where some integer index of `id` exists.
fn project(bounds: Vec<Affine>, id: LoopId, floors: &mut Floors) -> Result<Option<Vec<Affine>>, NestError> {
    let own = Var::Loop(id);
    let bounds = without_redundant(bounds, floors, |bound| bound.coefficient(own) != 0);
    let (with, mut rest): (Vec<Affine>, Vec<Affine>) =
        bounds.into_iter().partition(|bound| bound.coefficient(own) != 0);
    let all = with.clone();
    let (lower, upper): (Vec<Affine>, Vec<Affine>) = with.into_iter().partition(|bound| bound.coefficient(own) > 0);
    let mut dark = Vec::new();
    for low in &lower {
        for high in &upper {
            let (up, down) = (low.coefficient(own), -high.coefficient(own));
            let shadow = &low.scaled(down) + &high.scaled(up);
            if up > 1 && down > 1 {
                dark.push(shadow.plus(-(up - 1) * (down - 1)));
            }
            rest.push(shadow);
        }
    }
    let known: Vec<Affine> = rest.iter().chain(&all).cloned().collect();
    if !dark.iter().all(|bound| floors.imply(&known, bound)) {
        return Err(NestError::new("the cells that are touched may have gaps that depend on the sizes"));
    }
    Ok(whole(rest, floors))
}
