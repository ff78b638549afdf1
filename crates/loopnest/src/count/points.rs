//! Counts the integer points between affine bounds symbolically.
//!
//! Loops are summed one after the other, in the order that keeps bounds integral. A loop whose
//! bounds all have coefficient 1 is summed by Faulhaber's formulas between its greatest lower and
//! its least upper bound. Each choice of these two bounds is a case. The limits of a case are
//! bounds on the other loops or, in the end, conditions on the sizes.
//!
//! Three steps prepare the bounds:
//! - Blocks of a constant length and the points within them are first joined into one loop. A split
//!   loop with its last block cut off thus counts like the original loop.
//! - If no loop has only coefficients of 1, loops are taken apart by their remainders.
//! - If that makes too many cases, loops are skewed so that bounds have small coefficients.

use super::floors::Floors;
use super::merge::{without_blocks, without_redundant};
use super::polynomial::Polynomial;
use crate::error::NestError;
use crate::ir::{Affine, LoopId, Var};
use crate::number::{gcd, lcm};
use std::collections::{BTreeMap, BTreeSet};

/// A count where its conditions hold, and 0 elsewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    /// Sums of sizes and floors that are not negative.
    pub(super) conditions: Vec<Affine>,
    /// The count, in sizes and floors.
    pub(super) count: Polynomial,
}

/// Maximum number of cases. With more, the bounds are beyond this method.
const MOST_PIECES: usize = 256;
/// Maximum number of remainders. More would make more cases than `MOST_PIECES`.
const MOST_REMAINDERS: i128 = 64;

/// Returns the number of integer points of `loops` at which no bound is negative: the sum of the
/// pieces whose conditions hold.
///
/// # Errors
///
/// Fails if a loop is unbounded or there are too many cases.
pub(super) fn count_points(bounds: &[Affine], loops: &[LoopId], floors: &mut Floors) -> Result<Vec<Piece>, NestError> {
    let mut open: BTreeSet<LoopId> = loops.iter().copied().collect();
    let Some(bounds) = without_blocks(bounds, &mut open, &mut [], floors) else { return Ok(Vec::new()) };
    let has_side = |id: &LoopId, sign: i128| bounds.iter().any(|bound| bound.coefficient(Var::Loop(*id)) * sign > 0);
    if open.iter().any(|id| !has_side(id, 1) || !has_side(id, -1)) {
        return Err(NestError::new("a loop has no bound on one side"));
    }
    let count = |skews: bool, floors: &mut Floors| {
        let mut counter = Counter { floors, skews, pieces: Vec::new() };
        counter.sum(bounds.clone(), open.clone(), Polynomial::constant(1))?;
        Ok(counter.pieces)
    };
    // Skewing comes second: it makes more cases for tiles within tiles, not fewer.
    let before = floors.clone();
    count(false, floors).or_else(|_: NestError| {
        *floors = before;
        count(true, floors)
    })
}

struct Counter<'a> {
    floors: &'a mut Floors,
    skews: bool,
    pieces: Vec<Piece>,
}

/// Returns the bounds divided by the common factor of their loops, without redundant ones. Returns
/// `None` if a bound can never hold.
pub(super) fn whole(bounds: Vec<Affine>, floors: &mut Floors) -> Option<Vec<Affine>> {
    let mut tightest: BTreeMap<Affine, i128> = BTreeMap::new();
    for bound in bounds {
        let common = bound.terms().fold(0, |common, (variable, coefficient)| match variable {
            Var::Loop(_) => gcd(common, coefficient.abs()),
            _ => common,
        });
        let bound = if common > 1 { divided(&bound, common, floors) } else { bound };
        match bound.as_constant() {
            Some(number) if number < 0 => return None,
            Some(_) => {}
            None => {
                let offset = bound.offset();
                let least = tightest.entry(bound.plus(-offset)).or_insert(offset);
                *least = offset.min(*least);
            }
        }
    }
    Some(tightest.into_iter().map(|(direction, offset)| direction.plus(offset)).collect())
}

fn divided(bound: &Affine, common: i128, floors: &mut Floors) -> Affine {
    let (mut loops, mut rest) = (Affine::default(), Affine::constant(bound.offset()));
    for (variable, coefficient) in bound.terms() {
        match variable {
            Var::Loop(_) => loops.add_term(variable, coefficient / common),
            _ => rest.add_term(variable, coefficient),
        }
    }
    &loops + &floors.divided(&rest, common)
}

impl Counter<'_> {
    fn sum(&mut self, bounds: Vec<Affine>, open: BTreeSet<LoopId>, count: Polynomial) -> Result<(), NestError> {
        let Some(bounds) = self.possible(bounds) else { return Ok(()) };
        let (bounds, count) = if self.skews { skewed(bounds, &open, count) } else { (bounds, count) };
        self.step(bounds, open, count)
    }

    /// Returns the bounds in their tightest form, or `None` if they certainly have no points.
    fn possible(&mut self, bounds: Vec<Affine>) -> Option<Vec<Affine>> {
        whole(bounds, self.floors).filter(|bounds| !self.floors.contradict(bounds))
    }

    fn step(&mut self, bounds: Vec<Affine>, open: BTreeSet<LoopId>, count: Polynomial) -> Result<(), NestError> {
        if open.is_empty() {
            return self.finish(bounds, count);
        }
        match self.next_loop(&bounds, &open) {
            Some(id) => self.sum_loop(bounds, open, count, id),
            None => self.take_apart(bounds, open, count),
        }
    }

    fn finish(&mut self, conditions: Vec<Affine>, count: Polynomial) -> Result<(), NestError> {
        if self.pieces.len() == MOST_PIECES {
            return Err(NestError::new(format!("the bounds have more than {MOST_PIECES} cases")));
        }
        let conditions = without_redundant(conditions, self.floors, |_| true);
        let count = self.floors.congruences().iter().fold(count, |count, (rule, floor)| {
            // Here floor(n / 16) is (n - remainder) / 16. This reads better and costs nothing.
            let size = Polynomial::from(&Affine::from(rule.size).plus(-rule.remainder));
            count.substitute(Var::Floor(*floor), &size.scaled(super::polynomial::Ratio::new(1, rule.modulus)))
        });
        self.pieces.push(Piece { conditions, count });
        Ok(())
    }

    /// Returns the loop whose summation makes the fewest cases, among those with only coefficients
    /// of 1.
    fn next_loop(&self, bounds: &[Affine], open: &BTreeSet<LoopId>) -> Option<LoopId> {
        let cases = |id: &LoopId| {
            let sides = |sign: i128| bounds.iter().filter(|bound| bound.coefficient(Var::Loop(*id)) * sign > 0).count();
            sides(1) * sides(-1)
        };
        let is_whole = |id: &&LoopId| bounds.iter().all(|bound| bound.coefficient(Var::Loop(**id)).abs() <= 1);
        open.iter().filter(is_whole).min_by_key(|id| cases(id)).copied()
    }

    fn sum_loop(
        &mut self,
        bounds: Vec<Affine>,
        mut open: BTreeSet<LoopId>,
        count: Polynomial,
        id: LoopId,
    ) -> Result<(), NestError> {
        let own = Var::Loop(id);
        let bounds = without_redundant(bounds, self.floors, |bound| bound.coefficient(own) != 0);
        let (with, others): (Vec<Affine>, Vec<Affine>) =
            bounds.into_iter().partition(|bound| bound.coefficient(own) != 0);
        let limits = |sign: i128| {
            let limit = move |bound: &&Affine| bound.coefficient(own) == sign;
            with.iter().filter(limit).map(|bound| bound.without(own).scaled(-sign)).collect::<Vec<_>>()
        };
        let (lower, upper) = (limits(1), limits(-1));
        if lower.is_empty() || upper.is_empty() {
            // All loops together are bounded: with one point there would be infinitely many.
            return Ok(());
        }
        open.remove(&id);
        for (at, low) in lower.iter().enumerate() {
            for (place, high) in upper.iter().enumerate() {
                let mut case = others.clone();
                case.push(high - low);
                // Of equal limits the first is taken, so that cases do not overlap.
                let tie = |other: usize, chosen: usize| -i128::from(other < chosen);
                case.extend(others_of(&lower, at).map(|(other, limit)| (low - limit).plus(tie(other, at))));
                case.extend(others_of(&upper, place).map(|(other, limit)| (limit - high).plus(tie(other, place))));
                self.sum(case, open.clone(), count.summed(own, low, high))?;
            }
        }
        Ok(())
    }

    /// Replaces loops by `period * quotient + remainder` so that some loop gets coefficients of 1.
    fn take_apart(&mut self, bounds: Vec<Affine>, open: BTreeSet<LoopId>, count: Polynomial) -> Result<(), NestError> {
        let plan = |id: &LoopId| {
            let mut odd: BTreeMap<LoopId, i128> = BTreeMap::new();
            for bound in bounds.iter().filter(|bound| bound.uses(*id)) {
                for (other, period) in bound.odd_beside(*id) {
                    odd.entry(other).and_modify(|known| *known = lcm(*known, period)).or_insert(period);
                }
            }
            let cases = odd.values().try_fold(1_i128, |cases, period| cases.checked_mul(*period));
            (cases.unwrap_or(i128::MAX), odd)
        };
        let Some((cases, odd)) = open.iter().map(plan).min_by_key(|(cases, _)| *cases) else { return Ok(()) };
        let Some((id, period)) = odd.into_iter().next().filter(|_| cases <= MOST_REMAINDERS) else {
            return Err(NestError::new("the coefficients of the bounds leave too many remainders"));
        };
        for remainder in 0..period {
            let apart = Affine::term(Var::Loop(id), period).plus(remainder);
            let bounds = bounds.iter().map(|bound| bound.substitute(Var::Loop(id), &apart)).collect();
            let Some(bounds) = self.possible(bounds) else { continue };
            // Do not skew before a loop is summed. Skewing could undo this step and so continue
            // without end.
            self.step(bounds, open.clone(), count.substitute(Var::Loop(id), &Polynomial::from(&apart)))?;
        }
        Ok(())
    }
}

/// Replaces loops by sums with others while that shrinks the coefficients of the bounds: a
/// reduction of the lattice basis of their columns. It finds the box in `0 <= 3*i - j < n and 0 <=
/// j - 2*i < n`.
fn skewed(bounds: Vec<Affine>, open: &BTreeSet<LoopId>, count: Polynomial) -> (Vec<Affine>, Polynomial) {
    let (mut bounds, mut count) = (bounds, count);
    while let Some((id, replacement)) = skew(&bounds, open) {
        bounds.iter_mut().for_each(|bound| *bound = bound.substitute(Var::Loop(id), &replacement));
        count = count.substitute(Var::Loop(id), &Polynomial::from(&replacement));
    }
    (bounds, count)
}

/// Returns a replacement that shortens the column of a loop: the loop less a multiple of a loop
/// with coefficients other than 1.
fn skew(bounds: &[Affine], open: &BTreeSet<LoopId>) -> Option<(LoopId, Affine)> {
    let is_wide = |bound: &&Affine| bound.loops().any(|id| bound.coefficient(Var::Loop(id)).abs() > 1);
    let wide: BTreeSet<LoopId> = bounds.iter().filter(is_wide).flat_map(Affine::loops).collect();
    let product = |one: LoopId, two: LoopId| -> i128 {
        bounds.iter().map(|bound| bound.coefficient(Var::Loop(one)) * bound.coefficient(Var::Loop(two))).sum()
    };
    let shorter = |own: LoopId, other: LoopId| {
        let (along, square) = (product(own, other), product(other, other).max(1));
        // The nearest integer to the projection on the other column. A half would shorten nothing.
        let times = (2 * along.abs() + square - 1) / (2 * square) * along.signum();
        let replacement = &Affine::from(other) - &Affine::term(Var::Loop(own), times);
        (times != 0).then_some((other, replacement))
    };
    wide.iter().find_map(|own| open.iter().filter(|other| *other != own).find_map(|other| shorter(*own, *other)))
}

fn others_of(limits: &[Affine], chosen: usize) -> impl Iterator<Item = (usize, &Affine)> {
    limits.iter().enumerate().filter(move |(at, _)| *at != chosen)
}
