//! Versions of code for tiles that are cut off nowhere.
//!
//! Bounds of tiles that a size may cut off cost a test in every iteration, and keep compilers from unrolling loops and from making
//! vectors of work-items. Most tiles are whole: in C what runs without a barrier is written once for whole tiles, where all bounds that a size
//! takes part in are known to hold, once for whole rows, and once for the rest. GPUs mask lanes at no cost, and PoCL 3.1 computes wrong
//! results where work-groups branch around loops that differ, so that OpenCL and CUDA have one version.

use super::names::Names;
use super::writer::Writer;
use crate::error::NestError;
use crate::ir::{Affine, LoopId, Tag, Var};
use crate::polyhedra::System;
use crate::schedule::Step;
use std::collections::BTreeSet;

/// Indices of work-items and of loops within tiles stay far below this; what may be less than its negative has no least value.
const MOST: i128 = 1 << 20;

/// Where code stands.
#[derive(Clone, Debug, Default)]
pub(super) struct Branch {
    /// Sums that are not negative wherever it runs.
    pub(super) facts: Vec<Affine>,
    /// The loops around it but those of work-groups and work-items.
    around: BTreeSet<LoopId>,
    /// Whether this is the version for tiles that may be cut off, of which there are no further versions.
    is_general: bool,
}

/// What `body` writes of these steps, which have no barrier: for whole tiles, for whole rows, and for all others.
pub(super) fn versions(
    names: &Names,
    steps: &[Step],
    writer: &mut Writer,
    body: impl Fn(&Names, &mut Writer) -> Result<(), NestError>,
) -> Result<(), NestError> {
    let facts = if names.branch.is_general { Vec::new() } else { whole(names, steps, |_| true) };
    let Some(test) = names.test(&facts) else { return body(names, writer) };
    writer.open(&test);
    body(&names.knowing(facts.clone(), false), writer)?;
    writer.close();
    let is_lane = |id| names.nest.loop_at(id).tag == Tag::Local(0);
    let rows = whole(names, steps, is_lane);
    if let Some(test) = names.test(&rows).filter(|_| rows != facts) {
        writer.open(&format!("else {test}"));
        body(&names.knowing(rows, true), writer)?;
        writer.close();
    }
    writer.open("else");
    body(&names.knowing(Vec::new(), true), writer)?;
    writer.close();
    Ok(())
}

impl Names<'_> {
    /// The names within a loop. One that is written out has no versions of its own.
    pub(super) fn inside(&self, id: LoopId) -> Self {
        let mut inner = self.clone();
        if matches!(self.nest.loop_at(id).tag, Tag::Sequential | Tag::Parallel) {
            inner.branch.around.insert(id);
        }
        inner
    }

    /// The names where the index of a loop has that value.
    pub(super) fn at(&self, id: LoopId, value: i128) -> Self {
        let index = Affine::from(id);
        let mut inner = self.clone();
        inner.branch.facts.extend([index.plus(-value), (-&index).plus(value)]);
        inner
    }

    /// The names in tiles from which no size cuts anything off.
    pub(super) fn in_whole_tiles(&self, steps: &[Step]) -> Self {
        self.knowing(whole(self, steps, |_| true), false)
    }

    /// The names where `facts` hold as well.
    fn knowing(&self, facts: Vec<Affine>, is_general: bool) -> Self {
        let mut inner = self.clone();
        inner.branch.facts.extend(facts);
        inner.branch.is_general |= is_general;
        inner
    }

    /// Whether an index is the same for all work-items of the group, and all iterations of what is within.
    fn is_around(&self, id: LoopId) -> bool {
        matches!(self.nest.loop_at(id).tag, Tag::Group(_)) || self.branch.around.contains(&id)
    }
}

/// Sums of sizes and of the indices around that are not negative where nothing of the steps is cut off by a bound of one of the loops that
/// `cuts` picks; none where that always is so, or never, or cannot be told beforehand.
fn whole(names: &Names, steps: &[Step], cuts: impl Fn(LoopId) -> bool) -> Vec<Affine> {
    let mut bounds = Bounds { names, cuts: &cuts, found: Vec::new() };
    steps.iter().for_each(|step| bounds.visit(step));
    let around = bounds.found.iter().flat_map(Affine::loops).chain(names.branch.around.iter().copied());
    let known = names.known(&around.collect());
    let facts = names.needed(&known, bounds.found);
    let mut all = System::default();
    all.at_least_zero(known.into_iter().chain(facts.iter().cloned()));
    if all.may_have_points() { facts } else { Vec::new() }
}

/// Gathers what keeps bounds from cutting anything off.
struct Bounds<'a> {
    names: &'a Names<'a>,
    cuts: &'a dyn Fn(LoopId) -> bool,
    found: Vec<Affine>,
}

impl Bounds<'_> {
    fn visit(&mut self, step: &Step) {
        let names = self.names;
        if let Step::Loop(id, body) = step {
            self.gather(&names.known_outside(*id), &names.loop_bounds(*id));
            body.iter().for_each(|step| self.visit(step));
        }
        if let Step::Run(number) = step {
            let within = &names.nest.instructions[*number].within;
            self.gather(&names.known(within), &names.conditions(within));
        }
    }

    fn gather(&mut self, known: &[Affine], constraints: &[Affine]) {
        for (at, constraint) in constraints.iter().enumerate().filter(|(_, sum)| sum.loops().any(self.cuts)) {
            let others = constraints.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, other)| other);
            self.found.extend(self.sufficient(known.iter().chain(others), constraint));
        }
    }

    /// A sum of what is around that is never more than `constraint` at the points that `known` leaves; nothing where there is none.
    fn sufficient<'a>(&self, known: impl Iterator<Item = &'a Affine>, constraint: &Affine) -> Option<Affine> {
        let is_inner = |variable: Var| matches!(variable, Var::Loop(id) if !self.names.is_around(id));
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

/// The least value of a sum where none of `known` is negative; nothing where that is not a small number.
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
