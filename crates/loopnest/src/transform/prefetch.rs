//! What loads touch, copied into local memory first.

use super::data::refuse_data_accesses;
use super::dependence::shared_loops;
use super::fresh;
use crate::error::NestError;
use crate::ir::{Access, Affine, Array, ArrayId, Expr, Instruction, Layout, Loop, LoopId, Memory, Nest, Tag, Var};
use crate::polyhedra::{System, shadow};
use std::collections::{BTreeMap, BTreeSet};

/// The cells of one array that some loads touch while loops are swept.
struct Footprint {
    array: ArrayId,
    /// Instructions with such loads.
    readers: Vec<usize>,
    /// The first cell of the tile, by axis: a sum without swept loops.
    first: Vec<Affine>,
    /// Cells of the tile along each axis.
    extents: Vec<i128>,
    /// The axes along which swept loops move, be it by no more than one cell.
    moving: Vec<usize>,
}

impl Footprint {
    /// The axes that `count` loops fill: those with more than one cell, or all along which swept loops move, so that the same loops fill the
    /// tile whatever its size.
    fn axes(&self, count: usize) -> Result<Vec<usize>, NestError> {
        let long: Vec<usize> = (0..self.extents.len()).filter(|axis| self.extents[*axis] > 1).collect();
        if long.len() == count {
            return Ok(long);
        }
        if self.moving.len() == count {
            return Ok(self.moving.clone());
        }
        let extents = self.extents.iter().map(ToString::to_string).collect::<Vec<_>>().join(" x ");
        let error = NestError::new(format!("the tile has {extents} cells, so it is filled by {} loops", long.len()));
        Err(error.remedy("name one loop for each axis with more than one cell"))
    }
}

pub(super) fn prefetch(
    nest: &mut Nest,
    array: &str,
    sweep: &[String],
    tile: &str,
    indices: &[String],
) -> Result<(), NestError> {
    let id = nest.array_id(array)?;
    let sweep = sweep.iter().map(|name| nest.loop_id(name)).collect::<Result<BTreeSet<_>, _>>()?;
    if nest.array(id).memory != Memory::Global {
        return Err(NestError::new(format!("`{array}` does not live in global memory")));
    }
    if nest.uses(id).0 {
        let writes = |instruction: &&Instruction| instruction.target.array == id;
        let place = nest.instructions.iter().find(writes).and_then(|writer| writer.place);
        return Err(NestError::new(format!("`{array}` is written, so a copy of it could be out of date")).at(place));
    }
    refuse_data_accesses(nest, id)?;
    let footprint = footprint(nest, id, &sweep)?;
    let axes = footprint.axes(indices.len())?;
    for name in indices.iter().chain([&tile.to_string()]) {
        fresh(nest, name)?;
    }
    let loops: Vec<LoopId> = (0..axes.len()).map(|at| LoopId(nest.loops.len() + at)).collect();
    let bounds = bounds(nest, &footprint, &sweep, &axes, &loops);
    let within = outer_loops(nest, &footprint, &bounds)?;
    let position = position(nest, &footprint, &within)?;

    for (id, name) in loops.iter().zip(indices) {
        let innermost = |sum: &&Affine| loops.iter().rev().find(|other| sum.uses(**other)) == Some(id);
        let constraints = bounds.iter().filter(innermost).cloned().collect();
        nest.loops.push(Loop { name: name.clone(), constraints, tag: Tag::Sequential, place: None });
        nest.order.push(*id);
    }
    let copy = add_tile(nest, &footprint, tile, &axes);
    redirect(nest, &footprint, &sweep, copy, &axes);
    insert_copy(nest, &footprint, copy, &axes, &loops, within, position);
    Ok(())
}

/// The constant range of a swept loop.
fn constant_range(nest: &Nest, id: LoopId) -> Result<(i128, i128), NestError> {
    let own = nest.loop_at(id);
    let constant = |bound: &crate::ir::Bound| bound.numerator.as_constant().map(|number| (number, bound.divisor));
    let lower = own.lower(id).iter().filter_map(constant).map(|(number, by)| -(-number).div_euclid(by)).max();
    let upper = own.upper(id).iter().filter_map(constant).map(|(number, by)| number.div_euclid(by)).min();
    match (lower, upper) {
        (Some(lower), Some(upper)) if lower <= upper => Ok((lower, upper)),
        _ => Err(NestError::new(format!("loop `{}` does not run between constants", own.name))
            .remedy(format!(
                "split it first and sweep the inner loop: `split {0} 16 -> {0}_outer, {0}_inner`",
                own.name
            ))
            .at(own.place)),
    }
}

fn is_swept(access: &Access, sweep: &BTreeSet<LoopId>) -> bool {
    access.subscripts.iter().flat_map(Affine::loops).any(|id| sweep.contains(&id))
}

fn footprint(nest: &Nest, array: ArrayId, sweep: &BTreeSet<LoopId>) -> Result<Footprint, NestError> {
    let axes = nest.array(array).shape.len();
    let mut readers = Vec::new();
    let mut bases: Vec<Option<Affine>> = vec![None; axes];
    let mut ranges = vec![(i128::MAX, i128::MIN); axes];
    let mut moving = BTreeSet::new();
    for (number, instruction) in nest.instructions.iter().enumerate() {
        for (access, place) in instruction.value.loads() {
            if access.array != array || !is_swept(access, sweep) {
                continue;
            }
            readers.push(number);
            for (axis, subscript) in access.subscripts.iter().enumerate() {
                let (base, low, high) = swept_range(nest, subscript, sweep)?;
                if *bases[axis].get_or_insert_with(|| base.clone()) != base {
                    return Err(apart(nest, access, axis).at(place));
                }
                ranges[axis] = (ranges[axis].0.min(low), ranges[axis].1.max(high));
                if subscript.loops().any(|id| sweep.contains(&id)) {
                    moving.insert(axis);
                }
            }
        }
    }
    readers.dedup();
    if readers.is_empty() {
        let name = &nest.array(array).name;
        return Err(NestError::new(format!("no load of `{name}` has a swept loop in its subscripts")));
    }
    let first = bases.into_iter().zip(&ranges).map(|(base, range)| base.unwrap_or_default().plus(range.0)).collect();
    let extents = ranges.iter().map(|(low, high)| high - low + 1).collect();
    Ok(Footprint { array, readers, first, extents, moving: moving.into_iter().collect() })
}

fn apart(nest: &Nest, access: &Access, axis: usize) -> NestError {
    NestError::new(format!(
        "{} moves along axis {axis} unlike the other loads, so no tile of constant size holds both",
        nest.show_access(access)
    ))
    .remedy("sweep only loops on which all these loads depend alike")
}

/// What does not depend on swept loops, and the range of what does.
fn swept_range(nest: &Nest, subscript: &Affine, sweep: &BTreeSet<LoopId>) -> Result<(Affine, i128, i128), NestError> {
    let mut base = Affine::default();
    let (mut low, mut high) = (subscript.offset(), subscript.offset());
    for (variable, coefficient) in subscript.terms() {
        match variable {
            Var::Loop(id) if sweep.contains(&id) => {
                let (first, last) = constant_range(nest, id)?;
                low += (coefficient * first).min(coefficient * last);
                high += (coefficient * first).max(coefficient * last);
            }
            _ => base.add_term(variable, coefficient),
        }
    }
    Ok((base, low, high))
}

/// The bounds of the loops that fill the tile: those of the cells that some load touches, as far as the loads agree,
/// and those of the array where others would leave it.
fn bounds(
    nest: &Nest,
    footprint: &Footprint,
    sweep: &BTreeSet<LoopId>,
    axes: &[usize],
    loops: &[LoopId],
) -> Vec<Affine> {
    let mut agreed: Option<BTreeMap<Affine, i128>> = None;
    for number in &footprint.readers {
        let reader = &nest.instructions[*number];
        for (access, _) in reader.value.loads() {
            if access.array == footprint.array && is_swept(access, sweep) {
                let touched = touched(nest, footprint, reader, access, sweep, axes, loops);
                agreed = Some(match agreed {
                    None => touched,
                    // A bound holds for all loads when each has it, the loosest one counting.
                    Some(agreed) => agreed
                        .into_iter()
                        .filter_map(|(direction, offset)| {
                            let other = *touched.get(&direction)?;
                            Some((direction, offset.max(other)))
                        })
                        .collect(),
                });
            }
        }
    }
    let mut bounds: BTreeMap<Affine, i128> = agreed.unwrap_or_default();
    for (axis, id) in axes.iter().zip(loops) {
        bounds.insert(Affine::from(*id), 0);
        bounds.insert(-&Affine::from(*id), footprint.extents[*axis] - 1);
    }
    let mut bounds: Vec<Affine> = bounds.into_iter().map(|(direction, offset)| direction.plus(offset)).collect();
    for (axis, id) in axes.iter().zip(loops) {
        let cell = &footprint.first[*axis] + &Affine::from(*id);
        let last = (&nest.array(footprint.array).shape[*axis] - &cell).plus(-1);
        for inside in [cell, last] {
            if may_fail(nest, footprint, &bounds, &inside) {
                bounds.push(inside);
            }
        }
    }
    bounds
}

/// What a load's domain says of the loops that fill the tile, by direction.
fn touched(
    nest: &Nest,
    footprint: &Footprint,
    reader: &Instruction,
    access: &Access,
    sweep: &BTreeSet<LoopId>,
    axes: &[usize],
    loops: &[LoopId],
) -> BTreeMap<Affine, i128> {
    let mut bounds = nest.domain(&reader.within);
    for (axis, id) in axes.iter().zip(loops) {
        let difference = &(&access.subscripts[*axis] - &footprint.first[*axis]) - &Affine::from(*id);
        bounds.extend([difference.clone(), -&difference]);
    }
    let swept: Vec<Var> = sweep.iter().map(|id| Var::Loop(*id)).collect();
    let shadow = shadow(bounds, &swept).unwrap_or_default();
    let of_tile = shadow.into_iter().filter(|sum| loops.iter().any(|id| sum.uses(*id)));
    of_tile.map(|sum| (sum.plus(-sum.offset()), sum.offset())).collect()
}

/// Whether a sum may be negative where the readers run and the bounds hold.
fn may_fail(nest: &Nest, footprint: &Footprint, bounds: &[Affine], sum: &Affine) -> bool {
    let used: BTreeSet<LoopId> = bounds.iter().chain([sum]).flat_map(Affine::loops).collect();
    let outer = used.into_iter().filter(|id| id.0 < nest.loops.len());
    let reader = &nest.instructions[footprint.readers[0]].within;
    let known: BTreeSet<LoopId> = nest.closed(outer).intersection(reader).copied().collect();
    let mut system = System::default();
    system.at_least_zero(nest.assumptions.at_least_zero.iter().cloned());
    system.at_least_zero(nest.domain(&known));
    system.at_least_zero(bounds.iter().cloned());
    system.at_least_zero([(-sum).plus(-1)]);
    system.may_have_points()
}

/// The loops around the copy: those on which the tile depends, and those of the work-groups of its readers.
fn outer_loops(nest: &Nest, footprint: &Footprint, bounds: &[Affine]) -> Result<BTreeSet<LoopId>, NestError> {
    let used = footprint.first.iter().chain(bounds).flat_map(Affine::loops).filter(|id| id.0 < nest.loops.len());
    let readers = footprint.readers.iter().flat_map(|number| &nest.instructions[*number].within);
    let groups = readers.copied().filter(|id| matches!(nest.loop_at(*id).tag, Tag::Group(_)));
    let within = nest.closed(used.chain(groups));
    let per_lane = |id: &&LoopId| matches!(nest.loop_at(**id).tag, Tag::Local(_) | Tag::Vector | Tag::Parallel);
    match within.iter().find(per_lane) {
        Some(lane) => {
            let name = &nest.loop_at(*lane).name;
            Err(NestError::new(format!("the tile would depend on `{name}`, which runs side by side"))
                .remedy(format!("sweep `{name}` as well")))
        }
        None => Ok(within),
    }
}

/// Where the copy is inserted: before its readers, inside of the loops on which it depends.
fn position(nest: &Nest, footprint: &Footprint, within: &BTreeSet<LoopId>) -> Result<usize, NestError> {
    let is_sequential = |id: &LoopId| !nest.loop_at(*id).tag.is_hardware();
    let prefix: Vec<LoopId> = nest.nesting(within).into_iter().filter(is_sequential).collect();
    let refuse = |number: usize| {
        let names: Vec<&str> = prefix.iter().map(|id| nest.loop_at(*id).name.as_str()).collect();
        NestError::new(format!(
            "the tile is filled in each iteration of {}, which is not around all its uses",
            names.join(", ")
        ))
        .remedy("make those loops the outer ones with `order`, or sweep the loops outside of them as well")
        .at(nest.instructions[number].place)
    };
    let (mut first, last) = (footprint.readers[0], footprint.readers[footprint.readers.len() - 1]);
    for number in &footprint.readers {
        if !shared_loops(nest, *number, *number).starts_with(&prefix) {
            return Err(refuse(*number));
        }
    }
    if let Some(number) =
        (first + 1..=last).find(|number| !shared_loops(nest, number - 1, *number).starts_with(&prefix))
    {
        return Err(refuse(number));
    }
    while first > 0 && shared_loops(nest, first - 1, first).len() > prefix.len() {
        first -= 1;
    }
    Ok(first)
}

fn add_tile(nest: &mut Nest, footprint: &Footprint, name: &str, axes: &[usize]) -> ArrayId {
    let source = nest.array(footprint.array);
    let shape: Vec<Affine> = axes.iter().map(|axis| Affine::constant(footprint.extents[*axis])).collect();
    let tile = Array {
        name: name.to_string(),
        element: source.element,
        memory: Memory::Local,
        layout: Layout::row_major(shape.len()),
        shape,
        place: source.place,
    };
    nest.arrays.push(tile);
    ArrayId(nest.arrays.len() - 1)
}

/// Lets the loads read the tile.
fn redirect(nest: &mut Nest, footprint: &Footprint, sweep: &BTreeSet<LoopId>, tile: ArrayId, axes: &[usize]) {
    for number in &footprint.readers {
        let value = std::mem::replace(&mut nest.instructions[*number].value, Expr::Number(0.0));
        nest.instructions[*number].value = value.map(&mut |part| match part {
            Expr::Load(access, place) if access.array == footprint.array && is_swept(&access, sweep) => {
                let within = |axis: &usize| &access.subscripts[*axis] - &footprint.first[*axis];
                Expr::Load(Access { array: tile, subscripts: axes.iter().map(within).collect() }, place)
            }
            other => other,
        });
    }
}

fn insert_copy(
    nest: &mut Nest,
    footprint: &Footprint,
    tile: ArrayId,
    axes: &[usize],
    loops: &[LoopId],
    mut within: BTreeSet<LoopId>,
    position: usize,
) {
    let mut source = footprint.first.clone();
    for (axis, id) in axes.iter().zip(loops) {
        source[*axis] = &source[*axis] + &Affine::from(*id);
    }
    within.extend(loops);
    let place = nest.instructions[footprint.readers[0]].place;
    let target = Access { array: tile, subscripts: loops.iter().map(|id| Affine::from(*id)).collect() };
    let value = Expr::Load(Access { array: footprint.array, subscripts: source }, place);
    nest.instructions.insert(position, Instruction { target, value, within, place });
}
