//! Sums of sizes and loop indices with integer coefficients.

use crate::number::gcd;
use std::ops::{Add, Neg, Sub};

/// A size of the nest, by its place in [`Nest::sizes`](super::Nest::sizes).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SizeId(pub(crate) usize);

impl SizeId {
    /// Returns its place in [`Nest::sizes`](super::Nest::sizes).
    pub fn place(self) -> usize {
        self.0
    }
}

/// A loop of the nest, by its place in [`Nest::loops`](super::Nest::loops).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LoopId(pub(crate) usize);

/// A value that a nest looks up in an array of integers, by its place in
/// [`Nest::lookups`](super::Nest::lookups).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LookupId(pub(crate) usize);

/// A variable of an affine expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Var {
    /// A size, the same for the whole run.
    Size(SizeId),
    /// The index of a loop.
    Loop(LoopId),
    /// A value that is looked up in an array.
    Lookup(LookupId),
    /// The floor of a sum of sizes divided by a constant, by its place in the table of the counter
    /// that made it.
    Floor(usize),
}

/// A sum: `constant + sum of coefficient * variable`. No coefficient is zero.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Affine {
    /// In the order of the variables. A sorted list is fast for short sums, and counting copies and
    /// compares them all the time.
    terms: Vec<(Var, i128)>,
    constant: i128,
}

impl Affine {
    /// Returns a sum without variables.
    pub fn constant(constant: i128) -> Self {
        Affine { terms: Vec::new(), constant }
    }

    /// Returns `coefficient * variable`.
    pub fn term(variable: Var, coefficient: i128) -> Self {
        let mut affine = Affine::default();
        affine.add_term(variable, coefficient);
        affine
    }

    pub(crate) fn add_term(&mut self, variable: Var, coefficient: i128) {
        match self.place(variable) {
            Ok(at) if self.terms[at].1 + coefficient == 0 => {
                self.terms.remove(at);
            }
            Ok(at) => self.terms[at].1 += coefficient,
            Err(at) if coefficient != 0 => self.terms.insert(at, (variable, coefficient)),
            Err(_) => {}
        }
    }

    /// Returns the place of a variable, or the place at which to insert it.
    fn place(&self, variable: Var) -> Result<usize, usize> {
        self.terms.binary_search_by_key(&variable, |(known, _)| *known)
    }

    /// Returns the coefficient of `variable`, or 0 if it does not occur.
    pub fn coefficient(&self, variable: Var) -> i128 {
        self.place(variable).map_or(0, |at| self.terms[at].1)
    }

    /// Returns the constant summand.
    pub fn offset(&self) -> i128 {
        self.constant
    }

    /// Returns the value of a sum without variables, otherwise `None`.
    pub fn as_constant(&self) -> Option<i128> {
        self.terms.is_empty().then_some(self.constant)
    }

    /// Returns the variables with their coefficients, sizes first.
    pub fn terms(&self) -> impl Iterator<Item = (Var, i128)> + '_ {
        self.terms.iter().copied()
    }

    /// Returns the loops that occur, in the order of their numbers.
    pub fn loops(&self) -> impl Iterator<Item = LoopId> + '_ {
        self.terms.iter().filter_map(|(variable, _)| match variable {
            Var::Loop(id) => Some(*id),
            _ => None,
        })
    }

    /// Returns the looked-up values that occur.
    pub fn lookups(&self) -> impl Iterator<Item = LookupId> + '_ {
        self.terms.iter().filter_map(|(variable, _)| match variable {
            Var::Lookup(id) => Some(*id),
            _ => None,
        })
    }

    /// Returns true if neither a loop nor a looked-up value occurs.
    pub fn is_of_sizes(&self) -> bool {
        self.loops().next().is_none() && self.lookups().next().is_none()
    }

    /// Returns true if `id` occurs.
    pub fn uses(&self, id: LoopId) -> bool {
        self.place(Var::Loop(id)).is_ok()
    }

    /// Returns the sum with every coefficient multiplied by `factor`.
    pub fn scaled(&self, factor: i128) -> Self {
        if factor == 0 {
            return Affine::default();
        }
        let terms = self.terms.iter().map(|(variable, coefficient)| (*variable, coefficient * factor)).collect();
        Affine { terms, constant: self.constant * factor }
    }

    /// Returns the sum plus a number.
    pub fn plus(&self, offset: i128) -> Self {
        Affine { terms: self.terms.clone(), constant: self.constant + offset }
    }

    /// Returns `(quotient, rest)` after dividing every coefficient by a positive number. The
    /// coefficients of the rest are from 0 to `divisor - 1`.
    pub(crate) fn divided(&self, divisor: i128) -> (Self, Self) {
        let mut quotient = Affine::constant(self.constant.div_euclid(divisor));
        self.terms().for_each(|(variable, coefficient)| quotient.add_term(variable, coefficient.div_euclid(divisor)));
        let rest = self - &quotient.scaled(divisor);
        (quotient, rest)
    }

    /// Returns the loops whose coefficients are not multiples of that of `id`, each with the period
    /// in which they become multiples. For `i` in `2*i + 3*j` these are `j` and 2.
    pub(crate) fn odd_beside(&self, id: LoopId) -> impl Iterator<Item = (LoopId, i128)> + '_ {
        let own = self.coefficient(Var::Loop(id)).abs();
        let period = move |other| (other, own / gcd(own, self.coefficient(Var::Loop(other)).abs()));
        self.loops().map(period).filter(|(_, period)| *period > 1)
    }

    /// Returns the sum without `variable`.
    pub(crate) fn without(&self, variable: Var) -> Self {
        let mut rest = self.clone();
        rest.terms.retain(|(known, _)| *known != variable);
        rest
    }

    /// Returns the sum with its loops renumbered.
    pub(crate) fn renumbered(&self, number: impl Fn(LoopId) -> LoopId) -> Self {
        let mut sum = Affine::constant(self.constant);
        for (variable, coefficient) in self.terms() {
            let variable = match variable {
                Var::Loop(id) => Var::Loop(number(id)),
                other => other,
            };
            sum.add_term(variable, coefficient);
        }
        sum
    }

    /// Returns the sum with `variable` replaced by `replacement`.
    pub fn substitute(&self, variable: Var, replacement: &Affine) -> Self {
        match self.coefficient(variable) {
            0 => self.clone(),
            coefficient => &self.without(variable) + &replacement.scaled(coefficient),
        }
    }

    /// Returns the value of the sum, given the value of every variable.
    pub fn evaluate(&self, value: impl Fn(Var) -> i128) -> i128 {
        self.terms.iter().fold(self.constant, |sum, (variable, coefficient)| sum + coefficient * value(*variable))
    }

    /// Returns the value of the sum for these sizes, in the order of the nest, with every loop at
    /// 0.
    pub fn at_sizes(&self, sizes: &[i64]) -> i128 {
        self.evaluate(|variable| match variable {
            Var::Size(id) => sizes[id.0].into(),
            Var::Loop(_) | Var::Lookup(_) | Var::Floor(_) => 0,
        })
    }
}

impl Add for &Affine {
    type Output = Affine;

    fn add(self, other: &Affine) -> Affine {
        let mut sum = self.plus(other.constant);
        for (variable, coefficient) in other.terms() {
            sum.add_term(variable, coefficient);
        }
        sum
    }
}

impl Sub for &Affine {
    type Output = Affine;

    fn sub(self, other: &Affine) -> Affine {
        self + &other.scaled(-1)
    }
}

impl Neg for &Affine {
    type Output = Affine;

    fn neg(self) -> Affine {
        self.scaled(-1)
    }
}

impl From<LoopId> for Affine {
    fn from(id: LoopId) -> Self {
        Affine::term(Var::Loop(id), 1)
    }
}

impl From<LookupId> for Affine {
    fn from(id: LookupId) -> Self {
        Affine::term(Var::Lookup(id), 1)
    }
}

impl From<SizeId> for Affine {
    fn from(id: SizeId) -> Self {
        Affine::term(Var::Size(id), 1)
    }
}

impl From<i64> for Affine {
    fn from(number: i64) -> Self {
        Affine::constant(number.into())
    }
}
