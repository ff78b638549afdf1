//! Reductions by the work-items of a group: each reduces its own share, and then they combine their
//! results in pairs.

use super::data::refuse_data;
use super::names::fresh;
use super::reduction::Reduction;
use super::tag::{refuse_axis, tag};
use crate::error::{NestError, Place};
use crate::ir::{
    AXES, Access, Affine, Array, ArrayId, Expr, Instruction, Layout, Loop, LoopId, Memory, Nest, Tag, Type,
};
use std::collections::{BTreeMap, BTreeSet};

/// The local arrays in which work-items combine their results, as the transformation names them.
pub(super) struct Sums<'a> {
    /// A name for each cell.
    pub(super) names: &'a [String],
    /// Name of the loop that fills them.
    pub(super) index: &'a str,
    /// The axis of the work-items.
    pub(super) axis: u8,
}

/// Lets work-items run the iterations of `over`, and combine what they find of a cell of each array
/// in `cells`.
pub(super) fn reduce(nest: &mut Nest, cells: &[String], over: &str, sums: &Sums) -> Result<(), NestError> {
    let id = nest.loop_id(over)?;
    refuse_axis(sums.axis)?;
    refuse_data(nest, id)?;
    if nest.loop_at(id).tag != Tag::Sequential {
        return Err(NestError::new(format!("loop `{over}` is tagged"))
            .remedy("reduce over a loop without a tag. One line can name all cells that the loop updates"));
    }
    if cells.len() != sums.names.len() {
        let (cells, names) = (cells.len(), sums.names.len());
        return Err(NestError::new(format!("{cells} cells are reduced into {names} local arrays"))
            .remedy("name one local array for each cell"));
    }
    let items = nest.constant_extent(id)?;
    let mut tree = Tree { nest, sums, items, parts: Vec::new(), firsts: BTreeMap::new(), lanes: BTreeMap::new() };
    for (cell, name) in cells.iter().zip(sums.names) {
        let reduction = Reduction::new(tree.nest, tree.nest.array_id(cell)?, id)?;
        refuse_side_by_side(tree.nest, &reduction.outer)?;
        tree.declare(reduction, name)?;
    }
    tree.distribute(id)?;
    tree.write()
}

/// Refuses loops around the reduction whose iterations would share one local array.
fn refuse_side_by_side(nest: &Nest, outer: &BTreeSet<LoopId>) -> Result<(), NestError> {
    let is_side_by_side = |id: &&LoopId| matches!(nest.loop_at(**id).tag, Tag::Vector | Tag::Parallel);
    match outer.iter().find(is_side_by_side) {
        None => Ok(()),
        Some(id) => {
            let name = &nest.loop_at(*id).name;
            Err(NestError::new(format!("the iterations of `{name}` run side by side and would share the local array"))
                .remedy(format!("let work-groups or work-items run `{name}`, or leave it sequential")))
        }
    }
}

/// The reduction of a cell that is about to be written into a nest.
struct Part {
    reduction: Reduction,
    /// The loops of work-items around the reduction. They give the local array its first axes.
    rows: Vec<LoopId>,
    /// The temporary of each work-item.
    own: Access,
    local: ArrayId,
    /// True if the updates of the cell are atomic. Then the total is added to it atomically.
    is_atomic: bool,
    place: Option<Place>,
}

impl Part {
    /// Returns the cell of a work-item in the local array.
    fn at(&self, lane: Affine) -> Access {
        Access { array: self.local, subscripts: self.rows.iter().copied().map(Affine::from).chain([lane]).collect() }
    }

    fn load(&self, lane: Affine) -> Expr {
        Expr::Load(self.at(lane), None)
    }
}

/// Instructions that are about to be inserted: before the reductions of `outer`, or after them.
struct Insertion {
    at: usize,
    is_before: bool,
    depth: usize,
    instructions: Vec<Instruction>,
}

/// The reductions of a loop, with the loops of work-items that they need.
struct Tree<'a> {
    nest: &'a mut Nest,
    sums: &'a Sums<'a>,
    items: i128,
    parts: Vec<Part>,
    /// The loops of the first work-item, by axis.
    firsts: BTreeMap<u8, LoopId>,
    /// The loops of the first work-items along the axis, by name.
    lanes: BTreeMap<String, LoopId>,
}

impl Tree<'_> {
    /// Declares the temporary and the local array of a reduction.
    fn declare(&mut self, reduction: Reduction, name: &str) -> Result<(), NestError> {
        let nest = &mut *self.nest;
        if self.parts.iter().any(|part| part.reduction.cell.array == reduction.cell.array) {
            let cell = &nest.array(reduction.cell.array).name;
            return Err(NestError::new(format!("`{cell}` is named twice")).remedy("name each cell once"));
        }
        let is_item = |id: &LoopId| matches!(nest.loop_at(*id).tag, Tag::Local(_));
        let rows: Vec<LoopId> = nest.nesting(&reduction.outer).into_iter().filter(is_item).collect();
        let mut shape = rows.iter().map(|id| nest.constant_extent(*id)).collect::<Result<Vec<_>, _>>()?;
        shape.push(self.items);
        let shape: Vec<Affine> = shape.into_iter().map(Affine::constant).collect();
        let element = nest.array(reduction.cell.array).element;
        let own = declare(nest, format!("{name}_own"), element, Memory::Private, Vec::new())?;
        let local = declare(nest, name.to_string(), element, Memory::Local, shape)?;
        let own = Access { array: own, subscripts: Vec::new() };
        let place = nest.instructions[reduction.updates[0]].place;
        let is_atomic = reduction.updates.iter().any(|number| nest.instructions[*number].is_atomic);
        self.parts.push(Part { reduction, rows, own, local, is_atomic, place });
        Ok(())
    }

    /// Lets work-items run loop `over`, and redirects the updates to the temporary of each.
    fn distribute(&mut self, over: LoopId) -> Result<(), NestError> {
        self.restrict_stores()?;
        let mut values = Vec::new();
        for part in &self.parts {
            let cell = part.reduction.cell.array;
            // While the tag is checked, the updates do not read what an earlier iteration left.
            let unread = part.reduction.combination.neutral().unwrap_or(Expr::Index(Affine::default()));
            for number in &part.reduction.updates {
                let update = &mut self.nest.instructions[*number];
                let old = Expr::Load(part.own.clone(), update.place);
                values.push((*number, replaced(&update.value, cell, &old)));
                update.value = replaced(&update.value, cell, &unread);
                update.target = part.own.clone();
                update.is_atomic = false;
            }
        }
        let index = self.nest.loop_at(over).name.clone();
        tag(self.nest, &index, Tag::Local(self.sums.axis))?;
        for (number, value) in values {
            self.nest.instructions[number].value = value;
        }
        Ok(())
    }

    /// Lets one work-item run the instructions around the reductions that store in shared memory.
    /// Otherwise all work-items along the axis would store the same values.
    fn restrict_stores(&mut self) -> Result<(), NestError> {
        let along = Tag::Local(self.sums.axis);
        let is_repeated = |number: &usize| {
            let instruction = &self.nest.instructions[*number];
            let is_shared = self.nest.array(instruction.target.array).memory != Memory::Private;
            let is_around = |part: &Part| instruction.within.is_subset(&part.reduction.outer);
            let is_alone = self.nest.hardware_loop(instruction, along).is_none();
            is_shared && is_alone && self.parts.iter().any(is_around)
        };
        let repeated: Vec<usize> = (0..self.nest.instructions.len()).filter(is_repeated).collect();
        if !repeated.is_empty() {
            let first = self.only_first(self.sums.axis)?;
            for number in repeated {
                self.nest.instructions[number].within.insert(first);
            }
        }
        Ok(())
    }

    /// Returns the loop of the first work-item along an axis.
    fn only_first(&mut self, axis: u8) -> Result<LoopId, NestError> {
        if let Some(known) = self.firsts.get(&axis) {
            return Ok(*known);
        }
        let first = work_items(self.nest, format!("{}_first{axis}", self.sums.index), 1, axis)?;
        self.firsts.insert(axis, first);
        Ok(first)
    }

    /// Returns the loop of that name over the first `count` work-items along the axis.
    fn lanes(&mut self, name: String, count: i128) -> Result<LoopId, NestError> {
        if let Some(known) = self.lanes.get(&name) {
            return Ok(*known);
        }
        let lanes = work_items(self.nest, name.clone(), count, self.sums.axis)?;
        self.lanes.insert(name, lanes);
        Ok(lanes)
    }

    /// Writes the instructions before and after the updates. Reductions that end together take
    /// their steps together, so that they share the barriers.
    fn write(mut self) -> Result<(), NestError> {
        let mut ends: BTreeMap<(usize, BTreeSet<LoopId>), Vec<usize>> = BTreeMap::new();
        let mut insertions = Vec::new();
        for (number, part) in self.parts.iter().enumerate() {
            let Reduction { cell, combination, outer, run, .. } = &part.reduction;
            let value = combination.neutral().unwrap_or(Expr::Load(cell.clone(), part.place));
            let begin = instruction(part.own.clone(), value, outer.clone(), part.place);
            let (at, depth) = (*run.start(), outer.len());
            insertions.push(Insertion { at, is_before: true, depth, instructions: vec![begin] });
            ends.entry((run.end() + 1, outer.clone())).or_default().push(number);
        }
        for ((at, outer), parts) in ends {
            let instructions = self.combine(&parts, &outer)?;
            insertions.push(Insertion { at, is_before: false, depth: outer.len(), instructions });
        }
        // In one place, what ends comes first, the inner reductions before the outer ones.
        let order =
            |own: &Insertion| (own.at, own.is_before, if own.is_before { own.depth } else { usize::MAX - own.depth });
        insertions.sort_by_key(order);
        for own in insertions.into_iter().rev() {
            self.nest.instructions.splice(own.at..own.at, own.instructions);
        }
        Ok(())
    }

    /// Returns the instructions that put the results of the work-items into the local arrays,
    /// combine them there, and combine the totals with the cells. Each step combines the second
    /// half of the results with the first. An odd one in the middle waits for the next step.
    fn combine(&mut self, parts: &[usize], outer: &BTreeSet<LoopId>) -> Result<Vec<Instruction>, NestError> {
        let around = self.around(outer)?;
        let lanes = self.lanes(self.sums.index.to_string(), self.items)?;
        let mut steps = self.step(parts, &around, lanes, &|part, _| Expr::Load(part.own.clone(), None));
        let mut results = self.items;
        while results > 1 {
            let left = (results + 1) / 2;
            let lanes = self.lanes(format!("{}_{left}", self.sums.index), results - left)?;
            steps.extend(self.step(parts, &around, lanes, &|part, lane| {
                part.reduction.combination.expr(part.load(lane.clone()), part.load(lane.plus(left)))
            }));
            results = left;
        }
        for number in parts {
            let shared = self.nest.array(self.parts[*number].reduction.cell.array).memory != Memory::Private;
            let first = if shared { Some(self.only_first(self.sums.axis)?) } else { None };
            let Part { reduction, is_atomic, place, .. } = &self.parts[*number];
            let (cell, total) = (reduction.cell.clone(), self.parts[*number].load(Affine::default()));
            let value = reduction.combination.expr(Expr::Load(cell.clone(), *place), total);
            let within = outer.iter().copied().chain(first).collect();
            steps.push(Instruction { is_atomic: *is_atomic, ..instruction(cell, value, within, *place) });
        }
        Ok(steps)
    }

    /// Returns the instructions of one step: the work-items of `lanes` set their cells.
    fn step(
        &self,
        parts: &[usize],
        around: &BTreeSet<LoopId>,
        lanes: LoopId,
        value: &dyn Fn(&Part, Affine) -> Expr,
    ) -> Vec<Instruction> {
        let of_part = |number: &usize| {
            let part = &self.parts[*number];
            let within = around.iter().copied().chain([lanes]).collect();
            let value = value(part, Affine::from(lanes));
            instruction(part.at(Affine::from(lanes)), value, within, part.place)
        };
        parts.iter().map(of_part).collect()
    }

    /// Returns the loops around the steps. Along an axis on which the reduction does not depend,
    /// one work-item runs them.
    fn around(&mut self, outer: &BTreeSet<LoopId>) -> Result<BTreeSet<LoopId>, NestError> {
        let mut around = outer.clone();
        let sizes = self.nest.local_size()?;
        for axis in (0..AXES as u8).filter(|axis| *axis != self.sums.axis && sizes[usize::from(*axis)] > 1) {
            if self.nest.loop_with(&around, Tag::Local(axis)).is_none() {
                around.insert(self.only_first(axis)?);
            }
        }
        Ok(around)
    }
}

/// Returns an instruction that is not atomic.
fn instruction(target: Access, value: Expr, within: BTreeSet<LoopId>, place: Option<Place>) -> Instruction {
    Instruction { target, value, is_atomic: false, within, place }
}

/// Declares an array whose last axis is dense.
fn declare(
    nest: &mut Nest,
    name: String,
    element: Type,
    memory: Memory,
    shape: Vec<Affine>,
) -> Result<ArrayId, NestError> {
    fresh(nest, &name)?;
    let layout = Layout::row_major(shape.len());
    nest.arrays.push(Array { name, element, memory, shape, layout, place: None });
    Ok(ArrayId(nest.arrays.len() - 1))
}

/// Declares a loop of the first `count` work-items along an axis.
fn work_items(nest: &mut Nest, name: String, count: i128, axis: u8) -> Result<LoopId, NestError> {
    fresh(nest, &name)?;
    let id = LoopId(nest.loops.len());
    let constraints = vec![Affine::from(id), (-&Affine::from(id)).plus(count - 1)];
    nest.loops.push(Loop { name, constraints, tag: Tag::Local(axis), place: None });
    nest.order.push(id);
    Ok(id)
}

/// Returns a value with the loads of an array replaced.
fn replaced(value: &Expr, array: ArrayId, by: &Expr) -> Expr {
    value.clone().map(&mut |part| match part {
        Expr::Load(access, _) if access.array == array => by.clone(),
        other => other,
    })
}
