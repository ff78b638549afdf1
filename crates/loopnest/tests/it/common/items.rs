//! Runs work-items one by one, using only the schedule and the values of indices.

use std::collections::BTreeMap;
use tunesmith_loopnest::{AXES, Access, Affine, Instruction, LoopId, Nest, Schedule, Step, Tag, Var};

/// A work-item at one point of its loops.
pub(crate) struct Item<'a> {
    pub(crate) nest: &'a Nest,
    pub(crate) sizes: &'a [i64],
    pub(crate) group: [i128; AXES],
    /// Its number in the group, along axis 0 first.
    pub(crate) number: i128,
    pub(crate) indices: BTreeMap<LoopId, i128>,
}

/// Calls `begin` before each work-item, and `visit` for each instruction that it runs, in the order
/// of the schedule.
pub(crate) fn each_item(
    nest: &Nest,
    sizes: &[i64],
    mut begin: impl FnMut(),
    mut visit: impl FnMut(&Item, usize, &Instruction),
) {
    let steps = Schedule::new(nest).unwrap().steps;
    let (local, groups) = (nest.local_size().unwrap(), nest.group_counts(sizes));
    for group in 0..groups.iter().product::<i128>() {
        for number in 0..local.iter().product::<i128>() {
            let at = |index: i128, extents: [i128; AXES]| {
                [index % extents[0], index / extents[0] % extents[1], index / extents[0] / extents[1]]
            };
            let mut item = Item { nest, sizes, group: at(group, groups), number, indices: BTreeMap::new() };
            for axis in 0..AXES {
                let ids = |tag: Tag| nest.order.iter().copied().filter(move |id| nest.loop_at(*id).tag == tag);
                item.indices.extend(ids(Tag::Group(axis as u8)).map(|id| (id, item.group[axis])));
                item.indices.extend(ids(Tag::Local(axis as u8)).map(|id| (id, at(number, local)[axis])));
            }
            begin();
            run(&mut item, &steps, &mut visit);
        }
    }
}

fn run(item: &mut Item, steps: &[Step], visit: &mut impl FnMut(&Item, usize, &Instruction)) {
    for step in steps {
        match step {
            Step::Barrier => {}
            Step::Loop(id, body) => {
                let (first, last) = item.nest.loop_at(*id).range(*id, |variable| item.value(variable));
                for index in first..=last {
                    item.indices.insert(*id, index);
                    run(item, body, visit);
                }
            }
            Step::Run(number) => {
                let instruction = &item.nest.instructions[*number];
                if item.nest.domain(&instruction.within).iter().all(|sum| item.at(sum) >= 0) {
                    visit(item, *number, instruction);
                }
            }
        }
    }
}

impl Item<'_> {
    fn value(&self, variable: Var) -> i128 {
        match variable {
            Var::Size(id) => self.sizes[id.place()].into(),
            Var::Loop(id) => self.indices.get(&id).copied().unwrap_or(0),
            Var::Lookup(_) | Var::Floor(_) => 0,
        }
    }

    /// Returns the value of a sum.
    pub(crate) fn at(&self, sum: &Affine) -> i128 {
        sum.evaluate(|variable| self.value(variable))
    }

    /// Returns the values of the subscripts of an access.
    pub(crate) fn cell(&self, access: &Access) -> Vec<i128> {
        access.subscripts.iter().map(|sum| self.at(sum)).collect()
    }

    /// Returns the indices of the loops of an instruction that hardware does not run.
    pub(crate) fn point(&self, instruction: &Instruction) -> Vec<i128> {
        let is_run = |id: &&LoopId| !self.nest.loop_at(**id).tag.is_hardware();
        instruction.within.iter().filter(is_run).map(|id| self.indices[id]).collect()
    }
}
