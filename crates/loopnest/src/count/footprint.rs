//! Counts the cells of an array that are touched (algorithm 2 of the paper).

use super::floors::Floors;
use super::image::{Cells, cells};
use super::lane::lane;
use super::points::Piece;
use super::runs::all_groups;
use super::union::different;
use crate::error::{NestError, Place};
use crate::ir::{Access, Affine, ArrayId, LoopId, Nest, Var};
use crate::lookups::{self, LookupLoad};
use crate::number::gcd;
use std::collections::BTreeSet;

/// Returns every access to an array, including lookups, with the loops around it and its place.
fn accesses(nest: &Nest, array: ArrayId) -> impl Iterator<Item = (BTreeSet<LoopId>, &Access, Option<Place>)> {
    let stated = nest.instructions.iter().flat_map(|instruction| {
        instruction.accesses().map(|(access, ..)| (instruction.within.clone(), access, instruction.place))
    });
    let looked_up = lookups::loads(nest).into_iter().map(|LookupLoad { lookup, within }| {
        let lookup = nest.lookup(lookup);
        (within, &lookup.access, lookup.place)
    });
    stated.chain(looked_up).filter(move |(_, access, _)| access.array == array)
}

/// An access whose cells depend on the data.
pub(super) struct DataAccess {
    /// Its place, if the nest was read from a text.
    place: Option<Place>,
}

/// Returns an access to the array whose cells depend on the data.
pub(super) fn data_access(nest: &Nest, array: ArrayId) -> Option<DataAccess> {
    let is_scattered = |access: &Access| access.subscripts.iter().any(|sum| sum.lookups().next().is_some());
    let decide =
        |within: &BTreeSet<LoopId>, access| is_scattered(access) || within.iter().any(|id| nest.depends_on_data(*id));
    accesses(nest, array).find(|(within, access, _)| decide(within, access)).map(|(.., place)| DataAccess { place })
}

/// Returns the number of different cells of an array that its accesses touch along `axes`, ignoring
/// the other axes. With `filled`, the gaps between the cells of neighbouring lanes along that axis
/// count as well.
///
/// # Errors
///
/// Fails if the set has a shape that cannot be counted exactly.
pub(super) fn touched(
    nest: &Nest,
    array: ArrayId,
    axes: &[usize],
    filled: Option<usize>,
    floors: &mut Floors,
) -> Result<Vec<Piece>, NestError> {
    let name = &nest.array(array).name;
    if let Some(DataAccess { place }) = data_access(nest, array) {
        return Err(NestError::new(format!("which cells of `{name}` are touched depends on data")).at(place));
    }
    let refuse =
        |error: NestError| NestError::new(format!("the footprint of `{name}` cannot be counted: {}", error.message));
    let (mut seen, mut sets) = (BTreeSet::new(), Vec::<Cells>::new());
    for (within, access, place) in accesses(nest, array) {
        let lane = lane(nest, &within);
        // Without work-groups nothing runs, inside their loops or outside.
        let within = all_groups(nest, &within);
        let mut subscripts: Vec<Affine> = axes.iter().map(|axis| access.subscripts[*axis].clone()).collect();
        if !seen.insert((within.clone(), subscripts.clone())) {
            continue;
        }
        let mut bounds = nest.domain(&within);
        let mut loops: Vec<LoopId> = within.into_iter().collect();
        let mut fresh = LoopId(nest.loops.len());
        if let Some(axis) = filled.and_then(|axis| axes.iter().position(|known| *known == axis)) {
            bounds.extend(fill(&mut subscripts[axis], lane, fresh));
            loops.push(fresh);
            fresh.0 += 1;
        }
        let reached = cells(bounds, &loops, &subscripts, fresh, floors);
        for cells in reached.map_err(|error| refuse(error).at(place))? {
            if !sets.contains(&cells) {
                sets.push(cells);
            }
        }
    }
    different(sets, floors).map_err(refuse)
}

/// Extends each cell to all cells before that of the next lane, by a loop over the gap. If the lanes
/// share the cell, the gap is that between all cells. Returns the bounds of the loop.
fn fill(subscript: &mut Affine, lane: Option<LoopId>, gap: LoopId) -> [Affine; 2] {
    let factor = |id: LoopId| subscript.coefficient(Var::Loop(id)).abs();
    let step = match lane.map_or(0, factor) {
        0 => subscript.loops().fold(0, |common, id| gcd(common, factor(id))),
        step => step,
    };
    *subscript = &*subscript + &Affine::from(gap);
    [Affine::from(gap), (-&Affine::from(gap)).plus(step.max(1) - 1)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::count::compiled::Counts;
    use crate::count::factors::Factors;
    use crate::ir::Var;

    /// Returns the cells of `a`, one by one, with the cells up to the next `step`-th along axis 1.
    fn enumerated(nest: &Nest, n: i64, step: i128) -> BTreeSet<(i128, i128)> {
        let mut cells = BTreeSet::new();
        for (within, access, _) in accesses(nest, ArrayId(0)) {
            for point in 0..40 * 40 {
                let value = |variable: Var| match variable {
                    Var::Loop(LoopId(0)) => point / 40,
                    Var::Loop(_) => point % 40,
                    _ => n.into(),
                };
                let [row, column] = [0, 1].map(|axis| access.subscripts[axis].evaluate(value));
                if nest.domain(&within).iter().all(|bound| bound.evaluate(value) >= 0) {
                    cells.extend((0..step).map(|gap| (row, column + gap)));
                }
            }
        }
        cells
    }

    #[test]
    fn gaps_are_filled_along_an_axis_whatever_the_bounds() {
        let cases = [
            ("0 <= i < n and 0 <= j and i <= 3*j and 2*j <= n + i", "a[i, 2*j] = 1.0", 2),
            ("0 <= i < n and 0 <= j and i <= 2*j and 3*j <= n + i", "a[i, 3*j] = 1.0\na[i, 3*j + 1] = 1.0", 3),
            ("0 <= i < n and 0 <= j < n", "a[2*i, 4*i + 2*j] = 1.0\na[i, 2*i] = 1.0", 2),
        ];
        for (domain, lines, step) in cases {
            let text = format!("sizes n\nassume n > 0\narray a[8*n, 8*n]: f32\n{{[i, j]: {domain}}}\n{lines}");
            let nest = text.parse::<Nest>().unwrap();
            let mut factors = Factors::new(&nest);
            let pieces = touched(&nest, ArrayId(0), &[0, 1], Some(1), &mut factors.floors).unwrap();
            factors.push(pieces);
            let counts = Counts::of_factors(&nest, &factors);
            for n in 1..9 {
                let expected = enumerated(&nest, n, step).len() as i128;
                assert_eq!(counts.evaluate_factors(&[n]).unwrap(), [expected], "{n}\n{text}");
            }
        }
    }
}
