//! Formulas of counts: read as people read them, they give the counts.

use crate::common;
use crate::steps;

use proptest::prelude::*;
use std::collections::BTreeMap;
use tunesmith_loopnest::{Nest, Property, count};

/// A number of a formula: numerator and positive denominator, in lowest terms.
type Ratio = (i128, i128);

/// Divides in lowest terms, so that long formulas do not leave the range of the numbers.
fn ratio(numerator: i128, denominator: i128) -> Ratio {
    let (mut divisor, mut rest) = (numerator, denominator);
    while rest != 0 {
        (divisor, rest) = (rest, divisor % rest);
    }
    divisor = divisor.abs() * denominator.signum();
    (numerator / divisor, denominator / divisor)
}

/// Reads a formula for given sizes, from left to right.
struct Reader<'a> {
    rest: &'a str,
    sizes: &'a BTreeMap<&'a str, i128>,
}

impl Reader<'_> {
    fn accept(&mut self, symbol: &str) -> bool {
        match self.rest.trim_start().strip_prefix(symbol) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn expect(&mut self, symbol: &str) {
        assert!(self.accept(symbol), "`{symbol}` is missing at `{}`", self.rest);
    }

    fn sum(&mut self) -> Ratio {
        let mut sum = self.product();
        loop {
            let sign = if self.accept("+") {
                1
            } else if self.accept("- ") {
                -1
            } else {
                return sum;
            };
            let (numerator, denominator) = self.product();
            sum = ratio(sum.0 * denominator + sign * numerator * sum.1, sum.1 * denominator);
        }
    }

    fn product(&mut self) -> Ratio {
        let mut product = self.power();
        loop {
            if self.accept("*") {
                let (numerator, denominator) = self.power();
                product = ratio(product.0 * numerator, product.1 * denominator);
            } else if self.accept("/") {
                let (numerator, denominator) = self.power();
                product = ratio(product.0 * denominator, product.1 * numerator);
            } else {
                return product;
            }
        }
    }

    fn power(&mut self) -> Ratio {
        if self.accept("-") {
            let (numerator, denominator) = self.power();
            return (-numerator, denominator);
        }
        let (numerator, denominator) = self.atom();
        let exponent = if self.accept("^") { self.atom().0 as u32 } else { 1 };
        (numerator.pow(exponent), denominator.pow(exponent))
    }

    fn atom(&mut self) -> Ratio {
        if self.accept("floor(") {
            let (numerator, denominator) = self.sum();
            self.expect(")");
            return (numerator.div_euclid(denominator), 1);
        }
        if self.accept("min(") {
            let one = self.sum();
            self.expect(",");
            let other = self.sum();
            self.expect(")");
            return if one.0 * other.1 <= other.0 * one.1 { one } else { other };
        }
        if self.accept("(") {
            let inner = self.sum();
            self.expect(")");
            return inner;
        }
        if self.accept("[") {
            let mut holds = true;
            loop {
                let (numerator, denominator) = self.sum();
                self.expect(">= 0");
                holds &= numerator * denominator >= 0;
                if !self.accept("and") {
                    break;
                }
            }
            self.expect("]");
            return (i128::from(holds), 1);
        }
        self.rest = self.rest.trim_start();
        let end = self.rest.find(|letter: char| !letter.is_ascii_alphanumeric()).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        (word.parse().unwrap_or_else(|_| self.sizes[word]), 1)
    }
}

fn read(formula: &str, sizes: &[i64]) -> i128 {
    let named = BTreeMap::from([("n", sizes[0].into()), ("m", sizes[1].into())]);
    let mut reader = Reader { rest: formula, sizes: &named };
    let (numerator, denominator) = reader.sum();
    assert_eq!((reader.rest, numerator % denominator), ("", 0), "{formula}");
    numerator / denominator
}

fn transformed(plan: &common::Plan, choices: Vec<[u8; 3]>) -> Nest {
    let mut nest = common::build(plan);
    for (number, choice) in choices.into_iter().enumerate() {
        let _ = steps::transformation(&nest, number, choice).apply(&mut nest, |_| None);
    }
    nest
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases / 4))]
    #[test]
    fn a_formula_gives_the_count(
        plan in common::plans(),
        choices in prop::collection::vec(any::<[u8; 3]>(), 0..3),
    ) {
        let nest = transformed(&plan, choices);
        if let Ok(counts) = count::count(&nest) {
            for sizes in [[1, 1], [2, 5], [7, 4]] {
                let formulas = counts.formulas(&sizes).unwrap();
                for ((property, count), formula) in
                    counts.properties().iter().zip(counts.evaluate(&sizes).unwrap()).zip(formulas)
                {
                    let formula = formula.unwrap();
                    prop_assert_eq!(read(&formula, &sizes), count, "{} = {} at {:?}\n{}", property, formula, sizes, nest);
                }
            }
        }
    }
}

#[test]
fn formulas_are_short_where_sizes_are_known_multiples() {
    let text = "sizes n, m\nassume n > 0, m > 0, n mod 16 = 0\narray a[n, m]: f32\n\
                {[i, j]: 0 <= i < n and 0 <= j < m}\na[i, j] = 2.0*a[i, j]\nsplit i 16 -> io, ii\ntag io group.0\ntag ii local.0";
    let nest = text.parse::<Nest>().unwrap();
    let counts = count::count(&nest).unwrap();
    let formulas = counts.formulas(&[32, 5]).unwrap();
    let of = |wanted: &str| {
        let at = counts.properties().iter().position(|own: &Property| own.to_string() == wanted).unwrap();
        formulas[at].clone().unwrap()
    };
    assert_eq!((of("op:f32:mul").as_str(), of("launch").as_str()), ("n*m", "1"));
    assert_eq!(counts.formulas(&[32]).unwrap_err().message, "1 values for the sizes n, m");
}
