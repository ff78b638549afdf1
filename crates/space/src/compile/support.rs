//! Generates the values that can satisfy a condition, without a search.
//!
//! In `n % p == 0`, the only useful values of `p` are divisors of some `n`. In `p == n`, they are
//! the values of `n`. If there are few possible `n`, this finds the useful values of a long list
//! without trying each of them with every `n`.

use crate::hash::Map;

use super::graph::{Graph, Id, Op};
use super::machine::{self, Sources};
use super::plan::{Operand, Step};
use super::range;
use crate::values::divisors;

/// Maximum number of combinations of the other parameters' values to follow.
const MAX_COMBINATIONS: usize = 1 << 12;

/// Finds a parameter in the condition `truth` for which only some values can satisfy it. Returns
/// its place and these values, ascending. Ignores combinations that any of `roots`, the list of all
/// conditions, excludes.
pub(super) fn supported(graph: &mut Graph, truth: Id, roots: &[Id], columns: &[Vec<i64>]) -> Option<(usize, Vec<i64>)> {
    let term = graph.term(truth).clone();
    if term.op != Op::Equal || term.fallible {
        return None;
    }
    let sides = [(term.args[0], term.args[1]), (term.args[1], term.args[0])];
    sides.into_iter().find_map(|(left, right)| {
        let left_term = graph.term(left).clone();
        match left_term.op {
            Op::Parameter(place) => Some((place as usize, numbers(graph, right, roots, columns)?)),
            Op::Modulo if graph.constant_of(right) == Some(0) => {
                let Op::Parameter(place) = graph.term(left_term.args[1]).op else { return None };
                Some((place as usize, all_divisors(&numbers(graph, left_term.args[0], roots, columns)?)?))
            }
            _ => None,
        }
    })
}

/// Maximum number of trial divisions.
const MAX_TRIALS: f64 = 1e6;

/// Returns the positive and negative divisors of all `numbers`. Returns `None` if the numbers are
/// too large, or if 0 is among them, because everything divides 0.
fn all_divisors(numbers: &[i64]) -> Option<Vec<i64>> {
    let trials: f64 = numbers.iter().map(|&number| (number as f64).abs().sqrt()).sum();
    if numbers.contains(&0) || trials > MAX_TRIALS {
        return None;
    }
    let mut all: Vec<i64> = numbers.iter().flat_map(|number| divisors(number.abs())).collect();
    all.extend(all.clone().into_iter().map(|divisor| -divisor));
    all.sort_unstable();
    all.dedup();
    Some(all)
}

/// Returns the values of `id` on the combinations that no condition on its parameters excludes.
/// Returns `None` if there are too many combinations.
fn numbers(graph: &mut Graph, id: Id, roots: &[Id], columns: &[Vec<i64>]) -> Option<Vec<i64>> {
    if graph.int_range(id).is_none() || graph.term(id).fallible || has_wide(graph, id) {
        return None;
    }
    let places: Vec<usize> = graph.term(id).parameters.iter().collect();
    let mut table = Table::new(&places, columns)?;
    let mut truths = vec![true; table.rows];
    for &root in roots {
        let own = graph.term(root).parameters.iter().all(|place| places.contains(&place));
        if own && !graph.term(root).fallible && !has_wide(graph, root) {
            let cells = table.cells(graph, root);
            // An error excludes nothing.
            truths.iter_mut().zip(cells).for_each(|(truth, &cell)| *truth &= cell != 0);
        }
    }
    let cells = table.cells(graph, id).iter();
    let mut numbers: Vec<i64> = cells.zip(truths).filter(|(_, truth)| *truth).map(|(&cell, _)| cell).collect();
    numbers.sort_unstable();
    numbers.dedup();
    Some(numbers)
}

/// Returns true if a term needs a product that may not fit into a cell. Looks at each term once.
fn has_wide(graph: &Graph, id: Id) -> bool {
    let (mut seen, mut open) = (Map::default(), vec![id]);
    while let Some(id) = open.pop() {
        let term = graph.term(id);
        if range::is_wide(term.class) {
            return true;
        }
        if seen.insert(id, ()).is_none() {
            open.extend(&term.args);
        }
    }
    false
}

/// All combinations of some parameters' values, and the terms computed on them.
struct Table {
    rows: usize,
    columns: Vec<Vec<i64>>,
    known: Map<Id, usize>,
    places: Vec<(usize, usize)>,
}

impl Table {
    fn new(places: &[usize], columns: &[Vec<i64>]) -> Option<Table> {
        let rows = places.iter().try_fold(1_usize, |rows, &place| rows.checked_mul(columns[place].len()))?;
        if rows > MAX_COMBINATIONS {
            return None;
        }
        let mut table = Table { rows, columns: Vec::new(), known: Map::default(), places: Vec::new() };
        let mut period = rows;
        for &place in places {
            let values = &columns[place];
            period /= values.len();
            let cell = |row: usize| values[row / period % values.len()];
            table.places.push((place, table.columns.len()));
            table.columns.push((0..rows).map(cell).collect());
        }
        Some(table)
    }

    fn cells(&mut self, graph: &mut Graph, id: Id) -> &[i64] {
        let column = self.column(graph, id);
        &self.columns[column]
    }

    fn column(&mut self, graph: &mut Graph, id: Id) -> usize {
        if let Some(&column) = self.known.get(&id) {
            return column;
        }
        let term = graph.term(id).clone();
        let column = match term.op {
            Op::Parameter(place) => {
                let known = self.places.iter().find(|(known, _)| *known == place as usize);
                known.expect("only terms of the table's parameters are asked for").1
            }
            _ => {
                let cells = match graph.constant_of(id) {
                    Some(constant) => vec![constant; self.rows],
                    None => self.compute(graph, id),
                };
                self.columns.push(cells);
                self.columns.len() - 1
            }
        };
        self.known.insert(id, column);
        column
    }

    /// Computes a term. An operation with many operands takes two at a time.
    fn compute(&mut self, graph: &mut Graph, id: Id) -> Vec<i64> {
        let term = graph.term(id).clone();
        let operands: Vec<Operand> = term.args.iter().map(|&arg| Operand::Table(self.column(graph, arg))).collect();
        let chains = matches!(term.op, Op::Sum | Op::Product | Op::And | Op::Or | Op::Min | Op::Max);
        let first = if chains { 2 } else { operands.len() };
        let mut step = Step {
            op: term.op,
            operands: operands[..first].to_vec(),
            classes: term.args.iter().map(|&arg| graph.term(arg).class).collect(),
            class: term.class,
            repeats_errors: term.args.iter().any(|&arg| graph.term(arg).fallible),
        };
        let mut out = vec![0; self.rows];
        machine::run(&step, &Sources { tables: &self.columns, ..Sources::default() }, &mut out, graph);
        for &operand in &operands[first..] {
            let before = std::mem::replace(&mut out, vec![0; self.rows]);
            step.operands = vec![Operand::Column(0), operand];
            let sources = Sources { tables: &self.columns, columns: &[before], ..Sources::default() };
            machine::run(&step, &sources, &mut out, graph);
        }
        out
    }
}
