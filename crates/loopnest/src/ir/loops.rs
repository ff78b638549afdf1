//! Loops: their bounds and the way in which they are run.

use super::affine::{Affine, LoopId, Var};
use crate::error::Place;

/// The way in which the iterations of a loop are run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tag {
    /// One after the other.
    #[default]
    Sequential,
    /// One after the other, unrolled. The number of iterations must be constant.
    Unroll,
    /// By the lanes of one instruction. The number of iterations must be constant.
    Vector,
    /// By threads, in any order.
    Parallel,
    /// By the work-groups along an axis.
    Group(u8),
    /// By the work-items of a work-group along an axis. Axis 0 is the axis of the SIMD lanes.
    Local(u8),
}

impl Tag {
    /// Returns true if work-groups or work-items run the loop.
    pub fn is_hardware(self) -> bool {
        matches!(self, Tag::Group(_) | Tag::Local(_))
    }
}

/// A loop: its name, its bounds, and the way in which it is run.
#[derive(Clone, Debug, PartialEq)]
pub struct Loop {
    /// Its name, an identifier.
    pub name: String,
    /// Sums that are not negative at every point of the loop. Each contains this loop and otherwise
    /// only outer loops.
    pub constraints: Vec<Affine>,
    /// The way in which it is run.
    pub tag: Tag,
    /// The place of its declaration.
    pub place: Option<Place>,
}

/// `index >= ceil(numerator / divisor)` or `index <= floor(numerator / divisor)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bound {
    /// A sum of sizes and outer loops.
    pub numerator: Affine,
    /// At least 1.
    pub divisor: i128,
}

impl Loop {
    fn bounds(&self, id: LoopId, sign: i128) -> Vec<Bound> {
        let own = |constraint: &&Affine| constraint.coefficient(Var::Loop(id)) * sign > 0;
        let bound = |constraint: &Affine| Bound {
            numerator: constraint.without(Var::Loop(id)).scaled(-sign),
            divisor: constraint.coefficient(Var::Loop(id)) * sign,
        };
        self.constraints.iter().filter(own).map(bound).collect()
    }

    /// Returns the lower bounds. The index is at least `ceil(numerator / divisor)` for each of
    /// them.
    pub fn lower(&self, id: LoopId) -> Vec<Bound> {
        self.bounds(id, 1)
    }

    /// Returns the upper bounds. The index is at most `floor(numerator / divisor)` for each of
    /// them.
    pub fn upper(&self, id: LoopId) -> Vec<Bound> {
        self.bounds(id, -1)
    }

    /// Returns the first and the last index, given the values of sizes and outer loops. The loop is
    /// empty if the last is less than the first.
    pub fn range(&self, id: LoopId, value: impl Fn(Var) -> i128) -> (i128, i128) {
        let low = |bound: Bound| -(-bound.numerator.evaluate(&value)).div_euclid(bound.divisor);
        let high = |bound: Bound| bound.numerator.evaluate(&value).div_euclid(bound.divisor);
        let first = self.lower(id).into_iter().map(low).max().unwrap_or(0);
        (first, self.upper(id).into_iter().map(high).min().unwrap_or(first - 1))
    }
}
