//! Grows a tree.

use super::tree::{DEEPEST, LevelNode};
use rand::RngExt as _;

/// The rows that trees grow from.
pub(super) struct Growth<'a> {
    columns: &'a [Vec<u8>],
    targets: &'a [f64],
    mean: f64,
    /// The rows, those of a node next to each other.
    rows: Vec<u32>,
    /// Room for the rows of a node that answer no.
    no: Vec<u32>,
}

/// A node that is still to be made: its place, its rows and its depth.
struct Todo {
    index: usize,
    rows: std::ops::Range<usize>,
    depth: usize,
}

/// A split of a node, and what it explains of the deviations.
struct Drawn {
    feature: usize,
    level: u8,
    explained: f64,
}

impl<'a> Growth<'a> {
    pub(super) fn new(columns: &'a [Vec<u8>], targets: &'a [f64]) -> Self {
        let mean = targets.iter().sum::<f64>() / targets.len() as f64;
        Self { columns, targets, mean, rows: (0..targets.len() as u32).collect(), no: Vec::new() }
    }

    /// Grows a tree until the targets of each leaf are equal, or its rows are.
    pub(super) fn grow(&mut self, rng: &mut impl rand::Rng) -> Vec<LevelNode> {
        let mut nodes = vec![LevelNode::Leaf(0.0)];
        let mut todo = vec![Todo { index: 0, rows: 0..self.rows.len(), depth: 0 }];
        while let Some(Todo { index, rows, depth }) = todo.pop() {
            let drawn = if depth < DEEPEST { self.draw(rows.clone(), rng) } else { None };
            let Some(Drawn { feature, level, .. }) = drawn else {
                nodes[index] = LevelNode::Leaf(self.mean_of(rows));
                continue;
            };
            let middle = self.divide(rows.clone(), feature, level);
            let yes = nodes.len();
            nodes[index] = LevelNode::Split { feature, level, yes };
            for (side, rows) in [rows.start..middle, middle..rows.end].into_iter().enumerate() {
                nodes.push(LevelNode::Leaf(0.0));
                todo.push(Todo { index: yes + side, rows, depth: depth + 1 });
            }
        }
        nodes
    }

    /// Returns the sum of the targets of rows, less their mean over all rows.
    fn sum(&self, rows: &[u32]) -> f64 {
        rows.iter().map(|&row| self.targets[row as usize] - self.mean).sum()
    }

    fn mean_of(&self, rows: std::ops::Range<usize>) -> f64 {
        let rows = &self.rows[rows];
        self.mean + self.sum(rows) / rows.len() as f64
    }

    /// Draws a threshold for each feature that is not constant here. Returns the split that explains most.
    fn draw(&self, rows: std::ops::Range<usize>, rng: &mut impl rand::Rng) -> Option<Drawn> {
        let rows = &self.rows[rows];
        let first = self.targets[rows[0] as usize];
        if rows.iter().all(|&row| self.targets[row as usize] == first) {
            return None;
        }
        let (all, count) = (self.sum(rows), rows.len() as f64);
        let mut best = None::<Drawn>;
        for (feature, column) in self.columns.iter().enumerate() {
            let levels = || rows.iter().map(|&row| column[row as usize]);
            let (low, high) = levels().fold((u8::MAX, 0), |(low, high), level| (low.min(level), high.max(level)));
            if low == high {
                continue;
            }
            let level = rng.random_range(low..high);
            let (mut sum, mut yes) = (0.0, 0.0);
            for &row in rows {
                let is_yes = f64::from(u8::from(column[row as usize] <= level));
                sum += is_yes * (self.targets[row as usize] - self.mean);
                yes += is_yes;
            }
            let rest = all - sum;
            let explained = sum * sum / yes + rest * rest / (count - yes);
            if best.as_ref().is_none_or(|best| explained > best.explained) {
                best = Some(Drawn { feature, level, explained });
            }
        }
        best
    }

    /// Moves the rows of at most `level` to the front, and keeps the order of each side. Returns the end of the front.
    fn divide(&mut self, rows: std::ops::Range<usize>, feature: usize, level: u8) -> usize {
        let column = &self.columns[feature];
        self.no.clear();
        let mut end = rows.start;
        for at in rows.clone() {
            let row = self.rows[at];
            if column[row as usize] <= level {
                self.rows[end] = row;
                end += 1;
            } else {
                self.no.push(row);
            }
        }
        self.rows[end..rows.end].copy_from_slice(&self.no);
        end
    }
}
