//! The operations for which a processor waits that runs a work-item in program order and looks
//! ahead a bounded number of operations.
//!
//! The longest chain of a work-item is the time of a machine that looks ahead without bound. A real
//! processor waits for each sum of a row before it comes to the next row, although the rows are
//! independent. Therefore the chains of all iterations of an outer loop add up here, each less the
//! operations that the processor sees ahead when the chain begins.

use super::compiled::{Counts, overflow};
use super::depth::Loops;
use super::factors::{Factors, Product};
use super::length::Length;
use super::modern::refuse_data;
use super::operations::fused_part;
use super::property::Property;
use super::recurrence::{Body, PERIOD};
use super::runs::runs_within;
use crate::error::NestError;
use crate::ir::{Access, Expr, Instruction, LoopId, Nest, Operation, Type, Var};
use crate::schedule::{Step, runs, tree};
use std::collections::{BTreeMap, BTreeSet};

/// A value that one instruction takes from another, by their numbers and the place of the load.
pub(super) type Link = (usize, usize, usize);

/// Dependent operations in iterations of loops: `runs * step / iterations - starts * ahead`, if
/// positive.
#[derive(Clone, Debug)]
struct Chain<Points> {
    runs: Points,
    step: Length,
    iterations: i128,
    /// The number of such chains.
    starts: Points,
}

/// The waiting of a piece of the schedule.
#[derive(Clone, Debug)]
enum Piece<Points> {
    Chain(Chain<Points>, BTreeSet<Link>),
    /// One after the other.
    Sum(Vec<Piece<Points>>),
    /// The longer of the chain of a loop and the pieces in it.
    Most(Vec<Piece<Points>>),
}

/// The operations for which all work-items wait, as a function of the sizes.
#[derive(Clone, Debug)]
pub struct Waiting {
    factors: Counts,
    piece: Piece<Product>,
}

impl Waiting {
    /// Returns the operations that wait, as [`Property::Arithmetic`] of each kind and type. Each chain
    /// hides its first `ahead` operations.
    ///
    /// # Errors
    ///
    /// Fails if the number of sizes is wrong, or if a count exceeds 128 bits.
    pub fn evaluate(&self, sizes: &[i64], ahead: f64) -> Result<BTreeMap<Property, f64>, NestError> {
        let factors = self.factors.evaluate_factors(sizes)?;
        let operations = self.piece.at(&factors, ahead).ok_or_else(overflow)?.operations;
        Ok(operations.into_iter().map(|((own, kind), times)| (Property::Arithmetic(own, kind), times)).collect())
    }
}

/// Counts the dependent operations for which a processor waits that runs each work-item in program
/// order. The count is the sum over all work-items.
///
/// A loop waits for the values that it carries from one iteration to the next: in registers, in
/// local or global memory, through several instructions in turn, and over distances of up to four
/// iterations. What its iterations wait for inside adds up.
///
/// ```
/// use tunesmith_loopnest::{Nest, count};
///
/// let nest = "
///     sizes n
///     array a[n, n]: f32
///     array sum[n]: f32
///     {[i, j]: 0 <= i < n and 0 <= j < n}
///     sum[i] = sum[i] + a[i, j] @ i, j
/// ".parse::<Nest>()?;
/// // A thousand sums, one after the other.
/// let waiting = count::count_waiting(&nest)?.evaluate(&[1000], 32.0)?;
/// assert_eq!(waiting.into_values().sum::<f64>(), 1000.0 * (1000.0 - 32.0));
/// # Ok::<(), tunesmith_loopnest::NestError>(())
/// ```
///
/// Cost: some milliseconds.
///
/// # Errors
///
/// Fails if the iterations of a loop depend on data or cannot be counted.
pub fn count_waiting(nest: &Nest) -> Result<Waiting, NestError> {
    refuse_data(nest)?;
    let piece = body(nest, &tree(nest), &[]);
    let mut factors = Factors::new(nest);
    let piece = piece.compiled(&mut |loops| points(nest, loops, &mut factors))?;
    Ok(Waiting { factors: Counts::of_factors(nest, &factors), piece })
}

/// Returns how often all work-items together are at the points of loops.
fn points(nest: &Nest, loops: &Loops, factors: &mut Factors) -> Result<Product, NestError> {
    runs_within(nest, &nest.closed(loops.iter().copied()), nest.local_size()?, factors)
}

/// Returns the waiting of the body of the innermost of the loops `around`.
fn body(nest: &Nest, steps: &[Step], around: &[LoopId]) -> Piece<Loops> {
    let mut pieces = Vec::new();
    let of_step = |step: &Step| if let Step::Run(number) = step { Some(*number) } else { None };
    let here: Vec<usize> = steps.iter().filter_map(of_step).collect();
    let length = Body::new(nest, &here, around).length();
    if length.operations() > 0 {
        let each: Loops = around.iter().copied().collect();
        let chain = Chain { runs: each.clone(), step: length, iterations: 1, starts: each };
        pieces.push(Piece::Chain(chain, BTreeSet::new()));
    }
    for step in steps {
        if let Step::Loop(id, inner) = step {
            pieces.push(of_loop(nest, *id, inner, around));
        }
    }
    Piece::Sum(pieces)
}

fn of_loop(nest: &Nest, id: LoopId, steps: &[Step], around: &[LoopId]) -> Piece<Loops> {
    let inside: Vec<LoopId> = around.iter().copied().chain([id]).collect();
    let mut inner = body(nest, steps, &inside);
    let carried = Body::new(nest, &runs(steps), around).carried(id);
    let before: Loops = around.iter().copied().collect();
    inner.go_on(&carried.links, &before);
    if carried.growth.operations() == 0 {
        return inner;
    }
    let runs = inside.into_iter().collect();
    let chain = Chain { runs, step: carried.growth, iterations: PERIOD as i128, starts: before };
    Piece::Most(vec![inner, Piece::Chain(chain, carried.critical)])
}

impl Piece<Loops> {
    /// Joins the chains that a loop carries on from one iteration to the next: they begin only
    /// where the loop begins.
    fn go_on(&mut self, carried: &BTreeSet<Link>, before: &Loops) {
        match self {
            Piece::Chain(chain, links) => {
                if !links.is_disjoint(carried) {
                    chain.starts = before.clone();
                }
            }
            Piece::Sum(pieces) | Piece::Most(pieces) => pieces.iter_mut().for_each(|own| own.go_on(carried, before)),
        }
    }

    fn compiled(
        self,
        points: &mut impl FnMut(&Loops) -> Result<Product, NestError>,
    ) -> Result<Piece<Product>, NestError> {
        Ok(match self {
            Piece::Chain(Chain { runs, step, iterations, starts }, links) => {
                Piece::Chain(Chain { runs: points(&runs)?, step, iterations, starts: points(&starts)? }, links)
            }
            Piece::Sum(pieces) => Piece::Sum(all(pieces, points)?),
            Piece::Most(pieces) => Piece::Most(all(pieces, points)?),
        })
    }
}

fn all(
    pieces: Vec<Piece<Loops>>,
    points: &mut impl FnMut(&Loops) -> Result<Product, NestError>,
) -> Result<Vec<Piece<Product>>, NestError> {
    pieces.into_iter().map(|own| own.compiled(points)).collect()
}

/// Operations by kind and type, with the cycles that decide between chains.
#[derive(Default)]
struct Sum {
    cycles: f64,
    operations: BTreeMap<(Operation, Type), f64>,
}

impl Sum {
    fn add(mut self, other: Sum) -> Self {
        self.cycles += other.cycles;
        other.operations.into_iter().for_each(|(own, times)| *self.operations.entry(own).or_default() += times);
        self
    }
}

impl Chain<Product> {
    fn at(&self, factors: &[i128], ahead: f64) -> Option<Sum> {
        let each = self.step.operations() as f64;
        let all = self.runs.at(factors)? as f64 * each / self.iterations as f64;
        let waits = all - self.starts.at(factors)? as f64 * ahead;
        if waits <= 0.0 {
            return Some(Sum::default());
        }
        let share = waits / each;
        let operations = self.step.iter().map(|(own, times)| (own, times as f64 * share)).collect();
        Some(Sum { cycles: self.step.cycles() as f64 * share, operations })
    }
}

impl Piece<Product> {
    fn at(&self, factors: &[i128], ahead: f64) -> Option<Sum> {
        let parts = |pieces: &[Self]| pieces.iter().map(|own| own.at(factors, ahead)).collect::<Option<Vec<Sum>>>();
        match self {
            Piece::Chain(chain, _) => chain.at(factors, ahead),
            Piece::Sum(pieces) => Some(parts(pieces)?.into_iter().fold(Sum::default(), Sum::add)),
            Piece::Most(pieces) => {
                let longest = parts(pieces)?.into_iter().max_by(|one, two| one.cycles.total_cmp(&two.cycles));
                Some(longest.unwrap_or_default())
            }
        }
    }
}

/// Returns each load of an instruction, with the dependent operations from it to the result. Nothing waits
/// for the result of an atomic update.
pub(super) fn paths<'e>(nest: &Nest, instruction: &'e Instruction) -> Vec<(&'e Access, Length)> {
    let is_run_in_order = |id: &LoopId| !nest.loop_at(*id).tag.is_hardware();
    let innermost = nest.nesting(&instruction.within).into_iter().rfind(is_run_in_order);
    let paths = Paths { nest, innermost };
    paths.of(instruction.computed(), nest.array(instruction.target.array).element, false)
}

struct Paths<'a> {
    nest: &'a Nest,
    innermost: Option<LoopId>,
}

impl Paths<'_> {
    /// Returns the loads of an expression. With `in_sum`, a sum does its last multiplication.
    fn of<'e>(&self, expr: &'e Expr, context: Type, in_sum: bool) -> Vec<(&'e Access, Length)> {
        if let Expr::Load(access, _) = expr {
            return vec![(access, Length::default())];
        }
        let kind = self.nest.operation_type(expr, context);
        let fused = fused_part(self.nest, expr, kind);
        // The sign of a product does not keep it from being fused.
        let passes = in_sum && matches!(expr, Expr::Neg(_));
        let mut found = Vec::new();
        for (place, child) in expr.children().into_iter().enumerate() {
            let own = match fused {
                None => Length::of(expr, kind, in_sum),
                Some(product) if product != place && self.is_beforehand(expr.children()[product]) => {
                    Length::one(Operation::Add, kind)
                }
                Some(_) => Length::one(Operation::Fma, kind),
            };
            let below = self.of(child, kind, passes || fused == Some(place));
            found.extend(below.into_iter().map(|(access, length)| (access, length.plus(&own))));
        }
        found
    }

    /// Returns true if a compiler computes a product for several iterations at once, because its
    /// cells lie side by side. What waits for the sum before is then a sum alone.
    fn is_beforehand(&self, product: &Expr) -> bool {
        let is_beside = |access: &Access| {
            let Some(innermost) = self.innermost else { return false };
            let fastest = self.nest.array(access.array).layout.order.last().copied();
            let mut steps = access.subscripts.iter().map(|sum| sum.coefficient(Var::Loop(innermost))).enumerate();
            let is_kept = self.nest.uses(access.array).0 && !access.subscripts.iter().any(|sum| sum.uses(innermost));
            !is_kept && steps.all(|(axis, step)| step == 0 || (step.abs() == 1 && fastest == Some(axis)))
        };
        product.loads().into_iter().all(|(access, _)| is_beside(access))
    }
}
