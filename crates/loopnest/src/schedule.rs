//! The order in which a work-item runs the instructions of a nest, and the barriers that it needs.

use crate::error::NestError;
use crate::ir::{
    AXES, Access, Affine, ArrayId, Direction, Expr, Instruction, LookupId, LoopId, Memory, Nest, Tag, Var,
};
use crate::polyhedra::System;
use crate::print;
use std::collections::BTreeSet;

/// One step of a work-item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// The loop's body for every index.
    Loop(LoopId, Vec<Step>),
    /// An instruction, by its place in [`Nest::instructions`]. A work-item outside the bounds of
    /// the instruction's hardware loops skips it.
    Run(usize),
    /// A barrier: every work-item of the group arrives before any goes on.
    Barrier,
}

impl Step {
    /// Returns true if the step is a barrier or contains one.
    pub fn has_barrier(&self) -> bool {
        match self {
            Step::Loop(_, body) => body.iter().any(Step::has_barrier),
            Step::Run(_) => false,
            Step::Barrier => true,
        }
    }
}

/// The steps of a work-item: instructions, barriers, and the loops that hardware does not run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// The steps, in order.
    pub steps: Vec<Step>,
}

impl Schedule {
    /// Schedules a nest.
    ///
    /// The instructions keep the order of the list, and neighbours share their outer loops. A
    /// barrier separates two instructions if different work-items may touch the same cell in them
    /// and one of them writes.
    ///
    /// # Errors
    ///
    /// Fails if a barrier is needed inside a loop whose bounds differ between work-items, or if several
    /// work-items would repeat an atomic update.
    pub fn new(nest: &Nest) -> Result<Self, NestError> {
        updates_are_done_once(nest)?;
        let steps = tree(nest);
        let conflicts = Conflicts::new(nest)?;
        let (steps, _) = conflicts.separate(&steps, &Pending::new());
        for step in &steps {
            barriers_are_uniform(nest, step)?;
        }
        Ok(Schedule { steps })
    }
}

/// Returns the instructions between barriers where no work-item computes anything.
///
/// A work-group only copies cells there. The barriers before and after keep its arithmetic from
/// hiding the copy. A nest without barriers has no such instructions.
///
/// # Errors
///
/// Fails if the nest cannot be [scheduled](Schedule).
pub fn copying(nest: &Nest) -> Result<Vec<usize>, NestError> {
    let schedule = Schedule::new(nest)?;
    if !schedule.steps.iter().any(Step::has_barrier) {
        return Ok(Vec::new());
    }
    let copies = |number: &usize| matches!(nest.instructions[*number].value, Expr::Load(..));
    let regions = schedule.regions().into_iter().map(|region| region.instructions);
    Ok(regions.filter(|region| region.iter().all(copies)).flatten().collect())
}

/// Instructions that a work-item runs without waiting for others.
pub(crate) struct Region {
    pub(crate) instructions: Vec<usize>,
    /// The loops with barriers that enclose the region. Temporaries may live from one of their
    /// iterations to the next.
    pub(crate) around: BTreeSet<LoopId>,
}

impl Schedule {
    /// Returns the regions between barriers, in order.
    pub(crate) fn regions(&self) -> Vec<Region> {
        let mut regions = Vec::new();
        collect(&self.steps, &BTreeSet::new(), &mut regions);
        regions
    }
}

fn collect(steps: &[Step], around: &BTreeSet<LoopId>, regions: &mut Vec<Region>) {
    for phase in phases(steps) {
        match &phase[0] {
            Step::Barrier => {}
            Step::Loop(id, body) if phase[0].has_barrier() => {
                collect(body, &around.iter().copied().chain([*id]).collect(), regions);
            }
            _ => regions.push(Region { instructions: runs(phase), around: around.clone() }),
        }
    }
}

/// Returns the steps, cut at barriers and at loops that contain barriers.
pub(crate) fn phases(steps: &[Step]) -> impl Iterator<Item = &[Step]> {
    steps.chunk_by(|one, two| !one.has_barrier() && !two.has_barrier())
}

/// Returns the instructions of steps, in their order.
pub(crate) fn runs(steps: &[Step]) -> Vec<usize> {
    let of = |step: &Step| match step {
        Step::Run(number) => vec![*number],
        Step::Loop(_, body) => runs(body),
        Step::Barrier => Vec::new(),
    };
    steps.iter().flat_map(of).collect()
}

/// Returns true if one of the instructions reads or writes the array.
pub(crate) fn use_array(nest: &Nest, instructions: &[usize], id: ArrayId) -> bool {
    instructions.iter().any(|number| nest.instructions[*number].accesses().any(|(access, ..)| access.array == id))
}

/// Returns the instructions under the loops that they share.
pub(crate) fn tree(nest: &Nest) -> Vec<Step> {
    let mut steps = Vec::new();
    for (number, instruction) in nest.instructions.iter().enumerate() {
        let is_run_in_order = |id: &LoopId| !nest.loop_at(*id).tag.is_hardware();
        let loops: Vec<LoopId> = nest.nesting(&instruction.within).into_iter().filter(is_run_in_order).collect();
        insert(&mut steps, &loops, number);
    }
    steps
}

fn insert(steps: &mut Vec<Step>, loops: &[LoopId], number: usize) {
    let Some((first, rest)) = loops.split_first() else { return steps.push(Step::Run(number)) };
    if !matches!(steps.last(), Some(Step::Loop(open, _)) if open == first) {
        steps.push(Step::Loop(*first, Vec::new()));
    }
    if let Some(Step::Loop(_, body)) = steps.last_mut() {
        insert(body, rest, number);
    }
}

/// Instructions that touched shared memory since the last barrier.
type Pending = BTreeSet<usize>;

/// Pairs of instructions that need a barrier between them.
struct Conflicts {
    pairs: BTreeSet<(usize, usize)>,
}

impl Conflicts {
    fn new(nest: &Nest) -> Result<Self, NestError> {
        let sizes = nest.local_size()?;
        let mut pairs = BTreeSet::new();
        if sizes.iter().product::<i128>() > 1 {
            for first in 0..nest.instructions.len() {
                for second in first..nest.instructions.len() {
                    if lanes_meet(nest, &sizes, first, second) {
                        pairs.extend([(first, second), (second, first)]);
                    }
                }
            }
        }
        Ok(Conflicts { pairs })
    }

    fn meets(&self, pending: &Pending, number: usize) -> bool {
        pending.iter().any(|earlier| self.pairs.contains(&(*earlier, number)))
    }

    /// Returns the steps with barriers, and the instructions that are pending after them.
    fn separate(&self, steps: &[Step], before: &Pending) -> (Vec<Step>, Pending) {
        let mut pending = before.clone();
        let mut separated = Vec::new();
        for step in steps {
            match step {
                Step::Run(number) => {
                    if self.meets(&pending, *number) {
                        separated.push(Step::Barrier);
                        pending.clear();
                    }
                    pending.insert(*number);
                    separated.push(step.clone());
                }
                Step::Loop(id, body) => {
                    // Instructions pending at the end of an iteration meet the beginning of the
                    // next.
                    let (_, carried) = self.separate(body, &Pending::new());
                    let (body, left) = self.separate(body, &carried);
                    // A conflict with instructions before the loop needs one barrier before the
                    // loop, not one in every iteration.
                    if self.steps_meet(&body, &mut pending.clone()) {
                        separated.push(Step::Barrier);
                        pending.clear();
                    }
                    pending.extend(left);
                    separated.push(Step::Loop(*id, body));
                }
                Step::Barrier => {}
            }
        }
        (separated, pending)
    }

    /// Returns true if `steps`, with their barriers, conflict with an instruction that was pending
    /// before them. A loop may run no iteration, so its barriers do not clear the pending
    /// instructions after it.
    fn steps_meet(&self, steps: &[Step], pending: &mut Pending) -> bool {
        steps.iter().any(|step| match step {
            Step::Run(number) => self.meets(pending, *number),
            Step::Loop(_, body) => self.steps_meet(body, &mut pending.clone()),
            Step::Barrier => {
                pending.clear();
                false
            }
        })
    }
}

/// Returns true if different work-items of a group may touch the same cell in two instructions, one
/// of which writes.
fn lanes_meet(nest: &Nest, local: &[i128; AXES], first: usize, second: usize) -> bool {
    let shared = |access: &Access| matches!(nest.array(access.array).memory, Memory::Local | Memory::Global);
    let (one, two) = (&nest.instructions[first], &nest.instructions[second]);
    one.accesses().filter(|(access, ..)| shared(access)).any(|(access, _, direction)| {
        two.accesses().any(|(other, _, other_direction)| {
            let writes = direction == Direction::Store || other_direction == Direction::Store;
            let is_ordered = writes && other.array == access.array && !one.commutes(two, access.array);
            is_ordered && cells_meet(nest, local, (first, access), (second, other))
        })
    })
}

/// Returns true if different work-items of a group may touch the same cell by these two accesses.
fn cells_meet(nest: &Nest, local: &[i128; AXES], one: (usize, &Access), two: (usize, &Access)) -> bool {
    let pair = Instances::new(nest);
    let system = pair.same_cell(one, two);
    let (first, second) = (&nest.instructions[one.0], &nest.instructions[two.0]);
    (0..AXES).filter(|axis| local[*axis] > 1).any(|axis| {
        let tag = Tag::Local(axis as u8);
        let free = |side: usize| Var::Floor(2 * axis + side);
        let low = nest.hardware_index(first, tag, free(0));
        let high = pair.renamed(&nest.hardware_index(second, tag, free(1)));
        [(&low, &high), (&high, &low)].into_iter().any(|(less, more)| {
            let mut system = system.clone();
            let in_group = |lane: &Affine| [lane.clone(), (-lane).plus(local[axis] - 1)];
            system.at_least_zero(in_group(&low).into_iter().chain(in_group(&high)));
            system.at_least_zero([(more - less).plus(-1)]);
            system.may_have_points()
        })
    })
}

/// Two points of the loops of a nest at once. The loops of the second point have other numbers.
pub(crate) struct Instances<'a> {
    nest: &'a Nest,
}

impl<'a> Instances<'a> {
    pub(crate) fn new(nest: &'a Nest) -> Self {
        Instances { nest }
    }

    /// Returns the index of a loop at the second point.
    pub(crate) fn second(&self, id: LoopId) -> Var {
        Var::Loop(LoopId(id.0 + self.nest.loops.len()))
    }

    /// Returns a sum with the loops of the second point.
    pub(crate) fn renamed(&self, sum: &Affine) -> Affine {
        let mut renamed = Affine::constant(sum.offset());
        for (variable, coefficient) in sum.terms() {
            let variable = match variable {
                Var::Loop(id) => self.second(id),
                Var::Lookup(id) => Var::Lookup(LookupId(id.0 + self.nest.lookups.len())),
                other => other,
            };
            renamed.add_term(variable, coefficient);
        }
        renamed
    }

    /// Returns the points at which two instructions of one work-group touch the same cell.
    pub(crate) fn same_cell(&self, one: (usize, &Access), two: (usize, &Access)) -> System {
        let mut system = self.same_cell_in_any_group(one, two);
        let (first, second) = (&self.nest.instructions[one.0], &self.nest.instructions[two.0]);
        for axis in 0..AXES {
            let tag = Tag::Group(axis as u8);
            if let (Some(id), Some(other)) = (self.nest.hardware_loop(first, tag), self.nest.hardware_loop(second, tag))
            {
                system.equal_zero(&Affine::from(id) - &Affine::term(self.second(other), 1));
            }
        }
        system
    }

    /// Returns the points at which two instructions touch the same cell, in the same work-group or
    /// in two.
    pub(crate) fn same_cell_in_any_group(&self, one: (usize, &Access), two: (usize, &Access)) -> System {
        let (first, second) = (&self.nest.instructions[one.0], &self.nest.instructions[two.0]);
        let mut system = System::default();
        system.at_least_zero(self.nest.assumptions.at_least_zero.iter().cloned());
        system.at_least_zero(self.nest.domain(&first.within));
        system.at_least_zero(self.nest.domain(&second.within).iter().map(|sum| self.renamed(sum)));
        for (subscript, other) in one.1.subscripts.iter().zip(&two.1.subscripts) {
            system.equal_zero(subscript - &self.renamed(other));
        }
        system
    }
}

/// Refuses an atomic update that every work-item along an axis would repeat.
fn updates_are_done_once(nest: &Nest) -> Result<(), NestError> {
    let sizes = nest.local_size()?;
    let axes = || (0..AXES).filter(|axis| sizes[*axis] > 1).map(|axis| Tag::Local(axis as u8));
    let is_repeated = |own: &&Instruction| axes().any(|tag| nest.hardware_loop(own, tag).is_none());
    match nest.instructions.iter().filter(|own| own.is_atomic).find(is_repeated) {
        None => Ok(()),
        Some(update) => {
            let text = print::access(nest, &update.target);
            Err(NestError::new(format!("every work-item along an axis would update {text} again"))
                .remedy("let the update be within a loop of each axis of work-items")
                .at(update.place))
        }
    }
}

/// Refuses a loop that contains a barrier if some work-items of a group would run it more often
/// than others.
fn barriers_are_uniform(nest: &Nest, step: &Step) -> Result<(), NestError> {
    let Step::Loop(id, body) = step else { return Ok(()) };
    if step.has_barrier() {
        let own = nest.loop_at(*id);
        let lane = |used: &LoopId| matches!(nest.loop_at(*used).tag, Tag::Local(_));
        if let Some(lane) = own.constraints.iter().flat_map(|sum| nest.loops_of(sum)).find(lane) {
            let lane = &nest.loop_at(lane).name;
            return Err(NestError::new(format!(
                "a barrier is needed inside of loop `{}`, whose bounds depend on the work-item's `{lane}`",
                own.name
            ))
            .remedy("work-items of a group must meet the same barriers: bound the loop only by group indices")
            .at(own.place));
        }
    }
    body.iter().try_for_each(|step| barriers_are_uniform(nest, step))
}
