//! Sets the way in which a loop is run.

use super::data::refuse_data;
use super::dependence::{hardware_is_unique, independent, shared_loops};
use crate::error::NestError;
use crate::ir::{AXES, Affine, Instruction, LoopId, Memory, Nest, Tag, Var};
use crate::print;

/// Tags a loop. Refuses if its bounds do not admit the tag, if simultaneous iterations depend on
/// each other, or if an instruction would change its place among the others.
pub(super) fn tag(nest: &mut Nest, index: &str, tag: Tag) -> Result<(), NestError> {
    let id = nest.loop_id(index)?;
    if tag != Tag::Sequential {
        refuse_data(nest, id)?;
    }
    let current = nest.loop_at(id).tag;
    if current.is_hardware() && tag != current {
        return Err(NestError::new(format!("`{index}` is already run by work-groups or work-items"))
            .remedy("leave the other tag out: the nest may rely on it since"));
    }
    is_admitted(nest, id, tag)?;
    let before = neighbours(nest, id);
    nest.loops[id.0].tag = tag;
    if let Some(number) = before.iter().zip(&neighbours(nest, id)).position(|(old, new)| old != new) {
        return Err(reorders(nest, index, number));
    }
    match tag {
        Tag::Group(_) => {
            independent(nest, id, tag)?;
            same_groups(nest, id)?;
        }
        Tag::Local(_) => {
            nest.instructions.iter().try_for_each(|instruction| may_be_repeated(nest, instruction, index, tag))?;
        }
        _ => {}
    }
    hardware_is_unique(nest)
}

/// Refuses a tag that the bounds of the loop do not admit, or whose iterations depend on each
/// other. The dependences of work-groups are checked later, once the loop has its tag.
fn is_admitted(nest: &Nest, id: LoopId, tag: Tag) -> Result<(), NestError> {
    match tag {
        Tag::Sequential => {}
        Tag::Unroll => constant_trips(nest, id)?,
        Tag::Vector => {
            constant_trips(nest, id)?;
            independent(nest, id, tag)?;
        }
        Tag::Parallel => independent(nest, id, tag)?,
        Tag::Group(axis) | Tag::Local(axis) if usize::from(axis) >= AXES => refuse_axis(axis)?,
        Tag::Local(_) => {
            nest.constant_extent(id)?;
            independent(nest, id, tag)?;
        }
        Tag::Group(_) => starts_at_zero(nest, id)?,
    }
    Ok(())
}

/// Refuses an axis that does not exist.
pub(super) fn refuse_axis(axis: u8) -> Result<(), NestError> {
    match usize::from(axis) < AXES {
        true => Ok(()),
        false => Err(NestError::new(format!("there is no axis {axis}")).remedy("axes are 0, 1 and 2")),
    }
}

/// Returns, for each instruction, the loops that it shares with the one before it, except `but`.
fn neighbours(nest: &Nest, but: LoopId) -> Vec<Vec<LoopId>> {
    let shared = |number: usize| shared_loops(nest, number - 1, number).into_iter().filter(|id| *id != but).collect();
    (1..nest.instructions.len()).map(shared).collect()
}

fn reorders(nest: &Nest, index: &str, number: usize) -> NestError {
    NestError::new(format!("with `{index}` so tagged, neighbouring instructions would share other loops than before"))
        .remedy("the loop must be around or inside of all loops that the two instructions share")
        .at(nest.instructions[number + 1].place)
}

/// Refuses a loop without a constant number of iterations.
fn constant_trips(nest: &Nest, id: LoopId) -> Result<(), NestError> {
    let own = nest.loop_at(id);
    let is_constant = |low: &Affine, high: &Affine| (low + high).as_constant().is_some();
    let side = |sign: i128| own.constraints.iter().filter(move |sum| sum.coefficient(Var::Loop(id)) == sign);
    if side(1).any(|low| side(-1).any(|high| is_constant(low, high))) {
        return Ok(());
    }
    Err(NestError::new(format!("the number of iterations of `{}` is not a constant", own.name))
        .remedy(format!("split it first: `split {0} 4 -> {0}_outer, {0}_inner`", own.name))
        .at(own.place))
}

/// Refuses a work-group loop that does not start at 0 or whose end depends on another loop.
fn starts_at_zero(nest: &Nest, id: LoopId) -> Result<(), NestError> {
    let own = nest.loop_at(id);
    let only_sizes = own.constraints.iter().all(|sum| sum.without(Var::Loop(id)).loops().next().is_none());
    let from_zero = own.lower(id).iter().all(|bound| bound.numerator.as_constant() == Some(0));
    if only_sizes && from_zero {
        return Ok(());
    }
    Err(NestError::new(format!(
        "work-groups cannot run `{}`: they count from 0 to an end that is known before the run",
        own.name
    ))
    .remedy("choose an outer loop that starts at 0 and is bounded by sizes")
    .at(own.place))
}

/// Refuses an instruction that changes a cell that it reads, if every work-item along an axis would
/// run it. An atomic update may get a loop of the axis by a later tag, so that its schedule refuses it.
fn may_be_repeated(nest: &Nest, instruction: &Instruction, index: &str, tag: Tag) -> Result<(), NestError> {
    let target = instruction.target.array;
    let is_shared = matches!(nest.array(target).memory, Memory::Global | Memory::Local);
    let reads_target = instruction.value.loads().iter().any(|(access, _)| access.array == target);
    if nest.hardware_loop(instruction, tag).is_some() || !is_shared || !reads_target || instruction.is_atomic {
        return Ok(());
    }
    let line = instruction.place.map(|place| format!(" (line {})", place.line)).unwrap_or_default();
    let text = print::access(nest, &instruction.target);
    Err(NestError::new(format!("every work-item along the axis of `{index}` would change {text} again{line}"))
        .remedy("let the instruction be within a loop of that axis"))
}

/// Refuses a number of work-groups that differs from that of another loop along the axis.
fn same_groups(nest: &Nest, id: LoopId) -> Result<(), NestError> {
    let bounds = |other: LoopId| {
        let mut bounds = nest.loop_at(other).upper(other);
        bounds.sort_by(|one, two| (&one.numerator, one.divisor).cmp(&(&two.numerator, two.divisor)));
        bounds
    };
    match nest.tagged(nest.loop_at(id).tag).find(|other| bounds(*other) != bounds(id)) {
        None => Ok(()),
        Some(other) => {
            let [one, two] = [id, other].map(|id| &nest.loop_at(id).name);
            Err(NestError::new(format!("`{one}` and `{two}` would run on different numbers of work-groups"))
                .remedy("loops on one axis of work-groups have the same bounds"))
        }
    }
}
