//! Whether affine bounds leave any point.

use super::gcd;
use crate::ir::{Affine, Var};
use std::collections::BTreeMap;

/// Elimination gives up beyond this many bounds: the number can square with every variable.
const MOST_BOUNDS: usize = 600;
/// Larger coefficients could overflow when they are combined.
const LARGEST: i128 = 1 << 60;

/// Equations and inequalities over sizes and loops, all integers.
#[derive(Clone, Debug, Default)]
pub(crate) struct System {
    equal_zero: Vec<Affine>,
    at_least_zero: Vec<Affine>,
}

/// What became of one bound: nothing to keep, a bound, or none can hold.
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

    /// False only where no integer point exists.
    ///
    /// Equations are solved where a coefficient is 1, inequalities by Fourier-Motzkin elimination with coefficients
    /// divided by their common factor and rounded inwards. Cost grows fast with the number of variables that stand in
    /// many bounds; beyond a limit the answer is true.
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
        eliminate(self.at_least_zero)
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

/// All coefficients divided by `common`, the offset rounded down: the same integer points are not negative.
fn divided(sum: &Affine, common: i128) -> Affine {
    let mut quotient = Affine::constant(sum.offset().div_euclid(common));
    sum.terms().for_each(|(variable, coefficient)| quotient.add_term(variable, coefficient / common));
    quotient
}

/// A bound in its tightest form.
fn normal(sum: &Affine) -> Normal {
    match (common_factor(sum), sum.offset()) {
        (0, offset) if offset < 0 => Normal::Never,
        (0, _) => Normal::Always,
        (1, _) => Normal::Bound(sum.clone()),
        (common, _) => Normal::Bound(divided(sum, common)),
    }
}

/// The tightest bound for each direction, or nothing where two contradict.
fn tightest(bounds: Vec<Affine>) -> Option<Vec<Affine>> {
    let mut offsets: BTreeMap<Affine, i128> = BTreeMap::new();
    for bound in &bounds {
        match normal(bound) {
            Normal::Never => return None,
            Normal::Always => {}
            Normal::Bound(bound) => {
                let offset = bound.offset();
                let least = offsets.entry(bound.plus(-offset)).or_insert(offset);
                *least = offset.min(*least);
            }
        }
    }
    let contradicts = |(direction, offset): (&Affine, &i128)| {
        offsets.get(&direction.scaled(-1)).is_some_and(|opposite| offset + opposite < 0)
    };
    if offsets.iter().any(contradicts) {
        return None;
    }
    Some(offsets.into_iter().map(|(direction, offset)| direction.plus(offset)).collect())
}

fn eliminate(bounds: Vec<Affine>) -> bool {
    let mut bounds = bounds;
    loop {
        match tightest(bounds) {
            None => return false,
            Some(tight) => bounds = tight,
        }
        let Some(variable) = cheapest(&bounds) else { return true };
        match without(bounds, variable) {
            Some(rest) => bounds = rest,
            None => return true,
        }
    }
}

/// What bounds say of the other variables; nothing where too many bounds come out.
fn without(bounds: Vec<Affine>, variable: Var) -> Option<Vec<Affine>> {
    let (with, mut rest): (Vec<Affine>, Vec<Affine>) =
        bounds.into_iter().partition(|bound| bound.coefficient(variable) != 0);
    let (lower, upper): (Vec<Affine>, Vec<Affine>) =
        with.into_iter().partition(|bound| bound.coefficient(variable) > 0);
    for low in &lower {
        for high in &upper {
            let (up, down) = (low.coefficient(variable), -high.coefficient(variable));
            let common = gcd(up, down);
            rest.push(&low.scaled(down / common) + &high.scaled(up / common));
        }
    }
    let is_large = |bound: &Affine| bound.terms().any(|(_, factor)| factor.abs() > LARGEST);
    let too_much =
        rest.len() > MOST_BOUNDS || rest.iter().any(|bound| is_large(bound) || bound.offset().abs() > LARGEST);
    (!too_much).then_some(rest)
}

/// Bounds that hold wherever some value of the variables satisfies `bounds`: their shadow, which may contain integer
/// points above which there is none. Nothing where the bounds contradict each other or grow too many.
pub(crate) fn shadow(bounds: Vec<Affine>, variables: &[Var]) -> Option<Vec<Affine>> {
    let mut bounds = tightest(bounds)?;
    for variable in variables {
        bounds = tightest(without(bounds, *variable)?)?;
    }
    Some(bounds)
}

/// The variable whose elimination makes the fewest new bounds.
fn cheapest(bounds: &[Affine]) -> Option<Var> {
    let mut sides: BTreeMap<Var, (usize, usize)> = BTreeMap::new();
    for (variable, coefficient) in bounds.iter().flat_map(Affine::terms) {
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
        #![proptest_config(ProptestConfig::with_cases(500))]
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
