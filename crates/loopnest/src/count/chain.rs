//! The longest chain of dependent arithmetic that one work-item executes.
//!
//! The module follows the depths of values through the schedule in the max-plus algebra. A row
//! holds the depth of a value relative to the values at the start of a piece of the schedule. A
//! loop is closed at once, whatever its number of iterations: values that it accumulates grow by
//! their own step in each iteration, and all others are the result of one iteration.

use super::depth::{Loops, Weight};
use super::everywhere::runs_everywhere;
use super::floors::Floors;
use crate::error::NestError;
use crate::ir::{Access, Affine, ArrayId, Expr, Instruction, LoopId, Nest, Operation, Type};
use crate::print;
use crate::schedule::{Schedule, Step};
use std::collections::{BTreeMap, BTreeSet};

/// A value whose depth the analysis follows.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Origin {
    /// A value that no arithmetic has touched.
    Start,
    /// A cell of an array, by its constant subscripts. Without subscripts it stands for all cells
    /// of an array that are treated alike.
    Cell(ArrayId, Vec<i128>),
    /// The deepest value so far.
    Longest,
}

/// The depth of a value relative to each value on which it depends.
type Row = BTreeMap<Origin, Weight>;
/// The rows of the values that a piece of the schedule changes.
type State = BTreeMap<Origin, Row>;

/// Returns the depth of the deepest value that a work-item computes.
///
/// # Errors
///
/// Fails if the depth depends on more than numbers of iterations: if values pass from one cell to
/// another, if they pass through several values in turn, or if the length of a loop depends on the
/// work-item.
pub(super) fn longest(nest: &Nest, floors: &Floors) -> Result<Weight, NestError> {
    let schedule = Schedule::new(nest)?;
    let chains = Chains { nest, carrying: carrying(nest) };
    let matters = |instruction: &&Instruction| {
        chains.carrying.contains(&instruction.target.array) || holds_result(nest, instruction, &chains.carrying)
    };
    nest.instructions.iter().filter(matters).try_for_each(|instruction| runs_everywhere(nest, floors, instruction))?;
    let mut state = State::new();
    chains.steps(&schedule.steps, &mut state)?;
    let row = state.remove(&Origin::Longest).unwrap_or_default();
    Ok(row.into_values().reduce(Weight::most).unwrap_or(Weight::Number(0)))
}

/// Returns the arrays that are read and hold results of arithmetic. Copies of cells begin no chain.
fn carrying(nest: &Nest) -> BTreeSet<ArrayId> {
    let reads = |own: &Instruction, array| own.computed().loads().iter().any(|(access, _)| access.array == array);
    let is_read = |array: ArrayId| nest.instructions.iter().any(|own| reads(own, array));
    let mut carrying = BTreeSet::new();
    loop {
        let found = nest.instructions.iter().find(|instruction| {
            let array = instruction.target.array;
            !carrying.contains(&array) && is_read(array) && holds_result(nest, instruction, &carrying)
        });
        match found {
            Some(instruction) => carrying.insert(instruction.target.array),
            None => return carrying,
        };
    }
}

/// Returns true if the value of an instruction comes from arithmetic. Nothing waits for the result of an
/// atomic update.
fn holds_result(nest: &Nest, instruction: &Instruction, carrying: &BTreeSet<ArrayId>) -> bool {
    let context = nest.array(instruction.target.array).element;
    has_arithmetic(nest, instruction.computed(), context)
        || instruction.computed().loads().iter().any(|(access, _)| carrying.contains(&access.array))
}

fn has_arithmetic(nest: &Nest, expr: &Expr, context: Type) -> bool {
    let kind = nest.operation_type(expr, context);
    depth_of(expr, kind) > 0 || expr.children().into_iter().any(|child| has_arithmetic(nest, child, kind))
}

/// Returns the number of dependent operations in the outermost operation of an expression. For a
/// small power this is the exponent less one.
fn depth_of(expr: &Expr, kind: Type) -> i128 {
    Operation::outermost(expr).filter(|_| kind.is_float()).map_or(0, |(_, times)| times)
}

struct Chains<'a> {
    nest: &'a Nest,
    carrying: BTreeSet<ArrayId>,
}

impl Chains<'_> {
    fn steps(&self, steps: &[Step], state: &mut State) -> Result<(), NestError> {
        for step in steps {
            match step {
                Step::Barrier => {}
                Step::Run(number) => self.instruction(&self.nest.instructions[*number], state)?,
                Step::Loop(id, body) => {
                    let mut once = State::new();
                    self.steps(body, &mut once)?;
                    let all = self.closed(*id, &once)?;
                    *state = after(state, &all);
                }
            }
        }
        Ok(())
    }

    fn instruction(&self, instruction: &Instruction, state: &mut State) -> Result<(), NestError> {
        let context = self.nest.array(instruction.target.array).element;
        let row = self.value(instruction.computed(), context, state).map_err(|error| error.at(instruction.place))?;
        let longest = joined(row_of(state, &Origin::Longest), row.clone());
        state.insert(Origin::Longest, longest);
        if self.carrying.contains(&instruction.target.array) {
            let cell = self.cell(&instruction.target).map_err(|error| error.at(instruction.place))?;
            state.insert(cell, row);
        }
        Ok(())
    }

    fn value(&self, expr: &Expr, context: Type, state: &State) -> Result<Row, NestError> {
        let kind = self.nest.operation_type(expr, context);
        match expr {
            Expr::Load(access, place) if self.carrying.contains(&access.array) => {
                Ok(row_of(state, &self.cell(access).map_err(|error| error.at(*place))?))
            }
            _ => {
                let mut row = Row::from([(Origin::Start, Weight::Number(0))]);
                for child in expr.children() {
                    row = joined(row, self.value(child, kind, state)?);
                }
                let own = Weight::Number(depth_of(expr, kind));
                Ok(row.into_iter().map(|(source, weight)| (source, weight.plus(&own))).collect())
            }
        }
    }

    /// Returns the value as which an access to a carrying array is followed.
    fn cell(&self, access: &Access) -> Result<Origin, NestError> {
        let subscripts: Option<Vec<i128>> = access.subscripts.iter().map(Affine::as_constant).collect();
        let all = || {
            let accesses = self.nest.instructions.iter().flat_map(Instruction::accesses);
            accesses.map(|(other, ..)| other).filter(|other| other.array == access.array)
        };
        let is_constant = |other: &Access| other.subscripts.iter().all(|sum| sum.as_constant().is_some());
        match subscripts {
            Some(subscripts) if all().all(is_constant) => Ok(Origin::Cell(access.array, subscripts)),
            _ if all().all(|other| other == access) && self.keeps_apart(access) => {
                Ok(Origin::Cell(access.array, Vec::new()))
            }
            _ => {
                let (text, name) = (print::access(self.nest, access), &self.nest.array(access.array).name);
                Err(NestError::new(format!("results pass through {text} and other cells of `{name}`")))
            }
        }
    }

    fn sequential(&self, sum: &Affine) -> Vec<LoopId> {
        sum.loops().filter(|id| !self.nest.loop_at(*id).tag.is_hardware()).collect()
    }

    /// Returns true if each iteration of the sequential loops in the subscripts reaches a cell of
    /// its own.
    fn keeps_apart(&self, access: &Access) -> bool {
        access.subscripts.iter().all(|sum| self.sequential(sum).len() <= 1)
    }

    /// Returns true if each iteration of a loop has a cell of its own.
    fn is_apart(&self, source: &Origin, id: LoopId) -> bool {
        let Origin::Cell(array, _) = source else { return false };
        let accesses = self.nest.instructions.iter().flat_map(Instruction::accesses);
        let mut own = accesses.map(|(access, ..)| access).filter(|access| access.array == *array);
        own.any(|access| access.subscripts.iter().any(|sum| sum.uses(id)))
    }

    /// Returns the rows after all iterations of a loop, given the rows after one iteration.
    fn closed(&self, id: LoopId, once: &State) -> Result<State, NestError> {
        let close = Close { chains: self, id, once };
        once.iter().map(|(source, row)| Ok((source.clone(), close.row(source, row)?))).collect()
    }

    fn show(&self, source: &Origin) -> String {
        match source {
            Origin::Cell(array, _) => format!("`{}`", self.nest.array(*array).name),
            _ => "the results".to_string(),
        }
    }
}

/// A loop that is being closed.
struct Close<'a> {
    chains: &'a Chains<'a>,
    id: LoopId,
    once: &'a State,
}

impl Close<'_> {
    fn depends(&self, weight: &Weight) -> bool {
        weight.depends_on(self.id, self.chains.nest)
    }

    /// Returns true if an iteration begins with the value that the previous iteration left.
    fn is_carried(&self, source: &Origin) -> bool {
        self.once.contains_key(source) && !self.chains.is_apart(source, self.id)
    }

    /// Returns the growth of a value in each iteration. Returns `None` if it depends on other
    /// values that iterations change.
    fn step(&self, source: &Origin) -> Option<&Weight> {
        let row = self.once.get(source)?;
        let alone = row.keys().all(|other| other == source || !self.is_carried(other));
        row.get(source).filter(|_| alone && *source != Origin::Longest)
    }

    fn row(&self, own: &Origin, row: &Row) -> Result<Row, NestError> {
        let mut closed = Row::new();
        for (source, weight) in row {
            for (source, weight) in self.entry(own, source, weight)? {
                let joined = match closed.remove(&source) {
                    Some(known) => Weight::most(known, weight),
                    None => weight,
                };
                closed.insert(source, joined);
            }
        }
        Ok(closed)
    }

    /// Returns the entries for all iterations that one entry of a row becomes.
    fn entry(&self, own: &Origin, source: &Origin, weight: &Weight) -> Result<Vec<(Origin, Weight)>, NestError> {
        if self.depends(weight) {
            return Ok(vec![(source.clone(), self.spread(own, weight)?)]);
        }
        let entered = |enter: &Weight, late: i128, by: &Origin, step: &Weight| {
            Weight::entered(self.id, enter.clone(), late, by.clone(), step.clone())
        };
        if let Some(step) = self.step(own).filter(|_| self.is_carried(own)) {
            self.refuse_dependent(step, own)?;
            let all = if source == own { step.times(self.id, own) } else { entered(weight, 0, own, step) };
            return Ok(vec![(source.clone(), all)]);
        }
        if !self.is_carried(source) || (source == own && *weight == Weight::Number(0)) {
            return Ok(vec![(source.clone(), weight.clone())]);
        }
        // The last iteration reads what the others accumulated.
        let (Some(step), Some(row)) = (self.step(source), self.once.get(source)) else {
            let (one, two) = (self.chains.show(own), self.chains.show(source));
            let index = &self.chains.nest.loop_at(self.id).name;
            return Err(NestError::new(format!(
                "iterations of `{index}` pass results through {one} and {two} in turn"
            )));
        };
        self.refuse_dependent(step, source)?;
        let mut entries = vec![(source.clone(), entered(weight, 0, source, step))];
        for (other, into) in row.iter().filter(|(other, _)| *other != source) {
            self.refuse_dependent(into, source)?;
            entries.push((other.clone(), entered(&into.plus(weight), 1, source, step)));
        }
        Ok(entries)
    }

    /// Spreads a weight over this loop if it has inner loops whose lengths depend on it. The result
    /// covers all their iterations together. The value that grows in them must go on growing from
    /// one iteration of this loop to the next.
    fn spread(&self, own: &Origin, weight: &Weight) -> Result<Weight, NestError> {
        let goes_on = |by: &Origin, loops: &Loops, step: &Weight| match self.step(by) {
            Some(Weight::Times(known, own_step, _)) => known == loops && **own_step == *step && self.is_carried(by),
            _ => false,
        };
        weight.spread_over(self.id, self.chains.nest, &goes_on).ok_or_else(|| self.dependent(own))
    }

    fn refuse_dependent(&self, weight: &Weight, own: &Origin) -> Result<(), NestError> {
        if self.depends(weight) { Err(self.dependent(own)) } else { Ok(()) }
    }

    fn dependent(&self, own: &Origin) -> NestError {
        let (index, name) = (&self.chains.nest.loop_at(self.id).name, self.chains.show(own));
        NestError::new(format!("the chain through {name} has another length in each iteration of `{index}`"))
    }
}

/// Returns the row of a value, or the value itself if nothing changed it.
fn row_of(state: &State, source: &Origin) -> Row {
    state.get(source).cloned().unwrap_or_else(|| Row::from([(source.clone(), Weight::Number(0))]))
}

fn joined(mut one: Row, two: Row) -> Row {
    for (source, weight) in two {
        let joined = match one.remove(&source) {
            Some(known) => Weight::most(known, weight),
            None => weight,
        };
        one.insert(source, joined);
    }
    one
}

/// Joins a piece of the schedule to the piece before it.
fn after(first: &State, second: &State) -> State {
    let mut both = first.clone();
    for (own, row) in second {
        let mut through = Row::new();
        for (source, weight) in row {
            let before = row_of(first, source);
            let before = before.into_iter().map(|(start, depth)| (start, depth.plus(weight))).collect();
            through = joined(through, before);
        }
        both.insert(own.clone(), through);
    }
    both
}
