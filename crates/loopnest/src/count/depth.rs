//! Depths between values: sums, maxima and numbers of iterations.

use super::chain::Origin;
use super::factors::{Factors, Product};
use crate::error::NestError;
use crate::ir::{LoopId, Nest};
use std::collections::BTreeSet;
use std::rc::Rc;

/// Loops whose points are counted together.
pub(super) type Loops = BTreeSet<LoopId>;

/// The depth from one value to another, in a nest whose loops all run at least once.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Weight {
    Number(i128),
    Sum(Rc<Weight>, Rc<Weight>),
    Most(Rc<Weight>, Rc<Weight>),
    /// The iterations of loops times a step: the growth of a value.
    Times(Loops, Rc<Weight>, Origin),
    /// A depth that enters a value in one of the first iterations and grows with it in the others.
    Entered(Rc<Entered>),
}

/// `enter + (iterations - 1 - late) * step`, if there are that many iterations.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Entered {
    loops: Loops,
    late: i128,
    enter: Weight,
    step: Weight,
    /// The value that grows.
    by: Origin,
}

impl Weight {
    pub(super) fn plus(&self, other: &Weight) -> Weight {
        match (self, other) {
            (Weight::Number(one), Weight::Number(two)) => Weight::Number(one + two),
            (Weight::Number(0), weight) | (weight, Weight::Number(0)) => weight.clone(),
            _ => Weight::Sum(Rc::new(self.clone()), Rc::new(other.clone())),
        }
    }

    pub(super) fn most(one: Weight, two: Weight) -> Weight {
        match (&one, &two) {
            (Weight::Number(first), Weight::Number(second)) => Weight::Number(*first.max(second)),
            _ if one == two => one,
            _ => Weight::Most(Rc::new(one), Rc::new(two)),
        }
    }

    /// Returns this weight in every iteration of a loop, as the growth of `by`.
    pub(super) fn times(&self, id: LoopId, by: &Origin) -> Weight {
        Weight::Times(Loops::from([id]), Rc::new(self.clone()), by.clone())
    }

    pub(super) fn entered(id: LoopId, enter: Weight, late: i128, by: Origin, step: Weight) -> Weight {
        if late == 0 && step == Weight::Number(0) {
            return enter;
        }
        Weight::Entered(Rc::new(Entered { loops: Loops::from([id]), late, enter, step, by }))
    }

    /// Returns true if it has loops whose length depends on the loop `id`.
    pub(super) fn depends_on(&self, id: LoopId, nest: &Nest) -> bool {
        let open = |loops: &Loops| !loops.contains(&id) && nest.closed(loops.iter().copied()).contains(&id);
        match self {
            Weight::Number(_) => false,
            Weight::Sum(one, two) | Weight::Most(one, two) => one.depends_on(id, nest) || two.depends_on(id, nest),
            Weight::Times(loops, step, _) => open(loops) || step.depends_on(id, nest),
            Weight::Entered(own) => open(&own.loops) || own.enter.depends_on(id, nest) || own.step.depends_on(id, nest),
        }
    }

    /// Joins the loop `id` to the loops whose length depends on it.
    ///
    /// `goes_on` must hold for each of them: the value that grows in them by a step continues to
    /// grow from one iteration of `id` to the next. Otherwise returns `None`.
    pub(super) fn spread_over(
        &self,
        id: LoopId,
        nest: &Nest,
        goes_on: &impl Fn(&Origin, &Loops, &Weight) -> bool,
    ) -> Option<Weight> {
        if !self.depends_on(id, nest) {
            return Some(self.clone());
        }
        let part = |part: &Weight| part.spread_over(id, nest, goes_on).map(Rc::new);
        let joined = |loops: &Loops| loops.iter().copied().chain([id]).collect::<Loops>();
        match self {
            Weight::Number(_) => Some(self.clone()),
            Weight::Sum(one, two) => Some(Weight::Sum(part(one)?, part(two)?)),
            Weight::Most(one, two) => Some(Weight::Most(part(one)?, part(two)?)),
            Weight::Times(loops, step, by) => {
                let fits = !step.depends_on(id, nest) && goes_on(by, loops, step);
                fits.then(|| Weight::Times(joined(loops), step.clone(), by.clone()))
            }
            Weight::Entered(own) => {
                let inner = own.enter.depends_on(id, nest) || own.step.depends_on(id, nest);
                let fits = !inner && goes_on(&own.by, &own.loops, &own.step);
                let spread = || Entered { loops: joined(&own.loops), ..(**own).clone() };
                fits.then(|| Weight::Entered(Rc::new(spread())))
            }
        }
    }
}

/// A weight that is ready to be evaluated.
#[derive(Clone, Debug)]
pub(super) enum Depth {
    Number(i128),
    Sum(Box<[Depth; 2]>),
    Most(Box<[Depth; 2]>),
    Times(Product, Box<Depth>),
    Entered { trips: Product, late: i128, parts: Box<[Depth; 2]> },
}

/// Depth of a path that does not exist. No sum of depths makes it positive.
const NEVER: i128 = i128::MIN / 4;

impl Depth {
    /// Compiles a weight.
    ///
    /// # Errors
    ///
    /// Fails if iterations cannot be counted.
    pub(super) fn new(weight: &Weight, nest: &Nest, factors: &mut Factors) -> Result<Self, NestError> {
        let mut both = |one: &Weight, two: &Weight| {
            Ok(Box::new([Depth::new(one, nest, factors)?, Depth::new(two, nest, factors)?]))
        };
        Ok(match weight {
            Weight::Number(number) => Depth::Number(*number),
            Weight::Sum(one, two) => Depth::Sum(both(one, two)?),
            Weight::Most(one, two) => Depth::Most(both(one, two)?),
            Weight::Times(loops, step, _) => {
                let step = Box::new(Depth::new(step, nest, factors)?);
                Depth::Times(factors.points(nest, loops)?, step)
            }
            Weight::Entered(own) => {
                let parts = both(&own.enter, &own.step)?;
                Depth::Entered { trips: factors.points(nest, &own.loops)?, late: own.late, parts }
            }
        })
    }

    /// Returns its value, given the values of the factors, or `None` if it exceeds 128 bits.
    pub(super) fn at(&self, factors: &[i128]) -> Option<i128> {
        match self {
            Depth::Number(number) => Some(*number),
            Depth::Sum(parts) => parts[0].at(factors)?.checked_add(parts[1].at(factors)?),
            Depth::Most(parts) => Some(parts[0].at(factors)?.max(parts[1].at(factors)?)),
            Depth::Times(trips, step) => trips.at(factors)?.checked_mul(step.at(factors)?),
            Depth::Entered { trips, late, parts } => match trips.at(factors)? - 1 - late {
                others if others < 0 => Some(NEVER),
                others => parts[0].at(factors)?.checked_add(others.checked_mul(parts[1].at(factors)?)?),
            },
        }
    }
}
