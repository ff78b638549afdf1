//! Counts the operations that every variant of a nest does at least.
//!
//! A transformation may compute a value once that the nest computes at many points: a `precompute`
//! does, and so does a compiler. What stays is one operation for each different value. Two points
//! certainly give the same value if the operation reads the same cells at both. An operation is
//! therefore counted once for each set of cells and indices that it reads, directly or through
//! temporaries, and not once for each point.

use super::collect::Collected;
use super::factors::{Factors, Product};
use super::image::{Cells, cells};
use super::union::different;
use super::{Counts, Property};
use crate::error::NestError;
use crate::ir::{
    Access, Affine, ArrayId, Expr, Function, Instruction, LoopId, Memory, Nest, Operation, Operator, Type, Var,
};
use crate::schedule::Schedule;
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of parts of an expression in which temporaries are replaced by their values.
const MOST_PARTS: usize = 400;

/// Maximum number of sums and products of equal shapes within an operation. Exchanging the parts of each
/// may give the same value, so that only half of the values are certainly different.
const MOST_SYMMETRIES: u32 = 8;

/// The floating-point operations that every variant of a nest does at least, as functions of its sizes.
#[derive(Clone, Debug)]
pub struct LeastOperations {
    /// The operations on inputs, times 2^[`MOST_SYMMETRIES`].
    known: Counts,
    /// The operations on results so far, such as a sum. Two of them may give the same value, so that only
    /// the most frequent one of each kind counts.
    running: Vec<(Operation, Type, Counts)>,
}

impl LeastOperations {
    /// Returns the operations with their numbers for these sizes.
    ///
    /// # Errors
    ///
    /// Fails if a count exceeds 2^119.
    pub fn at(&self, sizes: &[i64]) -> Result<Vec<(Operation, Type, f64)>, NestError> {
        let mut found: BTreeMap<(Operation, Type), i128> = BTreeMap::new();
        for (property, count) in self.known.properties().iter().zip(self.known.evaluate(sizes)?) {
            if let Property::Arithmetic(operation, kind) = property {
                found.insert((*operation, *kind), count);
            }
        }
        let mut most: BTreeMap<(Operation, Type), i128> = BTreeMap::new();
        for (operation, kind, counts) in &self.running {
            let count: i128 = counts.evaluate(sizes)?.into_iter().sum();
            let known = most.entry((*operation, *kind)).or_default();
            *known = count.max(*known);
        }
        most.into_iter().for_each(|(own, count)| *found.entry(own).or_default() += count);
        let unit = f64::from(1_u32 << MOST_SYMMETRIES);
        let operations = found.into_iter().filter(|(_, count)| *count > 0);
        Ok(operations.map(|((operation, kind), count)| (operation, kind, count as f64 / unit)).collect())
    }
}

/// Counts the floating-point operations that every variant of a nest does at least. Small powers count
/// as multiplications. Operations whose values cannot be told apart or counted are left out, so the
/// counts are lower bounds.
///
/// # Errors
///
/// Fails if the nest cannot be scheduled.
pub fn count_least(nest: &Nest) -> Result<LeastOperations, NestError> {
    Schedule::new(nest)?;
    let mut least = Least { nest, values: values(nest), copied: copied(nest), found: BTreeMap::new() };
    for instruction in nest.instructions.iter().filter(|own| is_used(nest, own)) {
        let context = nest.array(instruction.target.array).element;
        // An atomic update may be done by other means.
        least.add(instruction, instruction.computed(), context);
    }
    let mut known = Collected::new(nest);
    let mut running: Vec<(Operation, Type, Counts)> = Vec::new();
    for (Key { operation, kind, shape }, (times, reads)) in least.found {
        let Some(unused) = MOST_SYMMETRIES.checked_sub(shape.symmetries) else { continue };
        let mut alone = Collected::new(nest);
        let collected = if shape.is_known { &mut known } else { &mut alone };
        let Some(product) = different_values(nest, &reads, &mut collected.factors) else { continue };
        collected.add(Property::Arithmetic(operation, kind), product.scaled(times << unused));
        if !shape.is_known {
            running.push((operation, kind, Counts::new(nest, &alone)));
        }
    }
    Ok(LeastOperations { known: Counts::new(nest, &known), running })
}

/// Returns true if the nest or its caller reads what an instruction writes.
fn is_used(nest: &Nest, instruction: &Instruction) -> bool {
    let array = instruction.target.array;
    nest.array(array).memory == Memory::Global || nest.uses(array).1
}

/// Operations that give the same value if they read the same cells.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    operation: Operation,
    kind: Type,
    shape: Shape,
}

/// An expression without its subscripts and indices.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Shape {
    text: String,
    /// Number of sums and products in it whose parts have the same shape.
    symmetries: u32,
    /// True if it reads inputs alone.
    is_known: bool,
}

/// The cells and indices that an operation reads at the points of its loops.
#[derive(Clone, Debug, PartialEq)]
struct Reads {
    within: BTreeSet<LoopId>,
    sums: Vec<Affine>,
}

struct Least<'a> {
    nest: &'a Nest,
    values: BTreeMap<ArrayId, &'a Instruction>,
    copied: BTreeSet<ArrayId>,
    found: BTreeMap<Key, (i128, Vec<Reads>)>,
}

/// Returns the arrays and temporaries that one instruction gives their value, with that instruction. It
/// reads none of their cells.
fn values(nest: &Nest) -> BTreeMap<ArrayId, &Instruction> {
    let only = |array: ArrayId| {
        let mut writers = nest.instructions.iter().filter(|own| own.target.array == array);
        let own = writers.next().filter(|_| writers.next().is_none())?;
        let mut subscripts = own.target.subscripts.iter().map(single_loop);
        let distinct: Option<BTreeSet<LoopId>> = subscripts.by_ref().collect();
        let is_placed = distinct.is_some_and(|loops| loops.len() == own.target.subscripts.len());
        let is_recursive = own.value.loads().iter().any(|(access, _)| access.array == array);
        (is_placed && !is_recursive).then_some((array, own))
    };
    nest.array_ids().filter_map(only).collect()
}

/// Returns the arrays and temporaries that some instruction gives a value which is neither a number nor made
/// from what the array held. Such a value may be that of any other operation.
fn copied(nest: &Nest) -> BTreeSet<ArrayId> {
    let is_copy = |own: &&Instruction| {
        let is_number = own.value.sums().iter().all(|sum| sum.as_constant().is_some()) && own.value.loads().is_empty();
        !is_number && own.value.loads().iter().all(|(access, _)| access.array != own.target.array)
    };
    nest.instructions.iter().filter(is_copy).map(|own| own.target.array).collect()
}

/// Returns the loop whose index a sum is, if it is one.
fn single_loop(sum: &Affine) -> Option<LoopId> {
    let id = sum.loops().next()?;
    (*sum == Affine::from(id)).then_some(id)
}

impl Least<'_> {
    /// Adds the operations of a part of the instruction's value.
    fn add(&mut self, instruction: &Instruction, part: &Expr, context: Type) {
        let kind = self.nest.operation_type(part, context);
        let own = Operation::outermost(part).filter(|(_, times)| kind.is_float() && *times > 0);
        if let Some((operation, times)) = own {
            let mut room = MOST_PARTS;
            if let Some(whole) = self.whole(instruction, part.clone(), &mut room) {
                let (shape, sums) = Shape::of(self.nest, &whole);
                let reads = Reads { within: instruction.within.clone(), sums };
                let key = Key { operation, kind, shape };
                let (_, known) = self.found.entry(key).or_insert((times, Vec::new()));
                if !known.contains(&reads) {
                    known.push(reads);
                }
            }
        }
        part.children().into_iter().for_each(|child| self.add(instruction, child, kind));
    }

    /// Returns the part with temporaries replaced by the values that `instruction` reads in them, or
    /// `None` if that has more than `room` parts.
    fn whole(&self, instruction: &Instruction, part: Expr, room: &mut usize) -> Option<Expr> {
        *room = room.checked_sub(1)?;
        let expanded = match part {
            Expr::Load(access, place) => match self.value(instruction, &access) {
                Some(value) => self.whole(instruction, value, room)?,
                None if self.copied.contains(&access.array) => return None,
                None => Expr::Load(access, place),
            },
            Expr::Neg(inner) => Expr::Neg(Box::new(self.whole(instruction, *inner, room)?)),
            Expr::Binary(operator, left, right) => {
                Expr::binary(operator, self.whole(instruction, *left, room)?, self.whole(instruction, *right, room)?)
            }
            Expr::Call(function, arguments) => {
                let arguments = arguments.into_iter().map(|own| self.whole(instruction, own, room));
                Expr::Call(function, arguments.collect::<Option<_>>()?)
            }
            leaf => leaf,
        };
        Some(expanded)
    }

    /// Returns the value of a cell of a temporary, if one instruction gives it within loops of the
    /// reader.
    fn value(&self, reader: &Instruction, access: &Access) -> Option<Expr> {
        let writer = self.values.get(&access.array)?;
        let placed: Vec<LoopId> = writer.target.subscripts.iter().filter_map(single_loop).collect();
        let is_around = |id: &LoopId| placed.contains(id) || reader.within.contains(id);
        if !writer.within.iter().all(is_around) {
            return None;
        }
        let at = |sum: &Affine| {
            let replaced = sum.terms().map(|(variable, factor)| {
                let axis = placed.iter().position(|id| variable == Var::Loop(*id));
                axis.map_or_else(|| Affine::term(variable, factor), |axis| access.subscripts[axis].scaled(factor))
            });
            replaced.fold(Affine::constant(sum.offset()), |sum, term| &sum + &term)
        };
        Some(writer.value.clone().map_affine(&at))
    }
}

impl Shape {
    /// Returns the shape of an expression, and its subscripts and indices in the order of the shape. Cells
    /// that the nest writes and looked-up places say nothing, because different points may read the same
    /// value there.
    fn of(nest: &Nest, expr: &Expr) -> (Self, Vec<Affine>) {
        let mut parts: Vec<(Shape, Vec<Affine>)> =
            expr.children().into_iter().map(|part| Self::of(nest, part)).collect();
        let (head, own) = match expr {
            Expr::Index(sum) => ("index".to_string(), vec![told(sum)]),
            Expr::Number(number) => (number.to_string(), Vec::new()),
            Expr::Load(access, _) if nest.uses(access.array).0 => (format!("{:?}", access.array), Vec::new()),
            Expr::Load(access, _) => (format!("{:?}", access.array), access.subscripts.iter().map(told).collect()),
            Expr::Neg(_) => ("-".to_string(), Vec::new()),
            Expr::Binary(operator, ..) => (format!("{operator:?}"), Vec::new()),
            Expr::Call(function, _) => (format!("{function:?}"), Vec::new()),
        };
        use Operator::{Add, Mul};
        let is_commutative = matches!(expr, Expr::Binary(Add | Mul, ..) | Expr::Call(Function::Min | Function::Max, _));
        if is_commutative {
            parts.sort();
        }
        let is_symmetric = is_commutative && parts.windows(2).any(|pair| pair[0].0.text == pair[1].0.text);
        let symmetries = parts.iter().map(|(part, _)| part.symmetries).sum::<u32>() + u32::from(is_symmetric);
        let text = parts.iter().fold(head, |text, (part, _)| format!("{text} ({})", part.text));
        let is_input = !matches!(expr, Expr::Load(access, _) if nest.uses(access.array).0);
        let is_known = is_input && parts.iter().all(|(part, _)| part.is_known);
        let sums = own.into_iter().chain(parts.into_iter().flat_map(|(_, sums)| sums)).collect();
        (Self { text, symmetries, is_known }, sums)
    }
}

/// Returns the sum, or 0 in the place of one that depends on data.
fn told(sum: &Affine) -> Affine {
    if sum.lookups().next().is_some() { Affine::default() } else { sum.clone() }
}

/// Returns the number of different values that operations with these reads have, or `None` if it
/// cannot be counted.
fn different_values(nest: &Nest, reads: &[Reads], factors: &mut Factors) -> Option<Product> {
    let (first, others) = reads.split_first()?;
    if others.is_empty() {
        return alone(nest, first, factors);
    }
    // The values of all operations together are at least those of one.
    let mut tried = factors.clone();
    let fresh = LoopId(nest.loops.len());
    let sets = reads.iter().map(|own| reached(nest, own, &own.sums, fresh, &mut tried));
    let together = sets.collect::<Option<Vec<_>>>().and_then(|sets| {
        let mut known: Vec<Cells> = Vec::new();
        for set in sets.into_iter().flatten() {
            if !known.contains(&set) {
                known.push(set);
            }
        }
        different(known, &mut tried.floors).ok()
    });
    match together {
        Some(pieces) => {
            *factors = tried;
            Some(Product { coefficient: 1, factors: vec![factors.push(pieces)] })
        }
        None => alone(nest, first, factors),
    }
}

fn alone(nest: &Nest, reads: &Reads, factors: &mut Factors) -> Option<Product> {
    if reads.within.iter().any(|id| nest.depends_on_data(*id)) {
        return None;
    }
    let axes = independent(&reads.sums);
    if axes.len() == reads.within.len() {
        return factors.points(nest, &reads.within).ok();
    }
    let mut tried = factors.clone();
    let sets = reached(nest, reads, &axes, LoopId(nest.loops.len()), &mut tried)?;
    let pieces = different(sets, &mut tried.floors).ok()?;
    *factors = tried;
    Some(Product { coefficient: 1, factors: vec![factors.push(pieces)] })
}

/// Returns the sets of values that the sums take, or `None` if they cannot be told.
fn reached(nest: &Nest, reads: &Reads, sums: &[Affine], fresh: LoopId, factors: &mut Factors) -> Option<Vec<Cells>> {
    if reads.within.iter().any(|id| nest.depends_on_data(*id)) {
        return None;
    }
    let loops: Vec<LoopId> = reads.within.iter().copied().collect();
    cells(nest.domain(&reads.within), &loops, sums, fresh, &mut factors.floors).ok()
}

/// Returns sums that determine all others: of those given, as many as are linearly independent in
/// the loops.
fn independent(sums: &[Affine]) -> Vec<Affine> {
    let mut kept = Vec::new();
    let mut echelon: Vec<Affine> = Vec::new();
    for sum in sums {
        let mut rest = sum.clone();
        for row in &echelon {
            let Some(pivot) = row.loops().next() else { continue };
            let (own, other) = (rest.coefficient(Var::Loop(pivot)), row.coefficient(Var::Loop(pivot)));
            rest = &rest.scaled(other) - &row.scaled(own);
        }
        if rest.loops().next().is_some() {
            echelon.push(rest);
            kept.push(sum.clone());
        }
    }
    kept
}

#[cfg(test)]
#[path = "least_tests.rs"]
mod tests;
