//! Decides when a work-item loads the values that a nest looks up.
//!
//! A work-item loads a value at the start of an iteration of the innermost loop on which its cell
//! depends. If the cell depends on no such loop, the value is loaded first of all. Nothing writes
//! the arrays, so the value holds until the iteration ends.
//!
//! A value is loaded only if a loop or instruction in the iteration uses it. The loads run within
//! the hardware loops that all users have in common.

use crate::ir::{Affine, LookupId, LoopId, Nest};
use crate::schedule::{Step, tree};
use std::collections::BTreeSet;

/// The load of a value at one place of a schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LookupLoad {
    pub(crate) lookup: LookupId,
    /// The loops at whose points the value is loaded.
    pub(crate) within: BTreeSet<LoopId>,
}

/// Returns every load of a looked-up value, in the order of the schedule.
pub(crate) fn loads(nest: &Nest) -> Vec<LookupLoad> {
    let mut loads = Vec::new();
    if !nest.lookups.is_empty() {
        gather_loads(nest, &tree(nest), &mut Vec::new(), &mut loads);
    }
    loads
}

fn gather_loads(nest: &Nest, body: &[Step], open: &mut Vec<LoopId>, loads: &mut Vec<LookupLoad>) {
    loads.extend(loads_at(nest, body, open));
    for step in body {
        if let Step::Loop(id, inner) = step {
            open.push(*id);
            gather_loads(nest, inner, open, loads);
            open.pop();
        }
    }
}

/// Returns the loads at the beginning of an iteration of the last loop of `open`. If `open` is
/// empty, these are the loads at the beginning of the kernel. `body` holds the steps that follow.
pub(crate) fn loads_at(nest: &Nest, body: &[Step], open: &[LoopId]) -> Vec<LookupLoad> {
    let due = (0..nest.lookups.len()).map(LookupId).filter(|id| home(nest, *id) == open.last().copied());
    let load = |lookup: LookupId| {
        let mut users = Vec::new();
        gather_users(nest, body, lookup, &mut users);
        let common = users.into_iter().reduce(|one, other| &one & &other)?;
        let begun = nest.closed(open.iter().copied().chain(cell_loops(nest, lookup)));
        // The bounds of a work-item loop may use a loop that begins later. Its work-items are then
        // not known yet.
        let is_known = |id: &LoopId| {
            let mut around = nest.closed([*id]).into_iter();
            around.all(|id| begun.contains(&id) || nest.loop_at(id).tag.is_hardware())
        };
        let known: Vec<LoopId> = common.into_iter().filter(is_known).collect();
        Some(LookupLoad { lookup, within: nest.closed(begun.into_iter().chain(known)) })
    };
    due.filter_map(load).collect()
}

/// Returns the loops that determine the cell of a lookup.
pub(crate) fn cell_loops(nest: &Nest, id: LookupId) -> BTreeSet<LoopId> {
    nest.closed(nest.lookup(id).access.subscripts.iter().flat_map(Affine::loops))
}

/// Returns the innermost loop on which the cell depends, hardware loops aside.
fn home(nest: &Nest, id: LookupId) -> Option<LoopId> {
    let loops = nest.nesting(&cell_loops(nest, id));
    loops.into_iter().rfind(|id| !nest.loop_at(*id).tag.is_hardware())
}

/// Gathers, for each loop and instruction among `steps` that uses a value, its hardware loops.
fn gather_users(nest: &Nest, steps: &[Step], id: LookupId, users: &mut Vec<BTreeSet<LoopId>>) {
    let is_used = |sum: &Affine| sum.lookups().any(|used| used == id);
    let hardware = |mut within: BTreeSet<LoopId>| {
        within.retain(|id| nest.loop_at(*id).tag.is_hardware());
        within
    };
    for step in steps {
        match step {
            Step::Loop(own, body) => {
                if nest.loop_at(*own).constraints.iter().any(is_used) {
                    users.push(hardware(nest.closed([*own])));
                }
                gather_users(nest, body, id, users);
            }
            Step::Run(number) => {
                let instruction = &nest.instructions[*number];
                if instruction.sums().into_iter().any(is_used) {
                    users.push(hardware(instruction.within.clone()));
                }
            }
            Step::Barrier => {}
        }
    }
}
