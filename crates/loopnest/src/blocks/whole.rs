//! Facts about tiles that no size cuts off.

use super::known::Known;
use crate::ir::{Affine, LoopId, Tag, Var};
use crate::polyhedra::System;
use crate::schedule::Step;

/// Indices of work-items and of loops within tiles stay far below this; what may be less than its
/// negative has no least value.
const MOST: i128 = 1 << 20;

impl Known<'_> {
    /// Returns what holds in tiles from which no size cuts anything off; nothing in a version for
    /// other tiles.
    pub(crate) fn in_whole_tiles(&self, steps: &[Step]) -> Vec<Affine> {
        if self.is_general { Vec::new() } else { whole(self, steps, |_| true) }
    }

    /// Returns what holds where no row of work-items is cut off.
    pub(crate) fn in_whole_rows(&self, steps: &[Step]) -> Vec<Affine> {
        whole(self, steps, |id| self.nest.loop_at(id).tag == Tag::Local(0))
    }

    /// Returns whether an index is the same for all work-items of the group, and all iterations of
    /// what is within.
    fn is_around(&self, id: LoopId) -> bool {
        matches!(self.nest.loop_at(id).tag, Tag::Group(_)) || self.around.contains(&id)
    }
}

/// Sums of sizes and of the indices around that are not negative where nothing of the steps is cut
/// off by a bound of one of the loops that `cuts` picks; none where that always is so, or never, or
/// cannot be told beforehand.
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

/// Gathers what keeps bounds from cutting anything off.
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

    /// Returns a sum of what is around that is never more than `constraint` at the points that
    /// `known` leaves; nothing where there is none.
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

/// Returns the least value of a sum where none of `known` is negative; nothing where that is not a
/// small number.
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
