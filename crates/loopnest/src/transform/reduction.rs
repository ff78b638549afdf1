//! Reductions: updates of a cell by values that may be combined in any order.

use super::dependence::{run_within, shared_through};
use crate::error::NestError;
use crate::ir::{Access, Affine, ArrayId, Expr, Function, Instruction, LoopId, Nest, Operator, Type};
use crate::print;
use std::collections::BTreeSet;
use std::ops::RangeInclusive;

/// An operation that combines values in any order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Combination {
    Sum,
    Product,
    Least,
    Greatest,
}

impl Combination {
    /// Returns the operation by which `value` combines further values with the old value of `cell`.
    /// The value loads the array of the cell once. Returns `None` if it depends on the cell in
    /// another way.
    fn of(value: &Expr, cell: &Access) -> Option<Self> {
        let (own, parts) = Combination::outermost(value)?;
        let old = parts.into_iter().find(|part| part.loads().iter().any(|(access, _)| access.array == cell.array))?;
        let is_cell = matches!(old, Expr::Load(access, _) if access == cell);
        (is_cell || Combination::of(old, cell) == Some(own)).then_some(own)
    }

    /// Returns the outermost operation, with the parts that may exchange their places.
    fn outermost(value: &Expr) -> Option<(Self, Vec<&Expr>)> {
        match value {
            Expr::Binary(Operator::Add, left, right) => Some((Combination::Sum, vec![left, right])),
            Expr::Binary(Operator::Sub, left, _) => Some((Combination::Sum, vec![left])),
            Expr::Binary(Operator::Mul, left, right) => Some((Combination::Product, vec![left, right])),
            Expr::Call(Function::Min, arguments) => Some((Combination::Least, arguments.iter().collect())),
            Expr::Call(Function::Max, arguments) => Some((Combination::Greatest, arguments.iter().collect())),
            _ => None,
        }
    }

    /// Returns the value that changes no other, or `None` if each value is combined with itself
    /// without a change.
    pub(super) fn neutral(self) -> Option<Expr> {
        match self {
            Combination::Sum => Some(Expr::Index(Affine::constant(0))),
            Combination::Product => Some(Expr::Index(Affine::constant(1))),
            Combination::Least | Combination::Greatest => None,
        }
    }

    /// Returns the combination of two values.
    pub(super) fn expr(self, one: Expr, two: Expr) -> Expr {
        match self {
            Combination::Sum => Expr::binary(Operator::Add, one, two),
            Combination::Product => Expr::binary(Operator::Mul, one, two),
            Combination::Least => Expr::Call(Function::Min, vec![one, two]),
            Combination::Greatest => Expr::Call(Function::Max, vec![one, two]),
        }
    }

    /// Returns true if steps that are computed as `computed` and stored as `element` may change
    /// their order. Every step must lose the same bits in any order.
    fn admits(self, computed: Type, element: Type) -> bool {
        match self {
            _ if element.is_float() => true,
            Combination::Sum | Combination::Product => !computed.is_float(),
            Combination::Least | Combination::Greatest => computed == element,
        }
    }
}

/// The updates of one cell in a loop, and the loops around its reduction.
pub(super) struct Reduction {
    pub(super) cell: Access,
    pub(super) combination: Combination,
    /// The instructions that update it.
    pub(super) updates: Vec<usize>,
    /// The loops around the reduction, hardware loops included. All others around the updates run
    /// within it.
    pub(super) outer: BTreeSet<LoopId>,
    /// The instructions that run in these others.
    pub(super) run: RangeInclusive<usize>,
}

impl Reduction {
    /// Returns the reduction of a cell of `array` in loop `over`.
    ///
    /// # Errors
    ///
    /// Fails if the loop accesses the array by more than updates of one cell, all by the same
    /// operation.
    pub(super) fn new(nest: &Nest, array: ArrayId, over: LoopId) -> Result<Self, NestError> {
        let [name, index] = [&nest.array(array).name, &nest.loop_at(over).name];
        let is_update = |number: &usize| {
            let instruction = &nest.instructions[*number];
            instruction.target.array == array && instruction.within.contains(&over)
        };
        let updates: Vec<usize> = (0..nest.instructions.len()).filter(is_update).collect();
        let Some(first) = updates.first().map(|first| &nest.instructions[*first]) else {
            return Err(NestError::new(format!("nothing in loop `{index}` changes `{name}`"))
                .remedy(format!("name the temporary or array that is updated within `{index}`")));
        };
        let cell = first.target.clone();
        let of = |update: &Instruction| combination_of(nest, update, &cell).map_err(|error| error.at(update.place));
        let combination = of(first)?;
        for update in updates.iter().map(|number| &nest.instructions[*number]) {
            if of(update)? != combination || update.target != cell {
                return Err(NestError::new(format!("`{name}` is updated in different ways in loop `{index}`"))
                    .remedy("give each update a temporary of its own")
                    .at(update.place));
            }
        }
        let (outer, run) = extent(nest, &cell, &updates, over)?;
        Ok(Reduction { cell, combination, updates, outer, run })
    }
}

fn uses(instruction: &Instruction, array: ArrayId) -> bool {
    instruction.accesses().any(|(access, ..)| access.array == array)
}

/// Returns the operation by which an instruction updates a cell.
fn combination_of(nest: &Nest, update: &Instruction, cell: &Access) -> Result<Combination, NestError> {
    let text = print::access(nest, cell);
    let old = update.value.loads().iter().filter(|(access, _)| access.array == cell.array).count();
    let own = Combination::of(&update.value, cell).filter(|_| old == 1).ok_or_else(|| {
        NestError::new(format!("{text} depends on its old value in a way that fixes the order of the updates"))
            .remedy("update it by a sum, a product, `min` or `max`, in which its old value stands once")
    })?;
    let element = nest.array(cell.array).element;
    let computed = nest.operation_type(&update.value, element);
    match own.admits(computed, element) {
        true => Ok(own),
        false => Err(NestError::new(format!("{text} is {element} and its updates are computed in {computed}"))
            .remedy(format!("declare it as {computed}, so that no update loses digits"))),
    }
}

/// Returns the loops around a reduction and the instructions that run within its own loops: the
/// longest run in which nothing but the updates accesses the cell.
fn extent(
    nest: &Nest,
    cell: &Access,
    updates: &[usize],
    over: LoopId,
) -> Result<(BTreeSet<LoopId>, RangeInclusive<usize>), NestError> {
    let [name, index] = [&nest.array(cell.array).name, &nest.loop_at(over).name];
    let (first, last) = (updates[0], updates[updates.len() - 1]);
    let shared = shared_through(nest, first, last);
    let hardware = |number: usize| {
        let within = nest.instructions[number].within.iter().copied();
        within.filter(|id| nest.loop_at(*id).tag.is_hardware()).collect::<BTreeSet<LoopId>>()
    };
    let place = nest.instructions[last].place;
    let Some(depth) = shared.iter().position(|id| *id == over) else {
        return Err(NestError::new(format!("the updates of `{name}` run in several loops over `{index}`"))
            .remedy("let them follow each other, or give each a temporary of its own")
            .at(place));
    };
    if let Some(other) = updates.iter().find(|number| hardware(**number) != hardware(first)) {
        return Err(NestError::new(format!("different work-items update `{name}`"))
            .remedy("let all updates be within the same loops of work-items")
            .at(nest.instructions[*other].place));
    }
    // The loops around must determine the cell, and each other's bounds.
    let is_whole = |outer: &BTreeSet<LoopId>| {
        let of_cell = cell.subscripts.iter().flat_map(|sum| nest.loops_of(sum));
        nest.closed(outer.iter().copied().chain(of_cell)) == *outer
    };
    let mut refused = None;
    for length in 0..=depth {
        let outer: BTreeSet<LoopId> = shared[..length].iter().copied().chain(hardware(first)).collect();
        let run = run_within(nest, first, &shared[..=length]);
        let foreign = |number: &usize| !updates.contains(number) && uses(&nest.instructions[*number], cell.array);
        match run.clone().find(foreign) {
            Some(number) => refused = Some(number),
            None if is_whole(&outer) => return Ok((outer, run)),
            None => {}
        }
    }
    let error = match refused {
        Some(number) => NestError::new(format!("`{name}` is also used within loop `{index}`"))
            .remedy("use it after the loop, where its sum is complete")
            .at(nest.instructions[number].place),
        None => NestError::new(format!("which cell of `{name}` is updated depends on loop `{index}`"))
            .remedy(format!("make `{index}` the innermost loop with `order`, or reduce over another loop")),
    };
    Err(error.at(place))
}
