//! Facts about whole tiles. No size cuts these off.

use super::known::Known;
use crate::ir::{Affine, LoopId, Tag, Var};
use crate::polyhedra::System;
use crate::schedule::Step;

/// Bound on the indices of work-items and of loops within tiles, which stay far below it. A sum
/// that may be less than `-MOST` is taken to have no least value.
const MOST: i128 = 1 << 20;

impl Known<'_> {
    /// Returns the facts that hold in whole tiles. A version for other tiles has none.
    pub(crate) fn in_whole_tiles(&self, steps: &[Step]) -> Vec<Affine> {
        if self.is_general { Vec::new() } else { whole(self, steps, |_| true) }
    }

    /// Returns the facts that hold where no row of work-items is cut off.
    pub(crate) fn in_whole_rows(&self, steps: &[Step]) -> Vec<Affine> {
        whole(self, steps, |id| self.nest.loop_at(id).tag == Tag::Local(0))
    }

    /// Returns true if an index is the same for all work-items of the group and in all iterations
    /// of inner loops.
    fn is_around(&self, id: LoopId) -> bool {
        matches!(self.nest.loop_at(id).tag, Tag::Group(_)) || self.around.contains(&id)
    }
}

/// Returns conditions under which no bound of the loops picked by `cuts` cuts off the steps.
///
/// Each condition is a sum of sizes and outer indices that must not be negative. The list is empty
/// if the conditions always hold, never hold, or cannot be decided beforehand.
fn whole(known: &Known, steps: &[Step], cuts: impl Fn(LoopId) -> bool) -> Vec<Affine> {
    let mut bounds = Bounds { known, cuts: &cuts, found: Vec::new() };
    steps.iter().for_each(|step| bounds.visit(step));
    let around = bounds.found.iter().flat_map(Affine::loops).chain(known.around.iter().copied());
    let holds = known.within(&around.collect());
    let facts = known.needed(&holds, bounds.found);
    let mut all = System::default();
    all.at_least_zero(holds.into_iter().chain(facts.iter().cloned()));
    if all.may_have_points() { facts } else { Vec::new() }
}

/// Gathers the conditions under which bounds cut nothing off.
struct Bounds<'a> {
    known: &'a Known<'a>,
    cuts: &'a dyn Fn(LoopId) -> bool,
    found: Vec<Affine>,
}

impl Bounds<'_> {
    fn visit(&mut self, step: &Step) {
        if let Step::Loop(id, body) = step {
            self.gather(&self.known.outside(*id), &self.known.loop_bounds(*id));
            body.iter().for_each(|step| self.visit(step));
        }
        if let Step::Run(number) = step {
            let within = &self.known.nest.instructions[*number].within;
            self.gather(&self.known.within(within), &self.known.conditions(within));
        }
    }

    fn gather(&mut self, known: &[Affine], constraints: &[Affine]) {
        for (at, constraint) in constraints.iter().enumerate().filter(|(_, sum)| sum.loops().any(self.cuts)) {
            let others = constraints.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, other)| other);
            self.found.extend(self.sufficient(known.iter().chain(others), constraint));
        }
    }

    /// Returns a sum of outer variables that is at most `constraint` wherever `known` holds, or
    /// `None` if there is none.
    fn sufficient<'a>(&self, known: impl Iterator<Item = &'a Affine>, constraint: &Affine) -> Option<Affine> {
        let is_inner = |variable: Var| matches!(variable, Var::Loop(id) if !self.known.is_around(id));
        if constraint.lookups().next().is_some() {
            return None;
        }
        let (mut outer, mut inner) = (Affine::constant(constraint.offset()), Affine::default());
        for (variable, coefficient) in constraint.terms() {
            (if is_inner(variable) { &mut inner } else { &mut outer }).add_term(variable, coefficient);
        }
        if outer.as_constant().is_some() {
            return None;
        }
        let known = known.filter(|sum| sum.terms().all(|(variable, _)| is_inner(variable))).cloned().collect();
        Some(outer.plus(least(known, &inner)?))
    }
}

/// Returns the least value of a sum where none of `known` is negative, or `None` if that value is
/// not small.
fn least(known: Vec<Affine>, sum: &Affine) -> Option<i128> {
    let mut system = System::default();
    system.at_least_zero(known);
    let may_be_below = |limit: i128| {
        let mut system = system.clone();
        system.at_least_zero([(-sum).plus(limit - 1)]);
        system.may_have_points()
    };
    let (mut low, mut high) = (-MOST, MOST);
    if may_be_below(low) {
        return None;
    }
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if may_be_below(middle) { high = middle } else { low = middle }
    }
    Some(low)
}
