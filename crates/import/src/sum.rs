//! Integer expressions as polynomials in names.

use std::collections::BTreeMap;
use std::fmt;

/// Maximum number of products of names. An index has a few.
const MOST_TERMS: usize = 100;

/// Maximum size of a coefficient: that of the numbers in nests.
const LARGEST: u128 = i64::MAX as u128;

/// A polynomial in names with integer coefficients. No coefficient is zero.
///
/// Arithmetic returns `None` for a sum of more than [`MOST_TERMS`], or with a coefficient beyond 64 bits.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Sum {
    /// The coefficient of each product of names. The names of a product are sorted.
    terms: BTreeMap<Vec<String>, i128>,
}

impl Sum {
    pub(crate) fn constant(value: i128) -> Self {
        Self::of(Vec::new(), value)
    }

    pub(crate) fn name(name: &str) -> Self {
        Self::of(vec![name.to_string()], 1)
    }

    fn of(names: Vec<String>, coefficient: i128) -> Self {
        let terms = if coefficient == 0 { BTreeMap::new() } else { BTreeMap::from([(names, coefficient)]) };
        Self { terms }
    }

    fn bounded(mut terms: BTreeMap<Vec<String>, i128>) -> Option<Self> {
        terms.retain(|_, coefficient| *coefficient != 0);
        let is_small = |coefficient: &i128| coefficient.unsigned_abs() <= LARGEST;
        (terms.len() <= MOST_TERMS && terms.values().all(is_small)).then_some(Self { terms })
    }

    pub(crate) fn plus(&self, other: &Sum) -> Option<Self> {
        let mut terms = self.terms.clone();
        for (names, coefficient) in &other.terms {
            let own = terms.entry(names.clone()).or_default();
            *own = own.checked_add(*coefficient)?;
        }
        Self::bounded(terms)
    }

    pub(crate) fn minus(&self, other: &Sum) -> Option<Self> {
        self.plus(&other.times(&Sum::constant(-1))?)
    }

    pub(crate) fn times(&self, other: &Sum) -> Option<Self> {
        let mut terms: BTreeMap<Vec<String>, i128> = BTreeMap::new();
        for (one, a) in &self.terms {
            for (two, b) in &other.terms {
                let mut names: Vec<String> = one.iter().chain(two).cloned().collect();
                names.sort_unstable();
                let own = terms.entry(names).or_default();
                *own = own.checked_add(a.checked_mul(*b)?)?;
            }
        }
        Self::bounded(terms)
    }

    /// Returns the polynomial with a name replaced.
    pub(crate) fn with(&self, name: &str, value: &Sum) -> Option<Self> {
        let mut result = Sum::default();
        for (names, coefficient) in &self.terms {
            let (replaced, kept): (Vec<&String>, Vec<&String>) = names.iter().partition(|known| *known == name);
            let kept = Self::of(kept.into_iter().cloned().collect(), *coefficient);
            result = result.plus(&replaced.iter().try_fold(kept, |product, _| product.times(value))?)?;
        }
        Some(result)
    }

    pub(crate) fn as_constant(&self) -> Option<i128> {
        match self.terms.len() {
            0 => Some(0),
            _ => self
                .terms
                .iter()
                .next()
                .filter(|(names, _)| self.terms.len() == 1 && names.is_empty())
                .map(|own| *own.1),
        }
    }

    /// Returns true if no two names are multiplied.
    pub(crate) fn is_affine(&self) -> bool {
        self.terms.keys().all(|names| names.len() <= 1)
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.terms.keys().flatten().map(String::as_str)
    }

    /// Returns the coefficient of a single name.
    pub(crate) fn coefficient(&self, name: &str) -> i128 {
        self.terms.get([name.to_string()].as_slice()).copied().unwrap_or(0)
    }

    /// Returns true if the value cannot be negative while every name is at least 1.
    pub(crate) fn is_at_least_zero(&self) -> bool {
        let is_growing = self.terms.iter().all(|(names, coefficient)| names.is_empty() || *coefficient > 0);
        is_growing && self.terms.values().sum::<i128>() >= 0
    }

    /// Returns true if it is one name or a number, so that it can be a factor as it stands.
    pub(crate) fn is_one(&self) -> bool {
        match self.terms.iter().next() {
            None => true,
            Some((names, coefficient)) => {
                self.terms.len() == 1
                    && (names.is_empty() && *coefficient >= 0 || names.len() == 1 && *coefficient == 1)
            }
        }
    }
}

impl fmt::Display for Sum {
    /// Writes the sum as nests write it. Constants come last.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.terms.is_empty() {
            return write!(formatter, "0");
        }
        let (numbers, products): (Vec<_>, Vec<_>) = self.terms.iter().partition(|(names, _)| names.is_empty());
        // A sum reads best if it does not begin with a sign.
        let (positive, negative): (Vec<_>, Vec<_>) =
            products.into_iter().partition(|(_, coefficient)| **coefficient > 0);
        for (at, (names, coefficient)) in positive.into_iter().chain(negative).chain(numbers).enumerate() {
            match (at, *coefficient < 0) {
                (0, true) => write!(formatter, "-")?,
                (0, false) => {}
                (_, true) => write!(formatter, " - ")?,
                (_, false) => write!(formatter, " + ")?,
            }
            let size = coefficient.abs();
            match (names.is_empty(), size) {
                (true, _) => write!(formatter, "{size}")?,
                (false, 1) => write!(formatter, "{}", names.join("*"))?,
                (false, _) => write!(formatter, "{size}*{}", names.join("*"))?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn value(sum: &Sum, x: i128, y: i128) -> i128 {
        let of = |name: &String| if name == "x" { x } else { y };
        sum.terms.iter().map(|(names, coefficient)| coefficient * names.iter().map(of).product::<i128>()).sum()
    }

    fn sums() -> impl Strategy<Value = Sum> {
        let leaf = prop_oneof![(-5i128..5).prop_map(Sum::constant), Just(Sum::name("x")), Just(Sum::name("y"))];
        // Of degree 4 at most, so that a sum of sums stays within the range of the oracle.
        leaf.prop_recursive(2, 4, 2, |part| {
            (part.clone(), part, 0..3).prop_map(|(a, b, kind)| {
                let made = match kind {
                    0 => a.plus(&b),
                    1 => a.minus(&b),
                    _ => a.times(&b),
                };
                made.expect("the numbers are small")
            })
        })
    }

    proptest! {
        #[test]
        fn arithmetic_is_that_of_the_values(a in sums(), b in sums(), x in -9i128..9, y in -9i128..9) {
            let of = |sum: &Sum| value(sum, x, y);
            prop_assert_eq!(of(&a.plus(&b).unwrap()), of(&a) + of(&b));
            prop_assert_eq!(of(&a.minus(&b).unwrap()), of(&a) - of(&b));
            prop_assert_eq!(of(&a.times(&b).unwrap()), of(&a) * of(&b));
            prop_assert_eq!(of(&a.with("x", &b).unwrap()), value(&a, of(&b), y));
        }
    }

    #[test]
    fn what_leaves_64_bits_or_has_too_many_terms_is_refused() {
        let large = Sum::constant(i64::MAX.into());
        assert_eq!(large.plus(&Sum::constant(1)), None);
        assert_eq!(large.times(&large), None);
        assert_eq!(Sum::constant(i128::MAX).plus(&Sum::constant(1)), None);
        assert_eq!(Sum::constant(i128::MIN).times(&Sum::constant(-1)), None);
        let names = ["a", "b", "c", "d", "e"].map(Sum::name);
        let sum = names.iter().fold(Sum::default(), |sum, name| sum.plus(name).unwrap());
        let powers = (0..40).try_fold(sum.clone(), |power, _| power.times(&sum));
        assert_eq!(powers, None);
    }

    #[test]
    fn sums_are_written_as_in_nests() {
        let (i, n) = (Sum::name("i"), Sum::name("n"));
        let two = Sum::constant(2);
        let doubled = two.times(&i).unwrap();
        assert_eq!(n.minus(&doubled).and_then(|sum| sum.minus(&Sum::constant(3))).unwrap().to_string(), "n - 2*i - 3");
        assert_eq!(i.minus(&i).unwrap().to_string(), "0");
        assert!(!i.times(&n).unwrap().is_affine() && n.is_one() && !n.plus(&two).unwrap().is_one());
    }
}
