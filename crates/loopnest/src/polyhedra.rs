//! Sets of integer points between affine bounds: tests for emptiness, and projections.

use crate::ir::{Affine, Var};
use crate::number::gcd;
use std::collections::BTreeMap;

/// Maximum number of bounds. Elimination gives up beyond it, because the number can square with
/// every variable. The kernels of the cost model need fewer.
const MOST_BOUNDS: usize = 80;
/// Maximum size of a coefficient. Larger ones could overflow when bounds are combined.
const LARGEST: i128 = 1 << 60;

/// A system of integer equations and inequalities over sizes and loops.
#[derive(Clone, Debug, Default)]
pub(crate) struct System {
    equal_zero: Vec<Affine>,
    at_least_zero: Vec<Affine>,
}

/// The outcome of one bound: nothing to keep, a bound, or a contradiction.
enum Normal {
    Always,
    Bound(Affine),
    Never,
}

impl System {
    pub(crate) fn at_least_zero(&mut self, bounds: impl IntoIterator<Item = Affine>) {
        self.at_least_zero.extend(bounds);
    }

    pub(crate) fn equal_zero(&mut self, sum: Affine) {
        self.equal_zero.push(sum);
    }

    /// Returns false only if no integer point exists.
    ///
    /// Solves equations in which a coefficient is 1. Eliminates inequalities by the Fourier-Motzkin
    /// method, dividing the coefficients by their common factor and rounding inwards. The cost
    /// grows fast with the number of variables that occur in many bounds. Beyond `MOST_BOUNDS`
    /// the answer is true.
    pub(crate) fn may_have_points(mut self) -> bool {
        while let Some(equation) = self.equal_zero.pop() {
            let common = common_factor(&equation);
            if common == 0 {
                if equation.offset() != 0 {
                    return false;
                }
                continue;
            }
            if equation.offset() % common != 0 {
                return false;
            }
            self.solve(&divided(&equation, common));
        }
        eliminate(with_origins(self.at_least_zero))
    }

    fn solve(&mut self, equation: &Affine) {
        match equation.terms().find(|(_, coefficient)| coefficient.abs() == 1) {
            Some((variable, sign)) => {
                let solution = equation.without(variable).scaled(-sign);
                let all = self.equal_zero.iter_mut().chain(&mut self.at_least_zero);
                all.for_each(|sum| *sum = sum.substitute(variable, &solution));
            }
            None => self.at_least_zero.extend([equation.clone(), -equation]),
        }
    }
}

fn common_factor(sum: &Affine) -> i128 {
    sum.terms().fold(0, |common, (_, coefficient)| gcd(common, coefficient.abs()))
}

/// Divides all coefficients by `common` and rounds the offset down. The result is not negative at
/// the same integer points as `sum`.
fn divided(sum: &Affine, common: i128) -> Affine {
    let mut quotient = Affine::constant(sum.offset().div_euclid(common));
    sum.terms().for_each(|(variable, coefficient)| quotient.add_term(variable, coefficient / common));
    quotient
}

/// Returns a bound in its tightest form.
fn normal(sum: &Affine) -> Normal {
    match (common_factor(sum), sum.offset()) {
        (0, offset) if offset < 0 => Normal::Never,
        (0, _) => Normal::Always,
        (1, _) => Normal::Bound(sum.clone()),
        (common, _) => Normal::Bound(divided(sum, common)),
    }
}

/// A bound, and the given bounds from which it was combined, one bit for each.
#[derive(Clone)]
struct Combined {
    bound: Affine,
    origins: u128,
}

/// Gives each bound a bit. Bounds beyond the 128th have no bit, so fewer of their combinations are
/// recognised as redundant.
fn with_origins(bounds: Vec<Affine>) -> Vec<Combined> {
    let bit = |at: usize| u32::try_from(at).ok().and_then(|at| 1_u128.checked_shl(at)).unwrap_or(0);
    bounds.into_iter().enumerate().map(|(at, bound)| Combined { bound, origins: bit(at) }).collect()
}

/// Returns the tightest bound for each direction, or `None` if two bounds contradict each other.
fn tightest(bounds: Vec<Combined>) -> Option<Vec<Combined>> {
    let mut offsets: BTreeMap<Affine, (i128, u128)> = BTreeMap::new();
    for Combined { bound, origins } in &bounds {
        match normal(bound) {
            Normal::Never => return None,
            Normal::Always => {}
            Normal::Bound(bound) => {
                let own = (bound.offset(), *origins);
                let least = offsets.entry(bound.plus(-bound.offset())).or_insert(own);
                if own.0 < least.0 || (own.0 == least.0 && own.1.count_ones() < least.1.count_ones()) {
                    *least = own;
                }
            }
        }
    }
    let contradicts = |(direction, (offset, _)): (&Affine, &(i128, u128))| {
        offsets.get(&direction.scaled(-1)).is_some_and(|(opposite, _)| offset + opposite < 0)
    };
    if offsets.iter().any(contradicts) {
        return None;
    }
    let combined =
        |(direction, (offset, origins)): (Affine, (i128, u128))| Combined { bound: direction.plus(offset), origins };
    Some(offsets.into_iter().map(combined).collect())
}

fn eliminate(bounds: Vec<Combined>) -> bool {
    let mut bounds = bounds;
    for eliminated in 1.. {
        match tightest(bounds) {
            None => return false,
            Some(tight) => bounds = tight,
        }
        let Some(variable) = cheapest(&bounds) else { return true };
        match without(bounds, variable, eliminated) {
            Some(rest) => bounds = rest,
            None => return true,
        }
    }
    true
}

/// Eliminates a variable and returns the bounds on the others, or `None` if there are too many. The
/// variable is the `eliminated`-th to be eliminated. A combination of more than `eliminated + 1`
/// given bounds follows from the others (Kohler 1967).
fn without(bounds: Vec<Combined>, variable: Var, eliminated: u32) -> Option<Vec<Combined>> {
    let (with, mut rest): (Vec<Combined>, Vec<Combined>) =
        bounds.into_iter().partition(|own| own.bound.coefficient(variable) != 0);
    let (lower, upper): (Vec<Combined>, Vec<Combined>) =
        with.into_iter().partition(|own| own.bound.coefficient(variable) > 0);
    for low in &lower {
        for high in &upper {
            let origins = low.origins | high.origins;
            if origins.count_ones() > eliminated + 1 {
                continue;
            }
            let (up, down) = (low.bound.coefficient(variable), -high.bound.coefficient(variable));
            let common = gcd(up, down);
            let bound = &low.bound.scaled(down / common) + &high.bound.scaled(up / common);
            rest.push(Combined { bound, origins });
        }
    }
    let is_large = |bound: &Affine| bound.terms().any(|(_, factor)| factor.abs() > LARGEST);
    let overflows = |own: &Combined| is_large(&own.bound) || own.bound.offset().abs() > LARGEST;
    let too_much = rest.len() > MOST_BOUNDS || rest.iter().any(overflows);
    (!too_much).then_some(rest)
}

/// Projects the variables out. Returns bounds that hold wherever some value of the variables
/// satisfies `bounds`. This shadow may contain integer points with no integer point above them.
/// Returns `None` if the bounds contradict each other or grow too many.
pub(crate) fn shadow(bounds: Vec<Affine>, variables: &[Var]) -> Option<Vec<Affine>> {
    let mut bounds = tightest(with_origins(bounds))?;
    for (variable, eliminated) in variables.iter().zip(1..) {
        bounds = tightest(without(bounds, *variable, eliminated)?)?;
    }
    Some(bounds.into_iter().map(|own| own.bound).collect())
}

/// Returns the variable whose elimination creates the fewest new bounds.
fn cheapest(bounds: &[Combined]) -> Option<Var> {
    let mut sides: BTreeMap<Var, (usize, usize)> = BTreeMap::new();
    for (variable, coefficient) in bounds.iter().flat_map(|own| own.bound.terms()) {
        let (lower, upper) = sides.entry(variable).or_default();
        *(if coefficient > 0 { lower } else { upper }) += 1;
    }
    sides.into_iter().min_by_key(|(_, (lower, upper))| lower * upper).map(|(variable, _)| variable)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::LoopId;
    use proptest::prelude::*;

    fn sum(coefficients: &[i128], offset: i128) -> Affine {
        let mut sum = Affine::constant(offset);
        for (at, coefficient) in coefficients.iter().enumerate() {
            sum.add_term(Var::Loop(LoopId(at)), *coefficient);
        }
        sum
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases * 2))]
        #[test]
        fn a_set_said_to_be_empty_has_no_point(
            bounds in prop::collection::vec((prop::array::uniform3(-4_i128..=4), -9_i128..=9), 1..6),
            equations in prop::collection::vec((prop::array::uniform3(-4_i128..=4), -9_i128..=9), 0..2),
        ) {
            let mut system = System::default();
            let sums = bounds.iter().map(|(coefficients, offset)| sum(coefficients, *offset));
            system.at_least_zero(sums.clone());
            let equal: Vec<Affine> = equations.iter().map(|(coefficients, offset)| sum(coefficients, *offset)).collect();
            equal.iter().cloned().for_each(|equation| system.equal_zero(equation));
            if !system.may_have_points() {
                for point in 0..9_i128.pow(3) {
                    let value = |variable: Var| match variable {
                        Var::Loop(id) => point / 9_i128.pow(id.0 as u32) % 9 - 4,
                        _ => 0,
                    };
                    let inside = sums.clone().all(|bound| bound.evaluate(value) >= 0)
                        && equal.iter().all(|equation| equation.evaluate(value) == 0);
                    prop_assert!(!inside);
                }
            }
        }
    }
}
