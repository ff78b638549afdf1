//! Bounds of conditions before all their parameters have values.
//!
//! The bounds of a term at a level are terms themselves, made of known terms. Example: if only some
//! factors of a product are known, it lies between the known part times the smallest possible rest
//! and the known part times the largest possible rest. A condition whose upper bound is false
//! excludes the value. A condition whose lower bound is true needs no further check.

use crate::hash::Map;

use super::graph::{Graph, Id, Op};
use super::lower::Levels;

/// Finds bounds of terms.
pub(crate) struct Bounds<'a> {
    pub(crate) graph: &'a mut Graph,
    pub(crate) levels: &'a mut Levels,
    pub(crate) level: usize,
    pub(crate) done: Map<Id, Option<(Id, Id)>>,
}

impl Bounds<'_> {
    /// Returns two terms that bound `id` and are known once the level has a value, or `None` if
    /// there are none.
    pub(crate) fn of(&mut self, id: Id) -> Option<(Id, Id)> {
        if let Some(&bounds) = self.done.get(&id) {
            return bounds;
        }
        let bounds = self.find(id);
        self.done.insert(id, bounds);
        bounds
    }

    fn find(&mut self, id: Id) -> Option<(Id, Id)> {
        if self.graph.term(id).fallible {
            return None;
        }
        if self.levels.known(self.graph, id, self.level) {
            return Some((id, id));
        }
        if self.levels.unknown(self.graph, id, self.level) {
            return self.range(id);
        }
        let term = self.graph.term(id).clone();
        let bounds = match term.op {
            Op::Sum | Op::Product | Op::FloorDivide => self.chain(term.op, id),
            Op::Min | Op::Max | Op::And | Op::Or => {
                let (a, b) = (self.of(term.args[0])?, self.of(term.args[1])?);
                self.both(term.op, [a.0, b.0], [a.1, b.1])
            }
            Op::Not => {
                let (low, high) = self.of(term.args[0])?;
                self.both(Op::Not, [high], [low])
            }
            Op::LessEqual => {
                let (a, b) = (self.of(term.args[0])?, self.of(term.args[1])?);
                Some((self.less_equal(a.1, b.0)?, self.less_equal(a.0, b.1)?))
            }
            Op::Equal => {
                let (a, b) = (self.of(term.args[0])?, self.of(term.args[1])?);
                let (below, above) = (self.less_equal(a.0, b.1)?, self.less_equal(b.0, a.1)?);
                Some((self.graph.int(0), self.graph.apply(Op::And, &[below, above])?))
            }
            Op::Select => self.select(&term.args),
            _ => None,
        };
        bounds.or_else(|| self.range(id))
    }

    fn range(&mut self, id: Id) -> Option<(Id, Id)> {
        let (low, high) = self.graph.int_range(id)?;
        Some((self.graph.int(low), self.graph.int(high)))
    }

    fn both<const N: usize>(&mut self, op: Op, low: [Id; N], high: [Id; N]) -> Option<(Id, Id)> {
        Some((self.graph.apply(op, &low)?, self.graph.apply(op, &high)?))
    }

    /// Bounds a chain: combines its known beginning once with the range of everything unknown at
    /// its end.
    fn chain(&mut self, op: Op, id: Id) -> Option<(Id, Id)> {
        let neutral = i128::from(op != Op::Sum);
        let (mut low, mut high) = (neutral, neutral);
        let mut beginning = id;
        loop {
            let term = self.graph.term(beginning).clone();
            if term.op != op || self.levels.known(self.graph, beginning, self.level) {
                break;
            }
            if !self.levels.unknown(self.graph, term.args[1], self.level) {
                return self.pair(op, &term.args, low, high);
            }
            let range = self.graph.int_range(term.args[1])?;
            if op != Op::Sum && range.0 < 0 {
                return None;
            }
            let (a, b) = (i128::from(range.0), i128::from(range.1));
            (low, high) = if op == Op::Sum { (low + a, high + b) } else { (low.checked_mul(a)?, high.checked_mul(b)?) };
            beginning = term.args[0];
        }
        let bounds = self.of(beginning)?;
        self.combine(op, bounds, low, high)
    }

    /// Bounds a link whose two operands are both partly known.
    fn pair(&mut self, op: Op, args: &[Id], low: i128, high: i128) -> Option<(Id, Id)> {
        let (a, b) = (self.of(args[0])?, self.of(args[1])?);
        let positive =
            |id: Id| self.graph.int_range(id).is_some_and(|(low, _)| low >= i64::from(op == Op::FloorDivide));
        let non_negative = |id: Id| self.graph.int_range(id).is_some_and(|(low, _)| low >= 0);
        let bounds = match op {
            Op::Sum => self.both(op, [a.0, b.0], [a.1, b.1])?,
            Op::Product if non_negative(a.0) && non_negative(b.0) => self.both(op, [a.0, b.0], [a.1, b.1])?,
            Op::FloorDivide if non_negative(a.0) && positive(b.0) => self.both(op, [a.0, b.1], [a.1, b.0])?,
            _ => return None,
        };
        self.combine(op, bounds, low, high)
    }

    /// Combines the bounds of the beginning with an end between `low` and `high`.
    fn combine(&mut self, op: Op, bounds: (Id, Id), low: i128, high: i128) -> Option<(Id, Id)> {
        let (low, high) = (i64::try_from(low).ok()?, i64::try_from(high).ok()?);
        if op != Op::Sum && self.graph.int_range(bounds.0)?.0 < 0 {
            return None;
        }
        if op == Op::FloorDivide && low < 1 {
            return None;
        }
        let ends = if op == Op::FloorDivide { [high, low] } else { [low, high] };
        Some((self.with(op, bounds.0, ends[0])?, self.with(op, bounds.1, ends[1])?))
    }

    fn with(&mut self, op: Op, id: Id, end: i64) -> Option<Id> {
        if end == i64::from(op != Op::Sum) {
            return Some(id);
        }
        let end = self.graph.int(end);
        self.graph.apply(op, &[id, end])
    }

    /// Returns `a <= b`. Writes `c <= t // d` as `c * d <= t`, without the division.
    fn less_equal(&mut self, a: Id, b: Id) -> Option<Id> {
        let term = self.graph.term(b);
        if let (Some(low), Op::FloorDivide, &[dividend, divisor]) = (self.graph.constant_of(a), term.op, &term.args[..])
            && let Some(divisor) = self.graph.constant_of(divisor).filter(|&divisor| divisor > 0)
            && let Some(limit) = low.checked_mul(divisor)
        {
            let limit = self.graph.int(limit);
            return self.graph.apply(Op::LessEqual, &[limit, dividend]);
        }
        self.graph.apply(Op::LessEqual, &[a, b])
    }

    fn select(&mut self, args: &[Id]) -> Option<(Id, Id)> {
        let (then, otherwise) = (self.of(args[1])?, self.of(args[2])?);
        if self.levels.known(self.graph, args[0], self.level) {
            return self.both(Op::Select, [args[0], then.0, otherwise.0], [args[0], then.1, otherwise.1]);
        }
        let low = self.graph.apply(Op::Min, &[then.0, otherwise.0])?;
        Some((low, self.graph.apply(Op::Max, &[then.1, otherwise.1])?))
    }
}
