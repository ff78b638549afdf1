//! Values that can satisfy a condition at all, generated instead of searched for.
//!
//! Of the values of `p` in `n % p == 0` only divisors of some `n` are of use, of those in `p == n` only some `n`. Where
//! the possible `n` are few, the useful values of a long list are found without trying each with every `n`.

use super::graph::{Graph, Id, Op};
use super::machine::{self, Sources};
use super::plan::{Operand, Step};
use crate::values::divisors;

/// Sets of possible numbers are followed up to this many combinations of operands.
const MAX_COMBINATIONS: usize = 1 << 12;

/// The place of a parameter in a condition that only some of its values can satisfy, and those values, ascending.
pub(super) fn supported(graph: &mut Graph, truth: Id, columns: &[Vec<i64>]) -> Option<(usize, Vec<i64>)> {
    let term = graph.term(truth).clone();
    if term.op != Op::Equal || term.fallible {
        return None;
    }
    let sides = [(term.args[0], term.args[1]), (term.args[1], term.args[0])];
    sides.into_iter().find_map(|(left, right)| {
        let left_term = graph.term(left).clone();
        match left_term.op {
            Op::Parameter(place) => Some((place as usize, numbers(graph, right, columns)?)),
            Op::Modulo if graph.constant_of(right) == Some(0) => {
                let Op::Parameter(place) = graph.term(left_term.args[1]).op else { return None };
                Some((place as usize, all_divisors(&numbers(graph, left_term.args[0], columns)?)?))
            }
            _ => None,
        }
    })
}

/// The positive and negative divisors of all `numbers`; `None` when 0 is among them, which everything divides.
fn all_divisors(numbers: &[i64]) -> Option<Vec<i64>> {
    if numbers.contains(&0) {
        return None;
    }
    let mut all: Vec<i64> = numbers.iter().flat_map(|number| divisors(number.abs())).collect();
    all.extend(all.clone().into_iter().map(|divisor| -divisor));
    all.sort_unstable();
    all.dedup();
    Some(all)
}

/// All numbers that a term may give, ascending, and perhaps some that it cannot; `None` where they are many.
fn numbers(graph: &mut Graph, id: Id, columns: &[Vec<i64>]) -> Option<Vec<i64>> {
    if let Some(constant) = graph.constant_of(id) {
        return Some(vec![constant]);
    }
    let term = graph.term(id).clone();
    graph.int_range(id).filter(|_| !term.fallible)?;
    let mut results = match (term.op, &term.args[..]) {
        (Op::Parameter(place), _) => columns[place as usize].clone(),
        (Op::Tree(_) | Op::Select, _) => return None,
        (op, args) => {
            let mut results = numbers(graph, args[0], columns)?;
            for &arg in &args[1..] {
                let others = numbers(graph, arg, columns)?;
                results = combine(graph, op, &results, &others, id)?;
            }
            if args.len() == 1 { combine(graph, op, &results, &[0], id)? } else { results }
        }
    };
    results.sort_unstable();
    results.dedup();
    (results.len() <= MAX_COMBINATIONS).then_some(results)
}

/// What `op` gives for all pairs of `left` and `right`.
fn combine(graph: &mut Graph, op: Op, left: &[i64], right: &[i64], id: Id) -> Option<Vec<i64>> {
    let count = left.len().checked_mul(right.len()).filter(|&count| count <= MAX_COMBINATIONS)?;
    let class = graph.term(id).class;
    let tables = [
        left.iter().flat_map(|&cell| std::iter::repeat_n(cell, right.len())).collect::<Vec<_>>(),
        left.iter().flat_map(|_| right.iter().copied()).collect(),
    ];
    let operands = vec![Operand::Table(0), Operand::Table(1)];
    let step = Step { op, operands, classes: vec![class; 2], class, repeats_errors: false };
    let mut out = vec![0; count];
    machine::run(&step, &Sources { tables: &tables, ..Sources::default() }, &mut out, graph);
    out.sort_unstable();
    out.dedup();
    Some(out)
}
