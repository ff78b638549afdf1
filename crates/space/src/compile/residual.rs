//! Carries limits as their remainders.
//!
//! A condition `e <= limit` is solved for the part of `e` that becomes known last. Addends known
//! before are subtracted from the limit, and factors known before divide it. Everything known is
//! then one number, which is compared with the rest. The number is cut off where the rest cannot
//! reach it. Example: `(x * y + t) * (u * v + t) <= 4096` carries `4096 // (x * y + t) - t` until
//! `u` is known. Then it carries this number divided by `u`, between 0 and the largest `v`.

use std::collections::BTreeMap;

use super::cell::MAGNITUDE;
use super::graph::{Graph, Id, Op};
use super::lower::Lowering;
use super::range;

/// The lowest and the highest value of a term. `high` is `None` if the value may not fit into a
/// cell.
#[derive(Clone, Copy)]
struct Ends {
    low: i128,
    high: Option<i128>,
}

impl Ends {
    fn of(graph: &Graph, id: Id) -> Option<Ends> {
        let (low, high) = graph.int_range(id)?;
        let wide = range::is_wide(graph.term(id).class);
        Some(Ends { low: low.into(), high: (!wide).then_some(high.into()) })
    }

    /// Returns the ends of a product of non-negative factors.
    fn product(parts: impl Iterator<Item = Ends>) -> Ends {
        parts.fold(Ends { low: 1, high: Some(1) }, |all, part| Ends {
            low: all.low.saturating_mul(part.low),
            high: all.high.zip(part.high).and_then(|(a, b)| a.checked_mul(b)),
        })
    }
}

/// The result of rewriting a condition `term <= bound`.
enum Step {
    /// The same condition on an operand of the term: the operand and its bound.
    Smaller(Id, Id),
    /// A term that computes the condition.
    Solved(Id),
}

impl Lowering<'_> {
    /// Lowers conditions that must all hold. Conditions that limit the same term, at any stage of
    /// their solution, become one condition with the smallest bound. The others become true.
    pub(super) fn lower_all(&mut self, roots: &[Id]) -> Vec<Id> {
        let mut lowered: Vec<Option<Id>> = vec![None; roots.len()];
        // Operands have smaller numbers than the terms that use them, so the last limit cannot be
        // met again.
        let mut limits: BTreeMap<Id, Vec<(usize, Id)>> = BTreeMap::new();
        for (index, truth) in self.all_different(roots) {
            lowered[index] = Some(truth);
        }
        for (index, &root) in roots.iter().enumerate() {
            if let Some((term, bound)) = self.as_limit(root) {
                limits.entry(term).or_default().push((index, bound));
            }
        }
        while let Some((term, bounds)) = limits.pop_last() {
            let first = bounds[0].0;
            let all: Vec<Id> = bounds.iter().map(|(_, bound)| *bound).collect();
            match self.try_fold(Op::Min, &all).and_then(|bound| self.step(term, bound)) {
                Some(Step::Smaller(term, bound)) => limits.entry(term).or_default().push((first, bound)),
                Some(Step::Solved(truth)) => lowered[first] = Some(truth),
                // Lower each one by itself.
                None => continue,
            }
            bounds[1..].iter().for_each(|(other, _)| lowered[*other] = Some(self.graph.int(1)));
        }
        roots.iter().zip(lowered).map(|(&root, lowered)| lowered.unwrap_or_else(|| self.lower(root))).collect()
    }

    /// Rewrites a condition as a limit `term <= bound`. In `known or term <= bound`, the bound is
    /// lifted if `known` is true.
    fn as_limit(&mut self, root: Id) -> Option<(Id, Id)> {
        let term = self.graph.term(root).clone();
        if term.fallible {
            return None;
        }
        match (term.op, &term.args[..]) {
            (Op::LessEqual, &[left, right]) if self.last(right) <= self.last(left) => Some((left, self.lower(right))),
            (Op::Or, args) => {
                let limit = args.iter().copied().max_by_key(|&arg| self.last(arg))?;
                if self.graph.term(limit).op != Op::LessEqual {
                    return None;
                }
                let others: Vec<Id> = args.iter().copied().filter(|&arg| arg != limit).collect();
                if others.iter().any(|&other| self.last(other) >= self.last(limit)) {
                    return None;
                }
                let (limited, bound) = self.as_limit(limit)?;
                let highest = cell(Ends::of(self.graph, limited)?.high?)?;
                let others: Vec<Id> = others.into_iter().map(|other| self.lower(other)).collect();
                let exempt = self.try_fold(Op::Or, &others)?;
                let highest = self.graph.int(highest);
                Some((limited, self.graph.apply(Op::Select, &[exempt, highest, bound])?))
            }
            _ => None,
        }
    }

    /// Solves `left <= right` for the part that becomes known last. Returns `None` if that is not
    /// possible.
    pub(super) fn solved(&mut self, left: Id, right: Id) -> Option<Id> {
        if self.graph.term(left).fallible || self.graph.term(right).fallible {
            return None;
        }
        if self.last(right) > self.last(left) {
            // left <= right is the same as not (right <= left - 1).
            let left = self.lower(left);
            let bound = self.plus(left, -1)?;
            let below = self.at_most(right, bound)?;
            return self.graph.apply(Op::Not, &[below]);
        }
        let bound = self.lower(right);
        self.at_most(left, bound)
    }

    /// Rewrites `term <= bound`. `bound` is lowered and known no later than `term`.
    fn at_most(&mut self, term: Id, bound: Id) -> Option<Id> {
        match self.step(term, bound)? {
            Step::Smaller(term, bound) => self.at_most(term, bound),
            Step::Solved(truth) => Some(truth),
        }
    }

    fn step(&mut self, term: Id, bound: Id) -> Option<Step> {
        let args = self.graph.term(term).args.clone();
        match self.graph.term(term).op {
            Op::Sum => self.sum_at_most(&args, bound),
            Op::Product => match args.iter().find_map(|&arg| self.graph.constant_of(arg)) {
                Some(..0) => self.negative_at_most(&args, bound).map(Step::Solved),
                _ => self.product_at_most(&args, bound).or_else(|| self.plain(term, bound)),
            },
            _ => self.plain(term, bound),
        }
    }

    /// Keeps `term <= bound`, but cuts off the bound.
    fn plain(&mut self, term: Id, bound: Id) -> Option<Step> {
        let term = self.lower(term);
        let ends = Ends::of(self.graph, term)?;
        let bound = self.cut(bound, ends)?;
        self.graph.apply(Op::LessEqual, &[term, bound]).map(Step::Solved)
    }

    /// Cuts off `bound` where it makes no difference against a rest between `ends`. The result is
    /// at least one below the lowest end and at most the highest end.
    fn cut(&mut self, bound: Id, ends: Ends) -> Option<Id> {
        let (low, high) = self.graph.int_range(bound)?;
        let mut bound = bound;
        if i128::from(low) < ends.low - 1 {
            let least = self.graph.int(cell(ends.low - 1)?);
            bound = self.graph.apply(Op::Max, &[bound, least])?;
        }
        match ends.high {
            Some(end) if i128::from(high) > end => {
                let most = self.graph.int(cell(end)?);
                self.graph.apply(Op::Min, &[bound, most])
            }
            _ => Some(bound),
        }
    }

    /// Moves the known part of a sum to the side of the bound, level by level.
    fn sum_at_most(&mut self, addends: &[Id], bound: Id) -> Option<Step> {
        let mut left: Vec<Id> = addends.to_vec();
        left.sort_by_key(|&addend| self.last(addend));
        let (last, mut bound, mut pending) = (self.last(*left.last()?), Some(bound), None);
        let mut at = 0;
        while at < left.len() && self.last(left[at]) < last {
            let level = self.last(left[at]);
            let end = left.partition_point(|&addend| self.last(addend) <= level);
            let lowered: Vec<Id> = left[at..end].iter().map(|&addend| self.lower(addend)).collect();
            let known = self.try_fold(Op::Sum, &lowered)?;
            let minus = self.graph.int(-1);
            let negative = self.graph.apply(Op::Product, &[minus, known])?;
            pending = Some(match pending {
                Some(before) => self.graph.apply(Op::Sum, &[before, negative])?,
                None => negative,
            });
            at = end;
            // Until the bound is known, the subtracted terms are summed up by themselves.
            if let Some(whole) = bound.filter(|&bound| self.last(bound) <= level) {
                pending = Some(self.graph.apply(Op::Sum, &[whole, pending?])?);
                bound = None;
            }
            if bound.is_none() {
                let rest = self.sum_ends(&left[at..])?;
                pending = Some(self.cut(pending?, rest)?);
            }
        }
        let bound = match (bound, pending) {
            (Some(bound), Some(pending)) => self.graph.apply(Op::Sum, &[bound, pending])?,
            (bound, pending) => bound.or(pending)?,
        };
        match left[at..] {
            [only] => Some(Step::Smaller(only, bound)),
            ref several => {
                let lowered: Vec<Id> = several.iter().map(|&addend| self.lower(addend)).collect();
                let sum = self.try_fold(Op::Sum, &lowered)?;
                self.plain(sum, bound)
            }
        }
    }

    fn sum_ends(&self, addends: &[Id]) -> Option<Ends> {
        addends.iter().try_fold(Ends { low: 0, high: Some(0) }, |all, &addend| {
            let ends = Ends::of(self.graph, addend)?;
            Some(Ends { low: all.low + ends.low, high: all.high.zip(ends.high).map(|(a, b)| a + b) })
        })
    }

    /// Divides the bound by the known factors of a product.
    fn product_at_most(&mut self, factors: &[Id], bound: Id) -> Option<Step> {
        let not_negative = |&factor: &Id| self.graph.int_range(factor).is_some_and(|(low, _)| low >= 0);
        if !factors.iter().all(not_negative) {
            return None;
        }
        let parts = self.factors(factors, bound);
        let (&last, divisors) = parts.split_last()?;
        let mut bound = bound;
        for (index, &divisor) in divisors.iter().enumerate() {
            let rest = parts[index + 1..].iter().map(|&part| Ends::of(self.graph, part));
            let rest = Ends::product(rest.collect::<Option<Vec<_>>>()?.into_iter());
            bound = self.divided(bound, divisor, rest)?;
        }
        // The factor known last may be solved further. This needs its form before lowering.
        match factors.iter().copied().find(|&factor| self.done.get(&factor) == Some(&last)) {
            Some(factor) => Some(Step::Smaller(factor, bound)),
            None => self.plain(last, bound),
        }
    }

    /// Returns the lowered factors as divisors. Factors that become known together are one divisor,
    /// if their product fits into a cell.
    fn factors(&mut self, factors: &[Id], bound: Id) -> Vec<Id> {
        let known = self.last(bound);
        let mut lowered: Vec<(Option<usize>, bool, Id)> = Vec::with_capacity(factors.len());
        for &factor in factors {
            let factor = self.lower(factor);
            // Do not divide before the bound is known.
            let span = self.levels.span(self.graph, factor);
            lowered.push((self.last(factor).max(known), span.is_some_and(|(first, last)| first != last), factor));
        }
        lowered.sort_unstable();
        let mut parts = Vec::new();
        for group in lowered.chunk_by(|a, b| a.0 == b.0) {
            let group: Vec<Id> = group.iter().map(|part| part.2).collect();
            match self.try_fold(Op::Product, &group).filter(|&id| !range::is_wide(self.graph.term(id).class)) {
                Some(factor) => parts.push(factor),
                None => parts.extend(group),
            }
        }
        parts
    }

    /// Returns the bound of a rest between `rest` that is multiplied by `divisor`. If `divisor` is
    /// 0, the product cannot exceed a non-negative bound.
    fn divided(&mut self, bound: Id, divisor: Id, rest: Ends) -> Option<Id> {
        if self.graph.int_range(divisor)?.0 >= 1 {
            let quotient = self.graph.apply(Op::FloorDivide, &[bound, divisor])?;
            return self.cut(quotient, rest);
        }
        let most = self.graph.int(cell(rest.high?)?);
        if self.graph.int_range(bound)?.0 < 0 {
            return None;
        }
        let one = self.graph.int(1);
        let at_least_one = self.graph.apply(Op::Max, &[divisor, one])?;
        let quotient = self.graph.apply(Op::FloorDivide, &[bound, at_least_one])?;
        let quotient = self.cut(quotient, rest)?;
        self.graph.apply(Op::Select, &[divisor, quotient, most])
    }

    /// Rewrites `-c * rest <= bound` as the negation of `c * rest <= -bound - 1`.
    fn negative_at_most(&mut self, factors: &[Id], bound: Id) -> Option<Id> {
        let minus = self.graph.int(-1);
        let mut positive: Vec<Id> = Vec::with_capacity(factors.len());
        for &factor in factors {
            match self.graph.constant_of(factor) {
                Some(-1) => {}
                Some(constant) => positive.push(self.graph.int(-constant)),
                None => positive.push(factor),
            }
        }
        let negative = self.graph.apply(Op::Product, &[minus, bound])?;
        let bound = self.plus(negative, -1)?;
        let step = match positive[..] {
            [only] => Step::Smaller(only, bound),
            _ => self.product_at_most(&positive, bound)?,
        };
        let below = match step {
            Step::Smaller(term, bound) => self.at_most(term, bound)?,
            Step::Solved(truth) => truth,
        };
        self.graph.apply(Op::Not, &[below])
    }

    fn plus(&mut self, id: Id, number: i64) -> Option<Id> {
        let number = self.graph.int(number);
        self.graph.apply(Op::Sum, &[id, number])
    }

    /// Returns the level at which a term is known, or `None` for a constant. `None` is less than
    /// any level.
    fn last(&mut self, id: Id) -> Option<usize> {
        self.levels.span(self.graph, id).map(|(_, last)| last)
    }
}

fn cell(number: i128) -> Option<i64> {
    i64::try_from(number).ok().filter(|number| number.unsigned_abs() < MAGNITUDE.unsigned_abs())
}
