//! Functions that run all work-groups and work-items: C.
//!
//! The loops over work-groups enclose everything. Between two barriers, no work-item touches a cell
//! that another one writes, so work-items may run in any order. The loops over work-items are
//! therefore split at barriers. Those along axis 0 stand innermost, inside sequential loops, so
//! that a compiler can turn them into vectors. A temporary that must outlive a run of other
//! work-items has a copy for each work-item.

use super::blocks;
use super::full::versions;
use super::items::{KEEP_FOR_VECTORS, assignments, open_loop, same_loops};
use super::names::{Copies, Names};
use super::writer::Writer;
use crate::error::NestError;
use crate::ir::{AXES, Affine, ArrayId, Bound, Loop, LoopId, Memory, Nest, Tag, Var};
use crate::schedule::{Region, Schedule, Step, phases, runs, use_array};
use std::collections::BTreeSet;

/// Maximum number of pieces of a row that are written one by one.
const MOST_PIECES: i128 = 4;

/// Writes the body.
pub(super) fn write(names: &Names, schedule: &Schedule, writer: &mut Writer) -> Result<(), NestError> {
    let kept = Names { temporaries: temporaries(names, schedule), ..names.clone() };
    let groups: Vec<usize> =
        (0..AXES).rev().filter(|axis| group_loops(names.known.nest, *axis).next().is_some()).collect();
    if !groups.is_empty() {
        writer.line(&format!("#pragma omp parallel for collapse({})", groups.len()));
    }
    groups.iter().for_each(|axis| writer.open(&group_head(&kept, *axis)));
    let outside = |id: &ArrayId| kept.temporaries[id.0] != Copies::Row;
    for id in kept.known.nest.arrays_in(Memory::Local).chain(kept.known.nest.arrays_in(Memory::Private)).filter(outside)
    {
        writer.line(&kept.declaration(id)?);
    }
    together(&kept, &schedule.steps, writer)?;
    writer.close_all(groups.len());
    Ok(())
}

fn group_loops(nest: &Nest, axis: usize) -> impl Iterator<Item = LoopId> {
    nest.tagged(Tag::Group(axis as u8))
}

/// Writes the loop over the work-groups along an axis. It has as many iterations as the longest
/// loop with that tag.
fn group_head(names: &Names, axis: usize) -> String {
    let closed = |bound: &Bound| names.known.nest.loops_of(&bound.numerator).next().is_none();
    let last = |id: LoopId| {
        let upper: Vec<Bound> = names.known.nest.loop_at(id).upper(id).into_iter().filter(closed).collect();
        names.least(&upper)
    };
    let longest =
        group_loops(names.known.nest, axis).map(last).reduce(|one, other| format!("nest_max({one}, {other})"));
    let last = longest.unwrap_or_default();
    format!("for (int gid{axis} = 0; gid{axis} <= {last}; gid{axis}++)")
}

/// Returns, by array, the number of copies of a temporary.
fn temporaries(names: &Names, schedule: &Schedule) -> Vec<Copies> {
    let regions = schedule.regions();
    let kept = |id: ArrayId| {
        if names.known.nest.array(id).memory != Memory::Private {
            return Copies::One;
        }
        let users: Vec<&Region> =
            regions.iter().filter(|region| use_array(names.known.nest, &region.instructions, id)).collect();
        match users[..] {
            [region] if region.around.is_empty() => Copies::Row,
            _ => Copies::Group,
        }
    };
    names.known.nest.array_ids().map(kept).collect()
}

/// Writes steps that contain barriers.
fn together(names: &Names, steps: &[Step], writer: &mut Writer) -> Result<(), NestError> {
    for phase in phases(steps) {
        match &phase[0] {
            Step::Barrier => {}
            Step::Loop(id, body) if phase[0].has_barrier() => {
                let opened = open_loop(names, *id, writer)?;
                together(&names.inside(*id), body, writer)?;
                writer.close_all(opened);
            }
            _ => versions(names, phase, writer, |names, writer| region(names, phase, writer))?,
        }
    }
    Ok(())
}

/// Writes steps without a barrier, for every work-item.
fn region(names: &Names, steps: &[Step], writer: &mut Writer) -> Result<(), NestError> {
    if let Some(block) = names.known.block(steps) {
        return blocks::write(names, block, steps, writer);
    }
    let rows: Vec<usize> = (1..AXES).rev().filter(|axis| names.known.local[*axis] > 1).collect();
    for axis in &rows {
        writer.open(&format!("for (int lid{axis} = 0; lid{axis} < {}; lid{axis}++)", names.known.local[*axis]));
    }
    let instructions = runs(steps);
    let used = |id: &ArrayId| names.temporaries[id.0] == Copies::Row && use_array(names.known.nest, &instructions, *id);
    for id in names.known.nest.arrays_in(Memory::Private).filter(used) {
        writer.line(&names.declaration(id)?);
    }
    row(names, steps, false, writer)?;
    writer.close_all(rows.len());
    Ok(())
}

/// Writes steps for the work-items of a row. With `one`, `lid0` is given.
fn row(names: &Names, steps: &[Step], one: bool, writer: &mut Writer) -> Result<(), NestError> {
    for run in steps.chunk_by(|one, two| same_loops(names.known.nest, one, two)) {
        match &run[0] {
            Step::Barrier => {}
            Step::Loop(id, body) => {
                if let Some(count) = pieces(names, *id, body) {
                    let index = names.index(*id);
                    for place in 0..count {
                        writer.open(&format!("for (int {index} = {place}; {index} <= {place}; {index}++)"));
                        let piece = names.inside(*id).at(*id, place);
                        versions(&piece, body, writer, |names, writer| row(names, body, one, writer))?;
                        writer.close();
                    }
                    continue;
                }
                let opens = !one && names.known.local[0] > 1 && depends_on_lane(names.known.nest, *id);
                if opens {
                    writer.open(&format!("for (int lid0 = 0; lid0 < {}; lid0++)", names.known.local[0]));
                }
                let opened = open_loop(names, *id, writer)?;
                let one = one || opens;
                versions(&names.inside(*id), body, writer, |names, writer| row(names, body, one, writer))?;
                writer.close_all(opened + usize::from(opens));
            }
            Step::Run(first) => {
                let within = &names.known.nest.instructions[*first].within;
                let alone = one || names.known.local[0] == 1;
                let opened = if alone {
                    open_guard(names, &names.known.conditions(within), writer)
                } else {
                    open_lanes(names, within, writer)
                };
                assignments(names, run).iter().for_each(|line| writer.line(line));
                writer.close_all(opened);
            }
        }
    }
    Ok(())
}

/// Returns the number of iterations of a short loop over the pieces of a row or column whose last
/// piece may be cut off. The pieces are written one by one, so that each has constant bounds. One
/// loop for all of them would not.
fn pieces(names: &Names, id: LoopId, body: &[Step]) -> Option<i128> {
    let own = names.known.nest.loop_at(id);
    let is_constant = |sum: &Affine| sum.terms().all(|(variable, _)| variable == Var::Loop(id));
    let count = names.known.nest.constant_extent(id).ok()?;
    let cuts = |number: &usize| {
        names
            .known
            .conditions(&names.known.nest.instructions[*number].within)
            .iter()
            .any(|condition| condition.uses(id))
    };
    let is_short = own.tag == Tag::Sequential && (2..=MOST_PIECES).contains(&count);
    (is_short && names.known.loop_bounds(id).iter().all(is_constant) && runs(body).iter().any(cuts)).then_some(count)
}

/// Writes the test of the conditions. Returns the number of blocks that it opens.
fn open_guard(names: &Names, conditions: &[Affine], writer: &mut Writer) -> usize {
    let test = names.test(conditions);
    test.iter().for_each(|test| writer.open(test));
    test.iter().count()
}

/// Writes the condition of the row and the loop over its work-items. Returns the number of blocks
/// that they open. Conditions on `lid0` become bounds of the loop, so that no condition is left
/// inside.
fn open_lanes(names: &Names, within: &BTreeSet<LoopId>, writer: &mut Writer) -> usize {
    let lane = within.iter().copied().find(|id| names.known.nest.loop_at(*id).tag == Tag::Local(0));
    let on_lane = |sum: &Affine| lane.is_some_and(|lane| sum.uses(lane));
    let (bounds, conditions): (Vec<Affine>, Vec<Affine>) =
        names.known.conditions(within).into_iter().partition(on_lane);
    let opened = open_guard(names, &conditions, writer);
    let (mut lower, mut upper) = (vec![number(0)], vec![number(names.known.local[0] - 1)]);
    if let Some(lane) = lane {
        let tightened = Loop { constraints: bounds, ..names.known.nest.loop_at(lane).clone() };
        lower.extend(tightened.lower(lane));
        upper.extend(tightened.upper(lane));
    }
    writer.line(KEEP_FOR_VECTORS);
    writer.open(&names.head("lid0", &lower, &upper));
    opened + 1
}

fn number(value: i128) -> Bound {
    Bound { numerator: Affine::constant(value), divisor: 1 }
}

/// Returns true if the bounds of a loop differ between the work-items of a row.
fn depends_on_lane(nest: &Nest, id: LoopId) -> bool {
    let is_lane = |used: LoopId| nest.loop_at(used).tag == Tag::Local(0);
    nest.loop_at(id).constraints.iter().any(|sum| nest.loops_of(sum).any(is_lane))
}
