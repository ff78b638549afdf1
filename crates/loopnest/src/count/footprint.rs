//! How many cells of an array are touched: algorithm 2 of the paper.

use super::floors::Floors;
use super::image::{Cells, cells};
use super::points::{Piece, count_points, whole};
use super::polynomial::Polynomial;
use crate::error::NestError;
use crate::ir::{Access, Affine, ArrayId, Direction, Instruction, LoopId, Nest, Var};
use crate::polyhedra::lcm;

/// More parts of a set than this, by remainders, would take too long to count.
const MOST_PARTS: i128 = 64;

/// Bounds of the coordinates of cells.
type Set = Vec<Affine>;

/// More different sets than this would need too many intersections.
const MOST_SETS: usize = 7;

/// Every access to an array with its instruction.
pub(super) fn accesses(nest: &Nest, array: ArrayId) -> impl Iterator<Item = (&Instruction, &Access, Direction)> {
    let all = nest.instructions.iter();
    let all =
        all.flat_map(|instruction| instruction.accesses().map(move |(access, _, side)| (instruction, access, side)));
    all.filter(move |(_, access, _)| access.array == array)
}

/// The number of different cells of an array that its accesses touch along `axes`, the other axes left out. With
/// `filled` the gaps along that axis, which a stride leaves, count as well.
///
/// # Errors
///
/// Where the set has a shape that cannot be counted exactly.
pub(super) fn touched(
    nest: &Nest,
    array: ArrayId,
    axes: &[usize],
    filled: Option<usize>,
    floors: &mut Floors,
) -> Result<Vec<Piece>, NestError> {
    if let Some(lookup) = nest.lookups.iter().find(|lookup| lookup.access.array == array) {
        let (name, value) = (&nest.array(array).name, &lookup.name);
        let error = NestError::new(format!("`{value}` is looked up in `{name}`, which is not counted"));
        return Err(error.at(lookup.place));
    }
    let first = LoopId(nest.loops.len());
    let mut sets: Vec<Cells> = Vec::new();
    for (instruction, access, _) in accesses(nest, array) {
        let scattered = access.subscripts.iter().any(|sum| sum.lookups().next().is_some());
        if scattered || instruction.within.iter().any(|id| nest.depends_on_data(*id)) {
            let name = &nest.array(array).name;
            let error = NestError::new(format!("which cells of `{name}` are touched depends on data"));
            return Err(error.at(instruction.place));
        }
        let subscripts: Vec<Affine> = axes.iter().map(|axis| access.subscripts[*axis].clone()).collect();
        let loops: Vec<LoopId> = instruction.within.iter().copied().collect();
        let reached = cells(nest.domain(&instruction.within), &loops, &subscripts, first, floors);
        let reached = reached.map_err(|error| {
            let name = &nest.array(array).name;
            NestError::new(format!("the footprint of `{name}` cannot be counted: {}", error.message))
                .at(instruction.place)
        })?;
        sets.extend(reached);
    }
    let place = filled.and_then(|axis| axes.iter().position(|known| *known == axis));
    let refuse = |error: NestError| {
        let name = &nest.array(array).name;
        NestError::new(format!("the footprint of `{name}` cannot be counted: {}", error.message))
    };
    let coordinates: Vec<LoopId> = (0..axes.len()).map(|axis| LoopId(first.0 + axis)).collect();
    if let Some(place) = place {
        sets.iter_mut().try_for_each(|cells| fill(cells, place, coordinates[place])).map_err(refuse)?;
    }
    different(sets, &coordinates, floors).map_err(refuse)
}

/// The number of different cells in sets that may have cells in common.
///
/// # Errors
///
/// Where the sets have shapes that cannot be counted exactly.
pub(super) fn different(
    sets: Vec<Cells>,
    coordinates: &[LoopId],
    floors: &mut Floors,
) -> Result<Vec<Piece>, NestError> {
    let sets = on_one_lattice(sets, coordinates, floors)?;
    count_union(sets, coordinates, floors)
}

/// Lets each cell along an axis stand for all up to the next one.
fn fill(cells: &mut Cells, axis: usize, coordinate: LoopId) -> Result<(), NestError> {
    let step = std::mem::replace(&mut cells.steps[axis], 1).max(1);
    cells.residues[axis] = 0;
    for bound in &mut cells.bounds {
        let rest = bound.without(Var::Loop(coordinate)).scaled(step);
        match bound.coefficient(Var::Loop(coordinate)) {
            0 => {}
            1 => *bound = &rest + &Affine::from(coordinate),
            -1 => *bound = (&rest - &Affine::from(coordinate)).plus(step - 1),
            _ => return Err(NestError::new("the bounds of a strided range have coefficients other than 1")),
        }
    }
    Ok(())
}

/// Groups sets by what their cells leave when divided by steps that all have; sets of different groups have no cell in
/// common.
fn on_one_lattice(sets: Vec<Cells>, coordinates: &[LoopId], floors: &mut Floors) -> Result<Vec<Vec<Set>>, NestError> {
    let common = |axis: usize| {
        let steps = sets.iter().map(|cells| cells.steps[axis]).filter(|step| *step > 0);
        steps.fold(1, lcm)
    };
    let steps: Vec<i128> = (0..coordinates.len()).map(common).collect();
    let mut groups: Vec<(Vec<i128>, Vec<Set>)> = Vec::new();
    for cells in sets {
        for cells in refined(cells, &steps, coordinates)? {
            let Some(bounds) = whole(cells.bounds, floors) else { continue };
            match groups.iter_mut().find(|(residues, _)| *residues == cells.residues) {
                Some((_, sets)) if sets.contains(&bounds) => {}
                Some((_, sets)) => sets.push(bounds),
                None => groups.push((cells.residues, vec![bounds])),
            }
        }
    }
    Ok(groups.into_iter().map(|(_, sets)| sets).collect())
}

/// The same cells in sets of wider steps, one for each remainder.
fn refined(cells: Cells, steps: &[i128], coordinates: &[LoopId]) -> Result<Vec<Cells>, NestError> {
    let mut refined = vec![cells];
    for (axis, (step, coordinate)) in steps.iter().zip(coordinates).enumerate() {
        let own = refined.first().map_or(1, |cells| cells.steps[axis]);
        if own == 0 {
            refined.iter_mut().try_for_each(|cells| pin(cells, axis, *step, *coordinate))?;
            continue;
        }
        let parts = step / own;
        if parts * refined.len() as i128 > MOST_PARTS {
            return Err(NestError::new("ranges of too different strides overlap"));
        }
        let part = |cells: &Cells, remainder: i128| {
            let wider = Affine::term(Var::Loop(*coordinate), parts).plus(remainder);
            let mut part = cells.clone();
            part.bounds.iter_mut().for_each(|bound| *bound = bound.substitute(Var::Loop(*coordinate), &wider));
            part.residues[axis] += own * remainder;
            part.steps[axis] = *step;
            part
        };
        let part = &part;
        refined = refined.iter().flat_map(|cells| (0..parts).map(move |remainder| part(cells, remainder))).collect();
    }
    Ok(refined)
}

/// Puts the only place of cells along an axis onto a lattice.
fn pin(cells: &mut Cells, axis: usize, step: i128, coordinate: LoopId) -> Result<(), NestError> {
    cells.steps[axis] = step;
    if step == 1 {
        return Ok(());
    }
    let own = |bound: &&Affine| bound.coefficient(Var::Loop(coordinate)) == 1;
    let only = cells.bounds.iter().find(own).and_then(|bound| bound.without(Var::Loop(coordinate)).as_constant());
    let place = -only.ok_or_else(|| NestError::new("whether a strided range meets a place depends on the sizes"))?;
    let fixed = Affine::from(coordinate).plus(-place.div_euclid(step));
    cells.bounds.retain(|bound| !bound.uses(coordinate));
    cells.bounds.extend([-&fixed, fixed]);
    cells.residues[axis] = place.rem_euclid(step);
    Ok(())
}

/// Points in the union of the sets of each group, groups having no point in common.
fn count_union(groups: Vec<Vec<Set>>, coordinates: &[LoopId], floors: &mut Floors) -> Result<Vec<Piece>, NestError> {
    let mut pieces = Vec::new();
    for mut sets in groups {
        join_neighbours(&mut sets, floors);
        if sets.len() > MOST_SETS {
            return Err(NestError::new(format!("it is a union of {} sets of different shapes", sets.len())));
        }
        // Inclusion and exclusion over the subsets of the sets.
        for subset in 1_u32..1 << sets.len() {
            let chosen = (0..sets.len()).filter(|at| subset & (1 << at) != 0);
            let bounds: Vec<Affine> = chosen.flat_map(|at| sets[at].iter().cloned()).collect();
            let sign = if subset.count_ones() % 2 == 1 { 1 } else { -1 };
            for piece in count_points(&bounds, coordinates, floors)? {
                pieces.push(Piece { count: piece.count.times(&Polynomial::constant(sign)), ..piece });
            }
        }
    }
    Ok(pieces)
}

/// Joins sets that differ by a shift along one axis and leave no gap.
fn join_neighbours(sets: &mut Vec<Set>, floors: &Floors) {
    let mut at = 0;
    while at < sets.len() {
        let joined = (0..sets.len()).filter(|other| *other != at).find_map(|other| {
            let union = united(&sets[at], &sets[other], floors)?;
            Some((other, union))
        });
        match joined {
            Some((other, union)) => {
                sets[at] = union;
                sets.remove(other);
                at = 0;
            }
            None => at += 1,
        }
    }
}

/// The union of two sets where it is between such bounds again: `one` reaches less far, or as far, at both ends.
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
