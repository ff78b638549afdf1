//! Dependences: the points of a nest that touch the same cell.

use crate::error::NestError;
use crate::ir::{AXES, Access, Affine, ArrayId, Direction, Instruction, LoopId, Memory, Nest, Tag, Var};
use crate::print;
use crate::schedule::Instances;
use std::collections::BTreeSet;
use std::ops::RangeInclusive;

/// Two accesses to one array, at least one a write, with their instructions and cells.
pub(super) struct Pair<'a> {
    pub(super) first: usize,
    pub(super) second: usize,
    pub(super) one: &'a Access,
    pub(super) two: &'a Access,
}

/// Returns every ordered pair of accesses to the arrays that `regards` selects.
pub(super) fn pairs<'a>(nest: &'a Nest, regards: impl Fn(ArrayId) -> bool) -> Vec<Pair<'a>> {
    let all: Vec<(usize, &Access, Direction)> = nest
        .instructions
        .iter()
        .enumerate()
        .flat_map(|(number, instruction)| instruction.accesses().map(move |(access, _, side)| (number, access, side)))
        .filter(|(_, access, _)| regards(access.array))
        .collect();
    let mut pairs = Vec::new();
    for (first, one, side) in &all {
        for (second, two, other) in &all {
            if one.array == two.array && (*side == Direction::Store || *other == Direction::Store) {
                pairs.push(Pair { first: *first, second: *second, one, two });
            }
        }
    }
    pairs
}

/// Refuses to run the iterations of a loop side by side if one needs the result of another.
pub(super) fn independent(nest: &Nest, id: LoopId, tag: Tag) -> Result<(), NestError> {
    let is_private = |array: ArrayId| nest.array(array).memory == Memory::Private;
    for array in nest.array_ids().filter(|array| is_private(*array)) {
        private_per_iteration(nest, id, array)?;
    }
    // Each work-group has its own local arrays, so no work-group reads what another writes.
    let is_of_group = |array: ArrayId| matches!(tag, Tag::Group(_)) && nest.array(array).memory == Memory::Local;
    for array in nest.array_ids().filter(|array| is_of_group(*array)) {
        let writes = |instruction: &Instruction| instruction.target.array == array && instruction.within.contains(&id);
        if nest.instructions.iter().any(writes) {
            private_per_iteration(nest, id, array)?;
        }
    }
    let is_shared = |array| matches!(nest.array(array).memory, Memory::Global | Memory::Local);
    for pair in pairs(nest, is_shared).into_iter().filter(|pair| !may_run_together(nest, id, pair, tag)) {
        let meets = match tag {
            Tag::Group(_) => nest.array(pair.one.array).memory == Memory::Global && groups_meet(nest, &pair, tag),
            _ => iterations_meet(nest, &pair, id),
        };
        if meets {
            return Err(refusal(nest, id, &pair, tag));
        }
    }
    Ok(())
}

/// Returns true if the iterations of a loop may update one cell side by side: by atomic updates that
/// commute. Vectors have no such updates. Every work-group would repeat an update that is within no loop
/// of its axis.
fn may_run_together(nest: &Nest, id: LoopId, pair: &Pair, tag: Tag) -> bool {
    let [first, second] = [pair.first, pair.second].map(|number| &nest.instructions[number]);
    let is_within = |own: &Instruction| match tag {
        Tag::Group(_) => nest.hardware_loop(own, tag).is_some(),
        Tag::Vector => false,
        _ => own.within.contains(&id),
    };
    first.commutes(second, pair.one.array) && is_within(first) && is_within(second)
}

fn refusal(nest: &Nest, id: LoopId, pair: &Pair, tag: Tag) -> NestError {
    let [one, two] = [pair.one, pair.two].map(|access| print::access(nest, access));
    let places = [pair.first, pair.second].map(|number| nest.instructions[number].place.map(|place| place.line));
    let at = |line: Option<usize>| line.map(|line| format!(" (line {line})")).unwrap_or_default();
    let name = &nest.loop_at(id).name;
    let unit = if matches!(tag, Tag::Group(_)) { "work-groups" } else { "iterations" };
    NestError::new(format!(
        "different {unit} of `{name}` may touch the same cell of `{}` and one writes: {one}{} and {two}{}",
        nest.array(pair.one.array).name,
        at(places[0]),
        at(places[1]),
    ))
    .remedy("leave the loop sequential, or let every iteration write cells of its own")
}

/// Returns true if two iterations of a loop may touch one cell in the same iteration of the outer
/// loops.
fn iterations_meet(nest: &Nest, pair: &Pair, id: LoopId) -> bool {
    let [first, second] = [pair.first, pair.second].map(|number| &nest.instructions[number]);
    if !first.within.contains(&id) || !second.within.contains(&id) {
        return false;
    }
    let instances = Instances::new(nest);
    let mut system = instances.same_cell((pair.first, pair.one), (pair.second, pair.two));
    for outer in nest.order.iter().take_while(|outer| **outer != id) {
        if first.within.contains(outer) && second.within.contains(outer) {
            system.equal_zero(&Affine::from(*outer) - &Affine::term(instances.second(*outer), 1));
        }
    }
    let later = (&Affine::term(instances.second(id), 1) - &Affine::from(id)).plus(-1);
    system.at_least_zero([later]);
    system.may_have_points()
}

/// Returns true if two work-groups may touch one cell. Instructions outside the loops of an axis
/// run in all work-groups.
fn groups_meet(nest: &Nest, pair: &Pair, tag: Tag) -> bool {
    let [first, second] = [pair.first, pair.second].map(|number| &nest.instructions[number]);
    let instances = Instances::new(nest);
    let mut system = instances.same_cell_in_any_group((pair.first, pair.one), (pair.second, pair.two));
    let own = nest.hardware_index(first, tag, Var::Floor(0));
    let other = instances.renamed(&nest.hardware_index(second, tag, Var::Floor(1)));
    system.at_least_zero([(&other - &own).plus(-1)]);
    system.may_have_points()
}

/// Refuses a temporary that carries a value from one iteration to another or out of the loop.
fn private_per_iteration(nest: &Nest, id: LoopId, array: ArrayId) -> Result<(), NestError> {
    let uses = |instruction: &Instruction| instruction.accesses().any(|(access, ..)| access.array == array);
    let users = || nest.instructions.iter().filter(|instruction| uses(instruction));
    // A value that the loop only reads is the same in each iteration.
    if !users().any(|instruction| instruction.within.contains(&id) && instruction.target.array == array) {
        return Ok(());
    }
    let [name, index] = [&nest.array(array).name, &nest.loop_at(id).name];
    let refuse = |instruction: &Instruction, why: &str| {
        let line = instruction.place.map(|place| format!(" (line {})", place.line)).unwrap_or_default();
        Err(NestError::new(format!("`{name}` {why} loop `{index}`{line}"))
            .remedy("set the temporary within the loop before it is read, and use it only there"))
    };
    if let Some(outside) = users().find(|instruction| !instruction.within.contains(&id)) {
        return refuse(outside, "is also used outside of");
    }
    for (number, reader) in nest.instructions.iter().enumerate() {
        for (access, ..) in reader.value.loads().iter().map(|(access, place)| (*access, *place)) {
            if access.array == array
                && !nest.instructions[..number].iter().any(|writer| covers(nest, writer, reader, access))
            {
                return refuse(reader, "carries a value between iterations of");
            }
        }
    }
    Ok(())
}

/// Returns true if an earlier instruction writes the cell that `reader` reads, in the same
/// iteration of all shared loops.
pub(crate) fn covers(nest: &Nest, writer: &Instruction, reader: &Instruction, read: &Access) -> bool {
    if writer.target.array != read.array {
        return false;
    }
    let extra: BTreeSet<LoopId> = writer.within.difference(&reader.within).copied().collect();
    if extra.is_empty() && writer.target.subscripts == read.subscripts {
        return true;
    }
    let shape = &nest.array(read.array).shape;
    let mut swept = BTreeSet::new();
    let spans = |(subscript, extent): (&Affine, &Affine)| {
        let mut loops = subscript.loops();
        let (Some(id), None) = (loops.next(), loops.next()) else { return false };
        swept.insert(id);
        *subscript == Affine::from(id) && extent.as_constant().is_some_and(|extent| runs_over(nest, id, extent))
    };
    writer.target.subscripts.iter().zip(shape).all(spans) && extra.is_subset(&swept)
}

/// Returns true if a loop runs exactly from 0 to `extent - 1`.
pub(super) fn runs_over(nest: &Nest, id: LoopId, extent: i128) -> bool {
    let own = nest.loop_at(id);
    let all_constant = own.constraints.iter().all(|bound| bound.without(Var::Loop(id)).as_constant().is_some());
    all_constant && nest.constant_extent(id).is_ok_and(|iterations| iterations >= extent)
}

/// Returns the loops that two instructions share when they run: the common outermost loops,
/// hardware loops aside.
pub(super) fn shared_loops(nest: &Nest, first: usize, second: usize) -> Vec<LoopId> {
    let run = |number: usize| {
        let loops = nest.nesting(&nest.instructions[number].within);
        loops.into_iter().filter(|id| !nest.loop_at(*id).tag.is_hardware()).collect::<Vec<_>>()
    };
    let pairs = run(first).into_iter().zip(run(second));
    pairs.take_while(|(one, two)| one == two).map(|(one, _)| one).collect()
}

/// Returns the loops whose iteration stays the same from one instruction to a later one, hardware
/// loops aside.
pub(super) fn shared_through(nest: &Nest, first: usize, last: usize) -> Vec<LoopId> {
    (first + 1..=last).fold(shared_loops(nest, first, first), |shared, number| {
        let next = shared_loops(nest, number - 1, number);
        shared.into_iter().zip(next).take_while(|(one, two)| one == two).map(|(one, _)| one).collect()
    })
}

/// Returns the instructions around `number` that share the loops `prefix` with it in one run of
/// these loops. It runs within them.
pub(super) fn run_within(nest: &Nest, number: usize, prefix: &[LoopId]) -> RangeInclusive<usize> {
    let joins = |later: usize| shared_loops(nest, later - 1, later).starts_with(prefix);
    let first = (1..=number).rev().take_while(|later| joins(*later)).last().map_or(number, |later| later - 1);
    let last = (number + 1..nest.instructions.len()).take_while(|later| joins(*later)).last().unwrap_or(number);
    first..=last
}

/// Refuses instructions with two loops on the same axis of work-items or work-groups.
pub(super) fn hardware_is_unique(nest: &Nest) -> Result<(), NestError> {
    for instruction in &nest.instructions {
        for axis in 0..AXES as u8 {
            for tag in [Tag::Group(axis), Tag::Local(axis)] {
                let mut loops = instruction.within.iter().filter(|id| nest.loop_at(**id).tag == tag);
                if let (Some(one), Some(two)) = (loops.next(), loops.next()) {
                    let [one, two] = [one, two].map(|id| &nest.loop_at(*id).name);
                    return Err(NestError::new(format!("`{one}` and `{two}` would run along the same axis"))
                        .at(instruction.place)
                        .remedy("choose another axis for one of them"));
                }
            }
        }
    }
    Ok(())
}
