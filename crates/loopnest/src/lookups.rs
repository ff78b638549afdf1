//! When the values are loaded that a nest looks up.
//!
//! A work-item loads a value when an iteration begins of the innermost of its own loops on which the cell depends; a value
//! that depends on no such loop is loaded first of all. Nothing writes the arrays, so the value holds until the iteration ends.
//! It is loaded where something in the iteration uses it, by the work-items within the hardware loops that everything has in
//! common which uses it.

use crate::ir::{Affine, LookupId, LoopId, Nest};
use crate::schedule::{Step, tree};
use std::collections::BTreeSet;

/// A value that is loaded at one place of a schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LookupLoad {
    pub(crate) lookup: LookupId,
    /// The loops at whose points it is loaded.
    pub(crate) within: BTreeSet<LoopId>,
}

impl Nest {
    /// Every load of a value that is looked up, in the order of the schedule.
    pub(crate) fn lookup_loads(&self) -> Vec<LookupLoad> {
        let mut loads = Vec::new();
        if !self.lookups.is_empty() {
            self.gather_loads(&tree(self), &mut Vec::new(), &mut loads);
        }
        loads
    }

    fn gather_loads(&self, body: &[Step], open: &mut Vec<LoopId>, loads: &mut Vec<LookupLoad>) {
        loads.extend(self.loads_at(body, open));
        for step in body {
            if let Step::Loop(id, inner) = step {
                open.push(*id);
                self.gather_loads(inner, open, loads);
                open.pop();
            }
        }
    }

    /// What is loaded at the beginning of an iteration of the last loop of `open`, or of everything where none is, with
    /// `body` to come.
    pub(crate) fn loads_at(&self, body: &[Step], open: &[LoopId]) -> Vec<LookupLoad> {
        let due = (0..self.lookups.len()).map(LookupId).filter(|id| self.home(*id) == open.last().copied());
        let load = |lookup: LookupId| {
            let mut users = Vec::new();
            self.gather_users(body, lookup, &mut users);
            let common = users.into_iter().reduce(|one, other| &one & &other)?;
            let begun = self.closed(open.iter().copied().chain(self.cell_loops(lookup)));
            // Loops of work-items that are bounded by what begins later do not tell yet who is within them.
            let is_known = |id: &LoopId| {
                let mut around = self.closed([*id]).into_iter();
                around.all(|id| begun.contains(&id) || self.loop_at(id).tag.is_hardware())
            };
            let known: Vec<LoopId> = common.into_iter().filter(is_known).collect();
            Some(LookupLoad { lookup, within: self.closed(begun.into_iter().chain(known)) })
        };
        due.filter_map(load).collect()
    }

    /// The loops that say where a value is looked up.
    pub(crate) fn cell_loops(&self, id: LookupId) -> BTreeSet<LoopId> {
        self.closed(self.lookup(id).access.subscripts.iter().flat_map(Affine::loops))
    }

    /// The innermost loop on which the cell depends, those that hardware runs left out.
    fn home(&self, id: LookupId) -> Option<LoopId> {
        let loops = self.nesting(&self.cell_loops(id));
        loops.into_iter().rfind(|id| !self.loop_at(*id).tag.is_hardware())
    }

    /// The hardware loops of each loop and instruction among `steps` that uses a value.
    fn gather_users(&self, steps: &[Step], id: LookupId, users: &mut Vec<BTreeSet<LoopId>>) {
        let is_used = |sum: &Affine| sum.lookups().any(|used| used == id);
        let hardware = |mut within: BTreeSet<LoopId>| {
            within.retain(|id| self.loop_at(*id).tag.is_hardware());
            within
        };
        for step in steps {
            match step {
                Step::Loop(own, body) => {
                    if self.loop_at(*own).constraints.iter().any(is_used) {
                        users.push(hardware(self.closed([*own])));
                    }
                    self.gather_users(body, id, users);
                }
                Step::Run(number) => {
                    let instruction = &self.instructions[*number];
                    if instruction.sums().into_iter().any(is_used) {
                        users.push(hardware(instruction.within.clone()));
                    }
                }
                Step::Barrier => {}
            }
        }
    }
}
