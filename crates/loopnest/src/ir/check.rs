//! Checks that a nest is sound, whether it was parsed or built.

use super::{Access, Affine, Array, Direction, Expr, Instruction, Lookup, LookupId, LoopId, Memory, Nest, Type};
use crate::error::NestError;
use std::collections::BTreeSet;

/// Checks names, bounds, subscripts and the use of arrays.
pub(crate) fn check(nest: &Nest) -> Result<(), NestError> {
    names(nest)?;
    nest.arrays.iter().try_for_each(array_is_sound)?;
    nest.lookups.iter().try_for_each(|lookup| lookup_is_sound(nest, lookup).map_err(|error| error.at(lookup.place)))?;
    for (id, average) in &nest.statistics {
        statistic_is_sound(nest, *id, average).map_err(|error| error.at(nest.loop_at(*id).place))?;
    }
    let mut outer = BTreeSet::new();
    for id in &nest.order {
        outer.insert(*id);
        bounds(nest, *id, &outer)?;
    }
    nest.instructions.iter().try_for_each(|instruction| instruction_is_sound(nest, instruction))
}

fn array_is_sound(array: &Array) -> Result<(), NestError> {
    let error = |text: &str| Err(NestError::new(format!("`{}` {text}", array.name)).at(array.place));
    if array.memory == Memory::Argument && !array.is_scalar() {
        return error("is an argument and has axes; only scalars are passed by value");
    }
    if array.memory == Memory::Argument && array.element == Type::F16 {
        return Err(NestError::new(format!(
            "`{}` is an argument in half precision, which OpenCL does not pass",
            array.name
        ))
        .remedy(format!("declare it as `argument {}: f32`", array.name))
        .at(array.place));
    }
    if array.memory == Memory::Global && array.is_scalar() {
        return error("has no axes, so it cannot live in global memory");
    }
    if !array.shape.iter().all(Affine::is_of_sizes) {
        return error("has an extent that uses a loop or lookup; extents are sums of sizes");
    }
    Ok(())
}

fn lookup_is_sound(nest: &Nest, lookup: &Lookup) -> Result<(), NestError> {
    let (array, access) = (nest.array(lookup.access.array), &lookup.access);
    let name = &array.name;
    if array.memory != Memory::Global || array.element.is_float() {
        return Err(NestError::new(format!("`{name}` is not an array of integers in global memory"))
            .remedy("values are looked up in arrays that the caller provides, such as `array row[n + 1]: i32`"));
    }
    if array.shape.len() != access.subscripts.len() {
        let (axes, given) = (array.shape.len(), access.subscripts.len());
        return Err(NestError::new(format!("`{name}` has {axes} axes, not {given}")));
    }
    if access.subscripts.iter().any(|sum| sum.lookups().next().is_some()) {
        return Err(NestError::new(format!("`{}` is looked up where another lookup points to", lookup.name)));
    }
    match nest.instructions.iter().find(|instruction| instruction.target.array == access.array) {
        Some(writer) => Err(NestError::new(format!("`{name}` is written, and `{}` looked up in it", lookup.name))
            .at(writer.place)
            .remedy("look up values in arrays that nothing writes")),
        None => Ok(()),
    }
}

/// Refuses an average number of iterations that is not known before the run, or that the loop does
/// not need.
pub(crate) fn statistic_is_sound(nest: &Nest, id: LoopId, average: &Affine) -> Result<(), NestError> {
    let name = &nest.loop_at(id).name;
    if !nest.depends_on_data(id) {
        return Err(NestError::new(format!("the bounds of `{name}` do not depend on data"))
            .remedy("leave the statistic out: the iterations are counted"));
    }
    if !average.is_of_sizes() {
        return Err(NestError::new("a statistic is a sum of sizes and numbers"));
    }
    match average.as_constant() {
        Some(number) if number < 0 => Err(NestError::new(format!("`{name}` cannot have {number} iterations"))),
        _ => Ok(()),
    }
}

/// Refuses names that are not identifiers or are taken twice.
fn names(nest: &Nest) -> Result<(), NestError> {
    let sizes = nest.sizes.iter().map(|name| (name, None));
    let arrays = nest.arrays.iter().map(|array| (&array.name, array.place));
    let loops = nest.loops.iter().map(|candidate| (&candidate.name, candidate.place));
    let mut seen = BTreeSet::new();
    let lookups = nest.lookups.iter().map(|lookup| (&lookup.name, lookup.place));
    for (name, place) in sizes.chain(arrays).chain(loops).chain(lookups) {
        if !is_identifier(name) {
            return Err(NestError::new(format!("`{name}` is not a name"))
                .remedy("a name starts with a letter and has letters, digits and underscores")
                .at(place));
        }
        if !seen.insert(name) {
            return Err(NestError::new(format!("the name `{name}` is taken twice"))
                .remedy("sizes, loops and arrays need different names")
                .at(place));
        }
    }
    Ok(())
}

/// Returns true if `name` is a letter or underscore, followed by letters, digits and underscores.
pub(crate) fn is_identifier(name: &str) -> bool {
    let mut letters = name.chars();
    letters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && letters.all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}

/// Refuses a loop without a lower or an upper bound, or with bounds that use a loop other than an
/// outer one.
fn bounds(nest: &Nest, id: LoopId, outer: &BTreeSet<LoopId>) -> Result<(), NestError> {
    let own = nest.loop_at(id);
    let error = |text: String| Err(NestError::new(text).at(own.place));
    for constraint in &own.constraints {
        if let Some(inner) = nest.loops_of(constraint).find(|used| !outer.contains(used)) {
            let inner = &nest.loop_at(inner).name;
            return error(format!("the bounds of loop `{}` use `{inner}`, which is not an outer loop", own.name));
        }
        let uses_own = |lookup: &LookupId| nest.lookup(*lookup).access.subscripts.iter().any(|sum| sum.uses(id));
        if let Some(lookup) = constraint.lookups().find(uses_own) {
            let name = &nest.lookup(lookup).name;
            return error(format!("a bound of loop `{}` is `{name}`, which changes within it", own.name));
        }
    }
    for (bounds, side) in [(own.lower(id), "lower"), (own.upper(id), "upper")] {
        if bounds.is_empty() {
            return error(format!("loop `{}` has no {side} bound", own.name));
        }
    }
    Ok(())
}

/// Maximum number of loops around an instruction. Schedules and code nest as deeply.
const MOST_LOOPS: usize = 64;

fn instruction_is_sound(nest: &Nest, instruction: &Instruction) -> Result<(), NestError> {
    let error = |text: String| NestError::new(text).at(instruction.place);
    if instruction.within.len() > MOST_LOOPS {
        return Err(error(format!("within {} loops, more than {MOST_LOOPS}", instruction.within.len())));
    }
    for id in &instruction.within {
        for used in nest.loop_at(*id).constraints.iter().flat_map(|sum| nest.loops_of(sum)) {
            if !instruction.within.contains(&used) {
                let (inner, outer) = (&nest.loop_at(*id).name, &nest.loop_at(used).name);
                return Err(error(format!("within `{inner}` but not within `{outer}`, which bounds it")));
            }
        }
    }
    if instruction.is_atomic {
        update_is_sound(nest, instruction).map_err(|refused| refused.at(instruction.place))?;
    }
    for (access, place, direction) in instruction.accesses() {
        access_is_sound(nest, instruction, access, direction).map_err(|refused| refused.at(place))?;
    }
    indices_are_within(nest, instruction).map_err(|refused| refused.at(instruction.place))
}

/// Refuses an atomic instruction that no device runs as one: its forms, memories and types are few.
fn update_is_sound(nest: &Nest, instruction: &Instruction) -> Result<(), NestError> {
    let array = nest.array(instruction.target.array);
    let (name, element) = (&array.name, array.element);
    let Some((_, operand)) = instruction.update() else {
        return Err(NestError::new(format!("an atomic instruction updates `{name}` by a sum, `min` or `max`"))
            .remedy(format!("write `atomic {name}[...] = {name}[...] + value`, or `min` or `max` of both")));
    };
    if operand.loads().iter().any(|(access, _)| access.array == instruction.target.array) {
        return Err(NestError::new(format!("the atomic update also reads other cells of `{name}`"))
            .remedy("copy what it reads to another array first"));
    }
    if !matches!(array.memory, Memory::Global | Memory::Local) {
        return Err(NestError::new(format!("`{name}` belongs to one work-item, so nothing interrupts its updates"))
            .remedy("leave the word `atomic` out"));
    }
    if !matches!(element, Type::I32 | Type::I64 | Type::F32 | Type::F64) {
        return Err(NestError::new(format!("devices have no atomic updates of `{element}`"))
            .remedy("atomic updates are of i32, i64, f32 and f64"));
    }
    let kind = nest.operation_type(&instruction.value, element);
    if kind != element {
        return Err(NestError::new(format!("the update of `{name}` would be computed in {kind}, not {element}"))
            .remedy(format!("make the value one of type {element}: assign it to a temporary of this type first")));
    }
    Ok(())
}

fn access_is_sound(
    nest: &Nest,
    instruction: &Instruction,
    access: &Access,
    direction: Direction,
) -> Result<(), NestError> {
    let array = nest.array(access.array);
    if array.shape.len() != access.subscripts.len() {
        let (axes, given) = (array.shape.len(), access.subscripts.len());
        return Err(NestError::new(format!("`{}` has {axes} axes, not {given}", array.name)));
    }
    if array.memory == Memory::Argument && direction == Direction::Store {
        return Err(NestError::new(format!("the argument `{}` is written", array.name))
            .remedy(format!("declare a temporary: `temporary {}: {}`", array.name, array.element)));
    }
    match access.subscripts.iter().flat_map(|sum| nest.loops_of(sum)).find(|id| !instruction.within.contains(id)) {
        Some(id) => Err(not_within(nest, id)),
        None => Ok(()),
    }
}

fn indices_are_within(nest: &Nest, instruction: &Instruction) -> Result<(), NestError> {
    fn indices(nest: &Nest, expr: &Expr, used: &mut BTreeSet<LoopId>) {
        if let Expr::Index(affine) = expr {
            used.extend(nest.loops_of(affine));
        }
        expr.children().into_iter().for_each(|child| indices(nest, child, used));
    }
    let mut used = BTreeSet::new();
    indices(nest, &instruction.value, &mut used);
    match used.difference(&instruction.within).next() {
        Some(id) => Err(not_within(nest, *id)),
        None => Ok(()),
    }
}

fn not_within(nest: &Nest, id: LoopId) -> NestError {
    let name = &nest.loop_at(id).name;
    NestError::new(format!("uses the index `{name}` outside of its loop")).remedy(format!("add `{name}` after the `@`"))
}
