//! Executes steps, one column of values at a time.
//!
//! One dispatch serves a whole column. The loops over a column are simple enough for the compiler
//! to vectorise.

use std::ops::Range;

use super::cell::{ERROR, float_cell};
use super::graph::{Graph, Op};
use super::plan::{Operand, Step};
use crate::expr::{Evaluator, ExprError, float_division};

/// The storage of operands.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sources<'a> {
    pub(crate) slots: &'a [i64],
    pub(crate) tables: &'a [Vec<i64>],
    pub(crate) scalars: &'a [i64],
    pub(crate) columns: &'a [Vec<i64>],
}

/// The cells of an operand: one for all values, or one for each.
#[derive(Clone, Copy)]
pub(crate) enum Cells<'a> {
    One(i64),
    Each(&'a [i64]),
}

impl Cells<'_> {
    pub(crate) fn at(self, index: usize) -> i64 {
        match self {
            Cells::One(cell) => cell,
            Cells::Each(cells) => cells[index],
        }
    }
}

impl<'a> Sources<'a> {
    pub(crate) fn cells(&self, operand: Operand) -> Cells<'a> {
        match operand {
            Operand::Constant(cell) => Cells::One(cell),
            Operand::Slot(slot) => Cells::One(self.slots[slot]),
            Operand::Scalar(scalar) => Cells::One(self.scalars[scalar]),
            Operand::Table(table) => Cells::Each(&self.tables[table]),
            Operand::Column(column) => Cells::Each(&self.columns[column]),
        }
    }
}

/// Computes `step` into `out`, which has one cell per value. Cells of settled conjuncts may be
/// arbitrary, so every operation is total.
pub(crate) fn run(step: &Step, sources: &Sources<'_>, out: &mut [i64], graph: &mut Graph) {
    let cells = |index: usize| sources.cells(step.operands[index]);
    match step.op {
        Op::Sum => binary(out, cells(0), cells(1), i64::wrapping_add),
        Op::Product => binary(out, cells(0), cells(1), i64::wrapping_mul),
        Op::Min => binary(out, cells(0), cells(1), i64::min),
        Op::Max => binary(out, cells(0), cells(1), i64::max),
        Op::And => binary(out, cells(0), cells(1), |a, b| if a == 0 || a == ERROR { a } else { b }),
        Op::Or => binary(out, cells(0), cells(1), |a, b| if a == 0 { b } else { a }),
        Op::Not => binary(out, cells(0), Cells::One(0), |a, _| i64::from(a == 0)),
        Op::FloorDivide => binary(out, cells(0), cells(1), floor_divide),
        Op::Modulo => binary(out, cells(0), cells(1), floor_modulo),
        Op::LessEqual => binary(out, cells(0), cells(1), |a, b| i64::from(a <= b)),
        Op::Equal => binary(out, cells(0), cells(1), |a, b| i64::from(a == b)),
        Op::Bit => binary(out, cells(0), cells(1), |a, low| 1_i64.wrapping_shl(a.wrapping_sub(low) as u32)),
        Op::Union => binary(out, cells(0), cells(1), |a, b| a | b),
        Op::Disjoint => binary(out, cells(0), cells(1), |a, b| i64::from(a & b == 0)),
        Op::ToFloat => binary(out, cells(0), Cells::One(0), |a, _| float_cell(a as f64)),
        Op::FloatAdd => floats(out, cells(0), cells(1), |a, b| a + b),
        Op::FloatSubtract => floats(out, cells(0), cells(1), |a, b| a - b),
        Op::FloatMultiply => floats(out, cells(0), cells(1), |a, b| a * b),
        Op::FloatDivide => floats(out, cells(0), cells(1), |a, b| a / b),
        Op::FloatFloorDivide => floats(out, cells(0), cells(1), |a, b| float_division(a, b).0),
        Op::FloatModulo => floats(out, cells(0), cells(1), |a, b| float_division(a, b).1),
        Op::FloatLess => binary(out, cells(0), cells(1), |a, b| i64::from(float(a) < float(b))),
        Op::FloatLessEqual => binary(out, cells(0), cells(1), |a, b| i64::from(float(a) <= float(b))),
        Op::FloatEqual => binary(out, cells(0), cells(1), |a, b| i64::from(float(a) == float(b))),
        Op::Select => select(out, cells(0), cells(1), cells(2)),
        Op::Tree(tree) => return trees(step, tree, sources, out, graph),
        Op::Constant(_) | Op::FloatConstant(_) | Op::DatumConstant(_) | Op::Parameter(_) => {}
    }
    if step.repeats_errors && !matches!(step.op, Op::And | Op::Or | Op::Select) {
        step.operands.iter().for_each(|&operand| repeat_errors(out, sources.cells(operand)));
    }
}

fn float(cell: i64) -> f64 {
    f64::from_bits(cell as u64)
}

fn floor_divide(a: i64, b: i64) -> i64 {
    match a.checked_div_euclid(b) {
        Some(quotient) => quotient - i64::from(b < 0 && a.rem_euclid(b) != 0),
        None => ERROR,
    }
}

fn floor_modulo(a: i64, b: i64) -> i64 {
    match a.checked_rem(b) {
        Some(remainder) => remainder + if remainder != 0 && (remainder < 0) != (b < 0) { b } else { 0 },
        None => ERROR,
    }
}

fn binary(out: &mut [i64], a: Cells<'_>, b: Cells<'_>, f: impl Fn(i64, i64) -> i64) {
    match (a, b) {
        (Cells::Each(a), Cells::Each(b)) => {
            out.iter_mut().zip(a).zip(b).for_each(|((out, &a), &b)| *out = f(a, b));
        }
        (Cells::Each(a), Cells::One(b)) => out.iter_mut().zip(a).for_each(|(out, &a)| *out = f(a, b)),
        (Cells::One(a), Cells::Each(b)) => out.iter_mut().zip(b).for_each(|(out, &b)| *out = f(a, b)),
        (Cells::One(a), Cells::One(b)) => out.fill(f(a, b)),
    }
}

fn floats(out: &mut [i64], a: Cells<'_>, b: Cells<'_>, f: impl Fn(f64, f64) -> f64) {
    binary(out, a, b, |a, b| float_cell(f(float(a), float(b))));
}

fn select(out: &mut [i64], condition: Cells<'_>, then: Cells<'_>, otherwise: Cells<'_>) {
    for (index, out) in out.iter_mut().enumerate() {
        *out = match condition.at(index) {
            ERROR => ERROR,
            0 => otherwise.at(index),
            _ => then.at(index),
        };
    }
}

fn repeat_errors(out: &mut [i64], operand: Cells<'_>) {
    match operand {
        Cells::One(ERROR) => out.fill(ERROR),
        Cells::One(_) => {}
        Cells::Each(cells) => {
            out.iter_mut().zip(cells).filter(|(_, cell)| **cell == ERROR).for_each(|(out, _)| *out = ERROR);
        }
    }
}

/// The steps of an evaluation of a tree, besides the elements of its lists.
const TREE: u64 = 30;

/// Computes a piece of tree with the evaluator of expressions. An operand that failed fails again
/// where it is needed.
fn trees(step: &Step, tree: u32, sources: &Sources<'_>, out: &mut [i64], graph: &mut Graph) {
    for (index, out) in out.iter_mut().enumerate() {
        if graph.steps.are_spent() {
            *out = ERROR;
            continue;
        }
        let node = graph.tree(tree);
        let lookup = |name: usize, span: &Range<usize>| match sources.cells(step.operands[name]).at(index) {
            ERROR => Err(ExprError::new("cannot be evaluated", span.clone())),
            cell => Ok(graph.data.value(cell, step.classes[name])),
        };
        let mut evaluator = Evaluator::new(&lookup);
        let value = evaluator.evaluate(node);
        graph.steps.spend(TREE + evaluator.worked());
        *out = value.map_or(ERROR, |value| graph.data.cell(&value, step.class));
    }
}
