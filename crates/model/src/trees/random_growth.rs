//! Grows a randomised tree.

use super::best_cut::{best_cut, between};
use super::split::Sums;
use super::tree::{Node, Test, Tree};
use crate::table::{Kind, Table};
use rand::RngExt as _;
use rand::seq::SliceRandom as _;

/// The data and the settings for growing a tree.
pub(crate) struct RandomGrowth<'a> {
    pub(crate) table: &'a Table,
    pub(crate) targets: &'a [f64],
    /// Number of columns for which each node draws a split.
    pub(crate) candidates: usize,
    /// Minimum number of rows of a node that is split.
    pub(crate) min_split: usize,
    pub(crate) min_leaf: usize,
    pub(crate) depth: usize,
    pub(crate) cuts: Cuts,
}

/// The way in which a node of a randomised tree cuts a column in two.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cuts {
    /// A threshold or a subset of levels is drawn.
    #[default]
    Random,
    /// The cut with the largest gain is taken. The threshold is drawn between the two neighbouring
    /// values, and levels that do not occur go to a random side.
    Best,
}

/// A node that is still to be made: its place, its rows and its depth.
struct Todo {
    index: usize,
    rows: std::ops::Range<usize>,
    depth: usize,
}

/// A random split.
struct Drawn {
    column: usize,
    test: Test,
    missing: bool,
    gain: f64,
}

impl RandomGrowth<'_> {
    /// Grows a tree from `rows`, in which a row may occur several times. Costs a look at each row and
    /// candidate for every level.
    pub(crate) fn grow(&self, mut rows: Vec<u32>, rng: &mut impl rand::Rng) -> Tree {
        let mut columns: Vec<usize> = (0..self.table.columns().len()).collect();
        let mut nodes = vec![Node::Leaf { value: 0.0, rows: 0 }];
        let mut todo = vec![Todo { index: 0, rows: 0..rows.len(), depth: 0 }];
        while let Some(Todo { index, rows: range, depth }) = todo.pop() {
            let here = &mut rows[range.clone()];
            let split = if depth < self.depth { self.best(here, &mut columns, rng) } else { None };
            let Some(Drawn { column, test, missing, gain }) = split else {
                nodes[index] = Node::Leaf { value: self.mean(here), rows: here.len() };
                continue;
            };
            let cells = self.table.column(column);
            let middle = range.start + partition(here, |row| test.answer(cells[row as usize]).unwrap_or(missing));
            let yes = nodes.len();
            nodes[index] = Node::Split { column, test, missing, yes, gain, rows: range.len() };
            for (side, rows) in [range.start..middle, middle..range.end].into_iter().enumerate() {
                nodes.push(Node::Leaf { value: 0.0, rows: rows.len() });
                todo.push(Todo { index: yes + side, rows, depth: depth + 1 });
            }
        }
        Tree { nodes }
    }

    fn sums(&self, rows: impl Iterator<Item = u32>) -> Sums {
        let mut sums = Sums::default();
        rows.for_each(|row| sums += Sums { sum: self.targets[row as usize], count: 1.0 });
        sums
    }

    fn mean(&self, rows: &[u32]) -> f64 {
        self.sums(rows.iter().copied()).value(0.0)
    }

    /// Draws or finds a split for each of some random columns that are not constant here. Returns the
    /// one with the largest gain.
    fn best(&self, rows: &[u32], columns: &mut [usize], rng: &mut impl rand::Rng) -> Option<Drawn> {
        let first = self.targets[rows[0] as usize];
        let differs = |row: &u32| self.targets[*row as usize] != first;
        if rows.len() < self.min_split || !rows.iter().any(differs) {
            return None;
        }
        columns.shuffle(rng);
        let (mut best, mut drawn) = (None::<Drawn>, 0);
        for &column in &*columns {
            if drawn == self.candidates {
                break;
            }
            let split = self.draw(rows, column, rng);
            drawn += usize::from(split.is_some() || self.cuts == Cuts::Best);
            let Some((test, missing)) = split else { continue };
            if let Some(gain) = self.gain(rows, column, &test, missing)
                && best.as_ref().is_none_or(|best| gain > best.gain)
            {
                best = Some(Drawn { column, test, missing, gain });
            }
        }
        best
    }

    /// Returns the gain of the split, or `None` if a side has too few rows.
    fn gain(&self, rows: &[u32], column: usize, test: &Test, missing: bool) -> Option<f64> {
        let cells = self.table.column(column);
        let answer = |row: &u32| test.answer(cells[*row as usize]).unwrap_or(missing);
        let total = self.sums(rows.iter().copied());
        let yes = self.sums(rows.iter().copied().filter(answer));
        let no = total - yes;
        let fewest = self.min_leaf as f64;
        let explained = |sums: Sums| sums.explained(0.0);
        let gain = explained(yes) + explained(no) - explained(total);
        (yes.count >= fewest && no.count >= fewest).then_some(gain.max(0.0))
    }

    /// Returns a split of the column, with the side of missing values. Returns `None` if the column is
    /// constant.
    fn draw(&self, rows: &[u32], column: usize, rng: &mut impl rand::Rng) -> Option<(Test, bool)> {
        let cells = self.table.column(column);
        let present = || rows.iter().map(|&row| cells[row as usize]).filter(|value| !value.is_nan());
        let some_missing = rows.iter().any(|&row| cells[row as usize].is_nan());
        let kind = &self.table.columns()[column].kind;
        if self.cuts == Cuts::Best && present().next().is_some_and(|first| present().any(|value| value != first)) {
            let targets = rows.iter().map(|&row| (cells[row as usize], self.targets[row as usize]));
            return Some((best_cut(kind, targets, self.min_leaf, rng)?, rng.random()));
        }
        match kind {
            Kind::Ordinal => {
                let low = present().fold(f64::INFINITY, f64::min);
                let high = present().fold(f64::NEG_INFINITY, f64::max);
                match (low < high, some_missing && low == high) {
                    (true, _) => Some((Test::AtMost(between(low, high, rng)), rng.random())),
                    // The rows differ only in whether the value is missing.
                    (false, true) => Some((Test::AtMost(f64::MAX), false)),
                    (false, false) => None,
                }
            }
            Kind::Categorical(levels) => subset(levels.len(), present(), some_missing, rng),
        }
    }
}

/// Returns a subset of the levels, drawn uniformly from those that split the occurring levels.
/// Missing values are drawn like a level. Levels that do not occur go with them.
fn subset(
    levels: usize,
    present: impl Iterator<Item = f64>,
    some_missing: bool,
    rng: &mut impl rand::Rng,
) -> Option<(Test, bool)> {
    let mut occurs = vec![false; levels + 1];
    present.for_each(|level| occurs[level as usize] = true);
    occurs[levels] = some_missing;
    let occurring: Vec<usize> = (0..=levels).filter(|&level| occurs[level]).collect();
    if occurring.len() < 2 {
        return None;
    }
    loop {
        let missing: bool = rng.random();
        let mut answers = vec![missing; levels + 1];
        occurring.iter().filter(|&&level| level < levels).for_each(|&level| answers[level] = rng.random());
        let yes = occurring.iter().filter(|&&level| answers[level]).count();
        // Half of the draws split two levels. With more levels, more draws do.
        if yes > 0 && yes < occurring.len() {
            return Some((Test::OneOf((0..levels).filter(|&level| answers[level]).collect()), missing));
        }
    }
}

/// Moves the rows with the answer yes to the front, keeping the order of each side. Returns their
/// number.
fn partition(rows: &mut [u32], answer: impl Fn(u32) -> bool) -> usize {
    let no: Vec<u32> = rows.iter().copied().filter(|&row| !answer(row)).collect();
    let mut end = 0;
    for at in 0..rows.len() {
        if answer(rows[at]) {
            rows[end] = rows[at];
            end += 1;
        }
    }
    rows[end..].copy_from_slice(&no);
    end
}
