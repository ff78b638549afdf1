//! Bounds of loops and conditions of work-items as text.

use super::names::Names;
use crate::hardware::AXES;
use crate::ir::{Affine, Bound, Congruence, Loop, LoopId, Tag, Var};
use crate::polyhedra::System;
use std::collections::BTreeSet;

impl Names<'_> {
    /// The constraints of the loops with hardware tags among `within` that can fail: those that follow from the number of
    /// work-groups and work-items, the loops around, the assumptions, or the others are left out.
    pub(super) fn conditions(&self, within: &BTreeSet<LoopId>) -> Vec<Affine> {
        let is_hardware = |id: &&LoopId| self.nest.loop_at(**id).tag.is_hardware();
        let constraints = within.iter().filter(is_hardware).flat_map(|id| &self.nest.loop_at(*id).constraints);
        self.needed(&self.known(within), constraints.cloned().collect())
    }

    /// The constraints of a loop that can decide where it begins and ends.
    pub(super) fn loop_bounds(&self, id: LoopId) -> Vec<Affine> {
        self.needed(&self.known_outside(id), self.nest.loop_at(id).constraints.clone())
    }

    /// What holds wherever the loop begins.
    pub(super) fn known_outside(&self, id: LoopId) -> Vec<Affine> {
        let mut around = self.nest.closed([id]);
        around.remove(&id);
        self.known(&around)
    }

    /// The constraints without those that follow from `known` and the ones that stay.
    pub(super) fn needed(&self, known: &[Affine], mut constraints: Vec<Affine>) -> Vec<Affine> {
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

    /// What holds wherever an instruction `within` these loops may run.
    pub(super) fn known(&self, within: &BTreeSet<LoopId>) -> Vec<Affine> {
        let mut known = self.nest.assumptions.at_least_zero.clone();
        known.extend(self.branch.facts.iter().cloned());
        for &id in within {
            let (own, index) = (self.nest.loop_at(id), Affine::from(id));
            match own.tag {
                Tag::Local(axis) => {
                    known.extend([index.clone(), (-&index).plus(self.local[usize::from(axis)] - 1)]);
                }
                Tag::Group(_) => {
                    known.push(index);
                    let alone = self.nest.tagged(own.tag).count() == 1;
                    // There are as many work-groups as upper bounds allow; they begin at 0 whatever lower bounds say.
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

    /// Whether a sum is not negative where none of `known` is.
    pub(super) fn follows<'a>(&self, known: impl Iterator<Item = &'a Affine>, constraint: &Affine) -> bool {
        let mut system = System::default();
        system.at_least_zero(known.cloned());
        for (place, Congruence { size, modulus, remainder }) in self.nest.assumptions.congruences.iter().enumerate() {
            let quotient = Affine::term(Var::Floor(2 * AXES + place), *modulus);
            system.equal_zero(&Affine::from(*size) - &quotient.plus(*remainder));
        }
        system.at_least_zero([(-constraint).plus(-1)]);
        !system.may_have_points()
    }

    /// `if (...)` of conditions; nothing of none.
    pub(super) fn test(&self, conditions: &[Affine]) -> Option<String> {
        let tests: Vec<String> = conditions.iter().map(|sum| format!("{} >= 0", self.sum(sum))).collect();
        (!tests.is_empty()).then(|| format!("if ({})", tests.join(" && ")))
    }

    /// The condition of a loop whose bounds are looked up: work-items beyond the last one have nowhere to look.
    pub(super) fn loop_guard(&self, id: LoopId) -> Option<String> {
        if self.nest.depends_on_data(id) { self.test(&self.conditions(&self.nest.closed([id]))) } else { None }
    }

    /// `for (...)` over every index of a loop.
    pub(super) fn loop_head(&self, id: LoopId) -> String {
        let needed = Loop { constraints: self.loop_bounds(id), ..self.nest.loop_at(id).clone() };
        self.head(&self.index(id), &needed.lower(id), &needed.upper(id))
    }

    /// `for (int index = the greatest of lower; index <= the least of upper; index++)`.
    pub(super) fn head(&self, index: &str, lower: &[Bound], upper: &[Bound]) -> String {
        let low: Vec<String> = lower.iter().map(|bound| self.ceiling(bound)).collect();
        let (low, high) = (joined("nest_max", low, lower), self.least(upper));
        format!("for (int {index} = {low}; {index} <= {high}; {index}++)")
    }

    /// The least of upper bounds.
    pub(super) fn least(&self, upper: &[Bound]) -> String {
        joined("nest_min", upper.iter().map(|bound| self.floor(bound)).collect(), upper)
    }

    fn floor(&self, bound: &Bound) -> String {
        match (bound.divisor, bound.numerator.as_constant()) {
            (1, _) => self.sum(&bound.numerator),
            (divisor, Some(number)) => number.div_euclid(divisor).to_string(),
            (divisor, None) => format!("nest_floor({}, {divisor})", self.sum(&bound.numerator)),
        }
    }

    fn ceiling(&self, bound: &Bound) -> String {
        match (bound.divisor, bound.numerator.as_constant()) {
            (1, _) => self.sum(&bound.numerator),
            (divisor, Some(number)) => (-(-number).div_euclid(divisor)).to_string(),
            (divisor, None) => format!("-nest_floor({}, {divisor})", self.sum(&-&bound.numerator)),
        }
    }
}

/// Bounds under a function of two; constants among them become one.
fn joined(function: &str, texts: Vec<String>, bounds: &[Bound]) -> String {
    let constant = |(text, bound): (&String, &Bound)| bound.numerator.as_constant().and(text.parse::<i128>().ok());
    let constants = texts.iter().zip(bounds).filter_map(constant);
    let tightest = if function == "nest_max" { constants.max() } else { constants.min() };
    let others = texts.iter().zip(bounds).filter(|(_, bound)| bound.numerator.as_constant().is_none());
    let all = others.map(|(text, _)| text.clone()).chain(tightest.map(|number| number.to_string()));
    all.reduce(|one, other| format!("{function}({one}, {other})")).unwrap_or_else(|| "0".to_string())
}
