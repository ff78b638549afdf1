//! Exact polynomials in sizes, loops and floors, with rational coefficients.

use crate::ir::{Affine, Var};
use crate::number::gcd;
use std::collections::BTreeMap;

/// `numerator / denominator` in lowest terms. The denominator is positive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ratio {
    pub(super) numerator: i128,
    pub(super) denominator: i128,
}

impl Ratio {
    pub(super) fn new(numerator: i128, denominator: i128) -> Self {
        let common = gcd(numerator.abs(), denominator.abs()).max(1) * denominator.signum();
        Ratio { numerator: numerator / common, denominator: denominator / common }
    }

    fn plus(self, other: Ratio) -> Ratio {
        let common = gcd(self.denominator, other.denominator);
        let (own, its) = (other.denominator / common, self.denominator / common);
        Ratio::new(self.numerator * own + other.numerator * its, self.denominator * own)
    }

    fn times(self, other: Ratio) -> Ratio {
        Ratio::new(self.numerator * other.numerator, self.denominator * other.denominator)
    }
}

/// Variables with their exponents, each at least 1, in order.
pub(super) type Monomial = Vec<(Var, u32)>;

/// A sum of monomials with coefficients that are not zero.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Polynomial {
    terms: BTreeMap<Monomial, Ratio>,
}

impl Polynomial {
    pub(super) fn constant(number: i128) -> Self {
        Polynomial::default().with(Monomial::new(), Ratio::new(number, 1))
    }

    fn with(mut self, monomial: Monomial, coefficient: Ratio) -> Self {
        self.add_term(monomial, coefficient);
        self
    }

    fn add_term(&mut self, monomial: Monomial, coefficient: Ratio) {
        let sum = self.terms.get(&monomial).map_or(coefficient, |known| known.plus(coefficient));
        if sum.numerator == 0 {
            self.terms.remove(&monomial);
        } else {
            self.terms.insert(monomial, sum);
        }
    }

    pub(super) fn terms(&self) -> impl Iterator<Item = (&Monomial, Ratio)> {
        self.terms.iter().map(|(monomial, coefficient)| (monomial, *coefficient))
    }

    pub(super) fn plus(&self, other: &Polynomial) -> Self {
        other.terms().fold(self.clone(), |sum, (monomial, coefficient)| sum.with(monomial.clone(), coefficient))
    }

    pub(super) fn scaled(&self, factor: Ratio) -> Self {
        self.times(&Polynomial::default().with(Monomial::new(), factor))
    }

    pub(super) fn times(&self, other: &Polynomial) -> Self {
        let mut product = Polynomial::default();
        for (one, first) in self.terms() {
            for (two, second) in other.terms() {
                product.add_term(joined(one, two), first.times(second));
            }
        }
        product
    }

    /// Returns the coefficients of the powers of a variable, from power 0. They are polynomials in
    /// the other variables.
    pub(super) fn powers_of(&self, variable: Var) -> Vec<Polynomial> {
        let mut powers: Vec<Polynomial> = Vec::new();
        for (monomial, coefficient) in self.terms() {
            let power = monomial.iter().find(|(known, _)| *known == variable).map_or(0, |(_, power)| *power as usize);
            if powers.len() <= power {
                powers.resize(power + 1, Polynomial::default());
            }
            let rest = monomial.iter().copied().filter(|(known, _)| *known != variable).collect();
            powers[power].add_term(rest, coefficient);
        }
        powers
    }

    /// Returns the polynomial with a variable replaced by another polynomial.
    pub(super) fn substitute(&self, variable: Var, replacement: &Polynomial) -> Self {
        let powers = self.powers_of(variable);
        // Horner's rule, from the highest power down.
        powers.iter().rev().fold(Polynomial::default(), |sum, power| sum.times(replacement).plus(power))
    }

    /// Returns the sum of this polynomial over `variable` from `first` to `last`, for `first <=
    /// last + 1`.
    ///
    /// Uses Faulhaber's sums of powers. As polynomials they hold for negative bounds as well.
    pub(super) fn summed(&self, variable: Var, first: &Affine, last: &Affine) -> Self {
        let (end, start) = (Polynomial::from(last), Polynomial::from(&first.plus(-1)));
        let mut sum = Polynomial::default();
        for (power, coefficient) in self.powers_of(variable).iter().enumerate() {
            let powers = power_sum(power);
            let difference = at(&powers, &end).plus(&at(&powers, &start).scaled(Ratio::new(-1, 1)));
            sum = sum.plus(&coefficient.times(&difference));
        }
        sum
    }
}

/// Returns the coefficients of the polynomial in x that is the sum of `t^power` for t from 0 to x.
///
/// They follow from `(x + 1)^(p + 1)`. This is the sum, over j up to p, of `binomial(p + 1, j)`
/// times the sum of j-th powers.
fn power_sum(power: usize) -> Vec<Ratio> {
    let mut sums: Vec<Vec<Ratio>> = Vec::new();
    for p in 0..=power {
        let degree = p as i128 + 1;
        let mut sum: Vec<Ratio> = (0..=degree).map(|j| Ratio::new(binomial(degree, j), 1)).collect();
        for (j, lower) in sums.iter().enumerate() {
            for (coefficient, known) in sum.iter_mut().zip(lower) {
                *coefficient = coefficient.plus(known.times(Ratio::new(-binomial(degree, j as i128), 1)));
            }
        }
        sums.push(sum.into_iter().map(|coefficient| coefficient.times(Ratio::new(1, degree))).collect());
    }
    sums.pop().unwrap_or_default()
}

fn binomial(n: i128, k: i128) -> i128 {
    (1..=k).fold(1, |product, step| product * (n - k + step) / step)
}

fn at(coefficients: &[Ratio], x: &Polynomial) -> Polynomial {
    let constant = |coefficient: &Ratio| Polynomial::default().with(Monomial::new(), *coefficient);
    coefficients.iter().rev().fold(Polynomial::default(), |sum, coefficient| sum.times(x).plus(&constant(coefficient)))
}

fn joined(one: &Monomial, two: &Monomial) -> Monomial {
    let mut powers: BTreeMap<Var, u32> = one.iter().copied().collect();
    for (variable, power) in two {
        *powers.entry(*variable).or_default() += power;
    }
    powers.into_iter().collect()
}

impl From<&Affine> for Polynomial {
    fn from(sum: &Affine) -> Self {
        let start = Polynomial::default().with(Monomial::new(), Ratio::new(sum.offset(), 1));
        sum.terms()
            .fold(start, |sum, (variable, coefficient)| sum.with(vec![(variable, 1)], Ratio::new(coefficient, 1)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::SizeId;

    #[test]
    fn sums_of_powers_hold_for_every_range() {
        for power in 0..6 {
            let sum = power_sum(power);
            let value = |x: i128| {
                let scale = sum.iter().fold(1, |scale, ratio| scale * ratio.denominator);
                let scaled = |at: usize| sum[at].numerator * scale / sum[at].denominator * x.pow(at as u32);
                (0..sum.len()).map(scaled).sum::<i128>() / scale
            };
            for first in -4..4_i128 {
                for last in first - 1..5 {
                    let expected: i128 = (first..=last).map(|t| t.pow(power as u32)).sum();
                    assert_eq!(value(last) - value(first - 1), expected, "power {power} from {first} to {last}");
                }
            }
        }
    }

    #[test]
    fn a_polynomial_takes_another_in_the_place_of_a_variable() {
        let [x, y] = [0, 1].map(|at| Var::Size(SizeId(at)));
        let square = Polynomial::from(&Affine::term(x, 1)).times(&Polynomial::from(&Affine::term(x, 2).plus(1)));
        let shifted = square.substitute(x, &Polynomial::from(&Affine::term(y, 1).plus(-1)));
        // (y - 1) (2 (y - 1) + 1) = 2 y^2 - 3 y + 1
        let powers: Vec<Polynomial> = [1, -3, 2].map(Polynomial::constant).to_vec();
        assert_eq!(shifted.powers_of(y), powers);
    }
}
