//! Runs a nest naively. The result defines its meaning, and every count must equal the tally.

mod code;
mod data;
mod half;
mod point;
mod reach;
mod tally;
mod value;

pub use data::Data;
pub use reach::{mean_iterations, refuse_data};
pub use tally::Tally;
pub use value::Value;

use crate::error::NestError;
use crate::ir::{
    AXES, Access, Affine, ArrayId, Direction, Lookup, LoopId, Memory, Nest, Operation, Operator, Tag, Type,
};
use crate::lookups;
use crate::print;
use crate::schedule::{Schedule, Step};
use code::{Code, Machine};
use point::Point;
use std::collections::BTreeSet;
use value::{binary, call};

/// The order in which the work-items of a group run between two barriers. A nest that lacks a
/// barrier gives different results in the two orders.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LaneOrder {
    /// The first work-item first.
    #[default]
    Ascending,
    /// The last work-item first.
    Descending,
}

/// Runs a nest on `data` for these sizes. Each work-item runs from one barrier to the next before
/// another one starts.
///
/// Cost: every operation of the nest, at some 50 ns each.
///
/// # Errors
///
/// Fails if the sizes break an assumption, an access leaves its array, a temporary is read before
/// it is written, or the nest cannot be scheduled.
pub fn run(nest: &Nest, sizes: &[i64], data: &mut Data, order: LaneOrder) -> Result<Tally, NestError> {
    check_sizes(nest, sizes)?;
    let schedule = Schedule::new(nest)?;
    let mut run = Run::new(nest, sizes, data)?;
    run.lanes.sort_by_key(|lane| [lane[2], lane[1], lane[0]]);
    if order == LaneOrder::Descending {
        run.lanes.reverse();
    }
    let groups = nest.group_counts(sizes);
    for group in 0..groups.iter().product::<i128>() {
        let at = [group % groups[0], group / groups[0] % groups[1], group / groups[0] / groups[1]];
        run.begin_group(at);
        run.together_at_begin(&schedule.steps)?;
    }
    Ok(run.tally)
}

/// Refuses a wrong number of sizes, and sizes that break the assumptions of the nest.
fn check_sizes(nest: &Nest, sizes: &[i64]) -> Result<(), NestError> {
    if sizes.len() != nest.sizes.len() {
        let (wanted, given) = (nest.sizes.len(), sizes.len());
        return Err(NestError::new(format!("the nest has {wanted} sizes, not {given}")));
    }
    if !nest.admits(sizes) {
        return Err(NestError::new("the sizes break an assumption of the nest"));
    }
    Ok(())
}

/// The cells of an array, `None` if not written yet.
type Fresh = Vec<Option<Value>>;

struct Run<'a> {
    nest: &'a Nest,
    data: &'a mut Data,
    code: Vec<Code>,
    /// The current point of the work-item.
    point: Point<'a>,
    /// The open loops that hardware does not run, from the outermost.
    open: Vec<LoopId>,
    lanes: Vec<[i128; AXES]>,
    lane: usize,
    local: Vec<Fresh>,
    private: Vec<Vec<Fresh>>,
    tally: Tally,
}

impl<'a> Run<'a> {
    fn new(nest: &'a Nest, sizes: &'a [i64], data: &'a mut Data) -> Result<Self, NestError> {
        let point = Point::new(nest, sizes)?;
        let code = |instruction: &crate::ir::Instruction| {
            Code::new(nest, instruction.computed(), nest.array(instruction.target.array).element)
        };
        let [x, y, z] = nest.local_size()?;
        let lanes = (0..x * y * z).map(|lane| [lane % x, lane / x % y, lane / x / y]).collect();
        let tally = Tally { runs: vec![0; nest.instructions.len()], ..Tally::default() };
        Ok(Run {
            nest,
            data,
            code: nest.instructions.iter().map(code).collect(),
            point,
            open: Vec::new(),
            lanes,
            lane: 0,
            local: Vec::new(),
            private: Vec::new(),
            tally,
        })
    }

    fn begin_group(&mut self, group: [i128; AXES]) {
        self.set_indices(Tag::Group, group);
        self.tally.groups += 1;
        let fresh = |memory: Memory| {
            let cells = |(array, extents): (&crate::ir::Array, &Vec<i128>)| {
                let count = if array.memory == memory { extents.iter().product::<i128>() } else { 0 };
                vec![None; count as usize]
            };
            self.nest.arrays.iter().zip(&self.point.extents).map(cells).collect::<Vec<Fresh>>()
        };
        self.local = fresh(Memory::Local);
        self.private = vec![fresh(Memory::Private); self.lanes.len()];
    }

    fn set_indices(&mut self, tag: impl Fn(u8) -> Tag, at: [i128; AXES]) {
        for (axis, index) in at.into_iter().enumerate() {
            for id in self.nest.tagged(tag(axis as u8)) {
                self.point.indices[id.0] = index;
            }
        }
    }

    /// Runs the steps with which an iteration begins for all work-items of the group.
    fn together_at_begin(&mut self, body: &[Step]) -> Result<(), NestError> {
        for lane in 0..self.lanes.len() {
            self.change_to(lane);
            self.look_up_for(body)?;
        }
        self.together(body)
    }

    fn change_to(&mut self, lane: usize) {
        self.lane = lane;
        self.set_indices(Tag::Local, self.lanes[lane]);
    }

    /// Loads the values that the work-item looks up at the beginning of an iteration: see
    /// [`LookupLoad`](crate::lookups::LookupLoad).
    fn look_up_for(&mut self, body: &[Step]) -> Result<(), NestError> {
        if self.nest.lookups.is_empty() {
            return Ok(());
        }
        for load in lookups::loads_at(self.nest, body, &self.open) {
            if self.is_inside(&load.within) {
                let Lookup { access, place, .. } = self.nest.lookup(load.lookup);
                self.cell(access, Direction::Load).map_err(|error| error.at(*place))?;
            }
        }
        Ok(())
    }

    /// Runs steps for all work-items of the group, which wait for each other at barriers.
    fn together(&mut self, steps: &[Step]) -> Result<(), NestError> {
        for phase in steps.chunk_by(|one, two| !one.has_barrier() && !two.has_barrier()) {
            match &phase[0] {
                Step::Barrier => self.tally.barriers += self.lanes.len() as u64,
                Step::Loop(id, body) if phase[0].has_barrier() => {
                    let range = self.range(*id)?;
                    self.open.push(*id);
                    for index in range {
                        self.point.indices[id.0] = index;
                        self.together_at_begin(body)?;
                    }
                    self.open.pop();
                }
                _ => {
                    for lane in 0..self.lanes.len() {
                        self.change_to(lane);
                        self.alone(phase)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Runs steps of one work-item.
    fn alone(&mut self, steps: &[Step]) -> Result<(), NestError> {
        for step in steps {
            match step {
                Step::Loop(id, body) => {
                    let range = self.range(*id)?;
                    self.open.push(*id);
                    for index in range {
                        self.point.indices[id.0] = index;
                        self.look_up_for(body)?;
                        self.alone(body)?;
                    }
                    self.open.pop();
                }
                Step::Run(number) => self.instruction(*number)?,
                Step::Barrier => {}
            }
        }
        Ok(())
    }

    fn range(&self, id: LoopId) -> Result<std::ops::RangeInclusive<i128>, NestError> {
        let own = self.nest.loop_at(id);
        // Work-items beyond the last one would look outside the array.
        let is_left_out = self.nest.depends_on_data(id) && !self.is_inside(&self.nest.closed([id]));
        let (first, last) = if is_left_out {
            (0, -1)
        } else {
            let cells = &self.data.cells;
            own.constraints.iter().try_for_each(|sum| self.point.can_look_up(cells, sum))?;
            own.range(id, |variable| self.point.value(cells, variable))
        };
        Ok(first..=last)
    }

    /// Returns true if the bounds of the hardware loops in `within` hold for the work-item.
    fn is_inside(&self, within: &BTreeSet<LoopId>) -> bool {
        let is_hardware = |id: &&LoopId| self.nest.loop_at(**id).tag.is_hardware();
        let mut bounds = within.iter().filter(is_hardware).flat_map(|id| &self.nest.loop_at(*id).constraints);
        bounds.all(|sum| self.index(sum) >= 0)
    }

    fn instruction(&mut self, number: usize) -> Result<(), NestError> {
        let instruction = &self.nest.instructions[number];
        if !self.is_inside(&instruction.within) {
            return Ok(());
        }
        self.tally.runs[number] += 1;
        let code = std::mem::replace(&mut self.code[number], Code::Number(0.0));
        let value = code.run(self);
        self.code[number] = code;
        let stored = value.and_then(|value| match instruction.update() {
            Some((operation, _)) => self.update(&instruction.target, operation, value),
            None => self.store(&instruction.target, value),
        });
        stored.map_err(|error| error.at(instruction.place))
    }

    fn cell(&mut self, access: &Access, direction: Direction) -> Result<usize, NestError> {
        let cell = self.touched(access)?;
        *self.tally.accesses.entry((access.array, direction)).or_default() += 1;
        Ok(cell)
    }

    fn touched(&mut self, access: &Access) -> Result<usize, NestError> {
        let cell = self.point.place(&self.data.cells, access)?;
        self.tally.touched.entry(access.array).or_default().insert(cell);
        Ok(cell)
    }

    fn fresh(&mut self, array: ArrayId) -> &mut Fresh {
        match self.nest.array(array).memory {
            Memory::Private => &mut self.private[self.lane][array.0],
            _ => &mut self.local[array.0],
        }
    }

    fn store(&mut self, access: &Access, value: Value) -> Result<(), NestError> {
        let cell = self.cell(access, Direction::Store)?;
        self.write(access, cell, value);
        Ok(())
    }

    /// Runs an atomic update of a cell.
    fn update(&mut self, access: &Access, operation: Operation, operand: Value) -> Result<(), NestError> {
        let cell = self.touched(access)?;
        *self.tally.atomics.entry((access.array, operation)).or_default() += 1;
        let (kind, before) = (self.nest.array(access.array).element, self.read(access, cell)?);
        let after = match operation {
            Operation::Special(function) => call(function, kind, &[before, operand]),
            _ => binary(Operator::Add, kind, before, operand),
        };
        self.write(access, cell, after);
        Ok(())
    }

    fn write(&mut self, access: &Access, cell: usize, value: Value) {
        let array = self.nest.array(access.array);
        let value = value.convert(array.element);
        match array.memory {
            Memory::Global | Memory::Argument => self.data.cells[access.array.0][cell] = value,
            Memory::Local | Memory::Private => self.fresh(access.array)[cell] = Some(value),
        }
    }

    fn read(&mut self, access: &Access, cell: usize) -> Result<Value, NestError> {
        match self.nest.array(access.array).memory {
            Memory::Global | Memory::Argument => Ok(self.data.cells[access.array.0][cell]),
            Memory::Local | Memory::Private => self.fresh(access.array)[cell].ok_or_else(|| {
                NestError::new(format!("{} is read before it is written", print::access(self.nest, access)))
            }),
        }
    }
}

impl Machine for Run<'_> {
    fn index(&self, sum: &Affine) -> i128 {
        self.point.at(&self.data.cells, sum)
    }

    fn load(&mut self, access: &Access) -> Result<Value, NestError> {
        let cell = self.cell(access, Direction::Load)?;
        self.read(access, cell)
    }

    fn count(&mut self, operation: Operation, kind: Type) {
        *self.tally.operations.entry((operation, kind)).or_default() += 1;
    }
}
