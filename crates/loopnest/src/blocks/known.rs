//! Facts about sizes and indices at a place of the code of a nest.
//!
//! Generated C and the counts of its lanes both use these facts. They decide which conditions can
//! fail, which bounds matter, and what holds in whole tiles.

use crate::error::NestError;
use crate::ir::{AXES, Affine, Congruence, LoopId, Nest, Tag, Var};
use crate::polyhedra::System;
use std::collections::BTreeSet;

/// The facts that hold at a place of the code of a nest.
#[derive(Clone)]
pub(crate) struct Known<'a> {
    /// The nest.
    pub(crate) nest: &'a Nest,
    /// Work-items of a work-group along each axis.
    pub(crate) local: [i128; AXES],
    /// Sums that are not negative wherever the code runs.
    facts: Vec<Affine>,
    /// The loops around it, except those of work-groups and work-items.
    pub(super) around: BTreeSet<LoopId>,
    /// True in the version for tiles that may be cut off. It has no further versions.
    pub(super) is_general: bool,
}

impl<'a> Known<'a> {
    /// Returns the facts that hold everywhere in a nest.
    ///
    /// # Errors
    ///
    /// Fails if a work-item loop does not run from 0 to a constant.
    pub(crate) fn new(nest: &'a Nest) -> Result<Self, NestError> {
        let local = nest.local_size()?;
        Ok(Known { nest, local, facts: Vec::new(), around: BTreeSet::new(), is_general: false })
    }

    /// Adds the facts inside a loop. An unrolled loop has no versions of its own.
    pub(crate) fn inside(&self, id: LoopId) -> Self {
        let mut inner = self.clone();
        if matches!(self.nest.loop_at(id).tag, Tag::Sequential | Tag::Parallel) {
            inner.around.insert(id);
        }
        inner
    }

    /// Adds the fact that the index of a loop has that value.
    pub(crate) fn at(&self, id: LoopId, value: i128) -> Self {
        let index = Affine::from(id);
        self.with(vec![index.plus(-value), (-&index).plus(value)], false)
    }

    /// Adds `facts`. `is_general` marks the version for tiles that may be cut off.
    pub(crate) fn with(&self, facts: Vec<Affine>, is_general: bool) -> Self {
        let mut inner = self.clone();
        inner.facts.extend(facts);
        inner.is_general |= is_general;
        inner
    }

    /// Returns the constraints that can fail, among those of the hardware loops in `within`. It
    /// leaves out a constraint that follows from the number of work-groups and work-items, the
    /// loops around, the assumptions, or the other constraints.
    pub(crate) fn conditions(&self, within: &BTreeSet<LoopId>) -> Vec<Affine> {
        let is_hardware = |id: &&LoopId| self.nest.loop_at(**id).tag.is_hardware();
        let constraints = within.iter().filter(is_hardware).flat_map(|id| &self.nest.loop_at(*id).constraints);
        self.needed(&self.within(within), constraints.cloned().collect())
    }

    /// Returns the constraints that can decide where a loop begins and ends.
    pub(crate) fn loop_bounds(&self, id: LoopId) -> Vec<Affine> {
        self.needed(&self.outside(id), self.nest.loop_at(id).constraints.clone())
    }

    /// Returns the facts that hold wherever the loop begins.
    pub(crate) fn outside(&self, id: LoopId) -> Vec<Affine> {
        let mut around = self.nest.closed([id]);
        around.remove(&id);
        self.within(&around)
    }

    /// Returns the constraints that do not follow from `known` and the other constraints.
    pub(crate) fn needed(&self, known: &[Affine], mut constraints: Vec<Affine>) -> Vec<Affine> {
        let mut at = 0;
        while at < constraints.len() {
            let constraint = constraints.remove(at);
            if !self.follows(known.iter().chain(&constraints), &constraint) {
                constraints.insert(at, constraint);
                at += 1;
            }
        }
        constraints
    }

    /// Returns the facts that hold wherever an instruction in these loops may run.
    pub(crate) fn within(&self, within: &BTreeSet<LoopId>) -> Vec<Affine> {
        let mut known = self.nest.assumptions.at_least_zero.clone();
        known.extend(self.facts.iter().cloned());
        for &id in within {
            let (own, index) = (self.nest.loop_at(id), Affine::from(id));
            match own.tag {
                Tag::Local(axis) => {
                    known.extend([index.clone(), (-&index).plus(self.local[usize::from(axis)] - 1)]);
                }
                Tag::Group(_) => {
                    known.push(index);
                    let alone = self.nest.tagged(own.tag).count() == 1;
                    // The number of work-groups follows from the upper bounds. Work-groups begin at
                    // 0, whatever the lower bounds say.
                    let closed = |sum: &&Affine| {
                        alone && sum.coefficient(Var::Loop(id)) < 0 && self.nest.loops_of(sum).all(|used| used == id)
                    };
                    known.extend(own.constraints.iter().filter(closed).cloned());
                }
                _ => known.extend(own.constraints.iter().cloned()),
            }
        }
        known
    }

    /// Returns true if a sum is not negative wherever none of `known` is negative.
    pub(crate) fn follows<'b>(&self, known: impl Iterator<Item = &'b Affine>, constraint: &Affine) -> bool {
        let mut system = System::default();
        system.at_least_zero(known.cloned());
        for (place, Congruence { size, modulus, remainder }) in self.nest.assumptions.congruences.iter().enumerate() {
            let quotient = Affine::term(Var::Floor(2 * AXES + place), *modulus);
            system.equal_zero(&Affine::from(*size) - &quotient.plus(*remainder));
        }
        system.at_least_zero([(-constraint).plus(-1)]);
        !system.may_have_points()
    }

    /// Returns the conditions that guard a loop with looked-up bounds. Without them, work-items
    /// beyond the last one would look outside the array.
    pub(crate) fn guard(&self, id: LoopId) -> Vec<Affine> {
        if self.nest.depends_on_data(id) { self.conditions(&self.nest.closed([id])) } else { Vec::new() }
    }
}
