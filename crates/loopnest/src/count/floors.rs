//! Floors of sums divided by constants, each known by a number.

use crate::ir::{Affine, Assumptions, Congruence, Var};
use crate::number::gcd;
use crate::polyhedra::System;

/// Floors that bounds and counts use. A floor may use the floors before it.
#[derive(Clone, Debug)]
pub(super) struct Floors {
    /// The numerator and divisor of every floor.
    known: Vec<(Affine, i128)>,
    /// Sizes with a known remainder, each with the number of its floor divided by the modulus.
    congruences: Vec<(Congruence, usize)>,
    /// The facts about sizes and floors.
    facts: Vec<Affine>,
}

impl Floors {
    pub(super) fn new(assumptions: &Assumptions) -> Self {
        let mut floors = Floors { known: Vec::new(), congruences: Vec::new(), facts: Vec::new() };
        for rule in &assumptions.congruences {
            floors.known.push((Affine::from(rule.size), rule.modulus));
            floors.congruences.push((rule.clone(), floors.known.len() - 1));
        }
        floors.facts = assumptions.at_least_zero.iter().map(|sum| floors.known_remainders(sum)).collect();
        floors
    }

    pub(super) fn known(&self) -> &[(Affine, i128)] {
        &self.known
    }

    /// Returns the sizes with known remainders, each with the number of its floor.
    pub(super) fn congruences(&self) -> &[(Congruence, usize)] {
        &self.congruences
    }

    /// Replaces sizes with a known remainder by a multiple of a floor: `n = 16 * floor(n / 16) +
    /// 3`.
    pub(super) fn known_remainders(&self, sum: &Affine) -> Affine {
        self.congruences.iter().fold(sum.clone(), |sum, (rule, floor)| {
            let whole = Affine::term(Var::Floor(*floor), rule.modulus).plus(rule.remainder);
            sum.substitute(Var::Size(rule.size), &whole)
        })
    }

    /// Returns `floor(sum / divisor)` for a sum without loops.
    pub(super) fn divided(&mut self, sum: &Affine, divisor: i128) -> Affine {
        let (mut whole, rest) = sum.divided(divisor);
        if rest.as_constant().is_some() {
            return whole;
        }
        let common = rest.terms().fold(divisor, |common, (_, coefficient)| gcd(common, coefficient));
        let mut reduced = Affine::constant(rest.offset() / common);
        rest.terms().for_each(|(variable, coefficient)| reduced.add_term(variable, coefficient / common));
        whole.add_term(Var::Floor(self.number(reduced, divisor / common)), 1);
        whole
    }

    fn number(&mut self, numerator: Affine, divisor: i128) -> usize {
        let floor = (numerator, divisor);
        self.known.iter().position(|known| *known == floor).unwrap_or_else(|| {
            self.known.push(floor);
            self.known.len() - 1
        })
    }

    /// Returns true if the bounds leave no integer point for any sizes that satisfy the
    /// assumptions. May return false even though no point is left.
    pub(super) fn contradict(&self, bounds: &[Affine]) -> bool {
        let mut system = System::default();
        system.at_least_zero(bounds.iter().cloned());
        system.at_least_zero(self.facts.iter().cloned());
        let is_used = |number: usize| bounds.iter().any(|bound| bound.coefficient(Var::Floor(number)) != 0);
        for (number, (numerator, divisor)) in self.known.iter().enumerate() {
            if is_used(number) {
                let remainder = &self.known_remainders(numerator) - &Affine::term(Var::Floor(number), *divisor);
                system.at_least_zero([(-&remainder).plus(divisor - 1), remainder]);
            }
        }
        !system.may_have_points()
    }

    /// Returns true if `bound` is not negative wherever none of `others` is.
    pub(super) fn imply(&self, others: &[Affine], bound: &Affine) -> bool {
        let mut bounds = others.to_vec();
        bounds.push((-bound).plus(-1));
        self.contradict(&bounds)
    }
}
