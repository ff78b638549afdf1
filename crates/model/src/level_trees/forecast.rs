//! Predictions for rows that stay the same while trees are renewed.

use super::LevelTrees;
use super::tree::{DEEPEST, LevelNode, LevelTree};
use crate::Prediction;
use crate::gaussian_process::Rows;

/// The predictions of [`LevelTrees`] for fixed rows.
///
/// Each feature has, for each level, the set of the rows of at most this level, a bit for each. A tree then divides the
/// rows by a few operations on 64 of them at once. Costs about 8 KB and 4 bytes for each tree per 1,000 rows, and an
/// eighth of a byte for each row and level.
#[derive(Clone, Debug)]
pub struct LevelForecast {
    len: usize,
    /// The sets of rows by feature and level.
    sets: Vec<Vec<Vec<u64>>>,
    /// The prediction of each tree for each row.
    values: Vec<Vec<f32>>,
    /// The sums of the predictions and of their squares over the trees.
    sums: Vec<(f64, f64)>,
    /// Number of trees that were grown when this followed them last.
    grown: usize,
}

impl LevelForecast {
    /// Returns the forecast of `trees` for `rows`. Call [`follow`](Self::follow) before the first prediction.
    ///
    /// # Panics
    ///
    /// Panics if the rows have other features than the trees.
    pub fn new(trees: &LevelTrees, rows: &Rows) -> Self {
        assert_eq!(rows.features(), trees.scale.0.len(), "rows have the features of the trees");
        let columns = trees.scale.columns(rows);
        let sets = columns.iter().map(|column| sets(column)).collect();
        Self { len: rows.len(), sets, values: Vec::new(), sums: vec![(0.0, 0.0); rows.len()], grown: 0 }
    }

    /// Predicts anew with each tree that was renewed since the last time. Costs, for each of them, two looks at the
    /// rows' set for each split, and one at each row.
    pub fn follow(&mut self, trees: &LevelTrees) {
        if self.grown == trees.grown {
            return;
        }
        let mut walk = Walk::new(self.len);
        self.values.resize_with(trees.trees.len(), || vec![0.0; self.len]);
        for place in trees.renewed_since(self.grown) {
            walk.predict(&trees.trees[place], &self.sets, &mut self.values[place]);
        }
        self.grown = trees.grown;
        self.sum_up();
    }

    fn sum_up(&mut self) {
        self.sums.fill((0.0, 0.0));
        for values in &self.values {
            for ((sum, squares), value) in self.sums.iter_mut().zip(values) {
                let value = f64::from(*value);
                *sum += value;
                *squares += value * value;
            }
        }
    }

    /// Returns the mean of the trees for a row, and the standard deviation among them.
    pub fn prediction(&self, row: usize) -> Prediction {
        let ((sum, squares), count) = (self.sums[row], self.values.len() as f64);
        let mean = sum / count;
        // Rounding may leave a negative variance where all agree.
        Prediction { mean, deviation: (squares / count - mean * mean).max(0.0).sqrt() }
    }
}

/// Returns, for each level but the last, the set of the rows of at most this level.
fn sets(column: &[u8]) -> Vec<Vec<u64>> {
    let levels = usize::from(column.iter().copied().max().unwrap_or(0));
    let mut sets = vec![vec![0_u64; column.len().div_ceil(64)]; levels];
    for (row, &level) in column.iter().enumerate() {
        if let Some(set) = sets.get_mut(usize::from(level)) {
            set[row / 64] |= 1 << (row % 64);
        }
    }
    for level in 1..levels {
        let (lower, upper) = sets.split_at_mut(level);
        upper[0].iter_mut().zip(&lower[level - 1]).for_each(|(word, below)| *word |= below);
    }
    sets
}

/// The working memory of a walk down a tree: the rows of the node at each depth.
struct Walk {
    nodes: Vec<Vec<u64>>,
}

impl Walk {
    fn new(rows: usize) -> Self {
        let words = rows.div_ceil(64);
        let mut all = vec![u64::MAX; words];
        if let Some(last) = all.last_mut().filter(|_| !rows.is_multiple_of(64)) {
            *last = (1 << (rows % 64)) - 1;
        }
        let mut nodes = vec![vec![0; words]; DEEPEST + 1];
        nodes[0] = all;
        Self { nodes }
    }

    /// Writes the prediction of a tree for each row.
    fn predict(&mut self, tree: &LevelTree, sets: &[Vec<Vec<u64>>], values: &mut [f32]) {
        self.visit(tree, (0, 0), sets, values);
    }

    fn visit(&mut self, tree: &LevelTree, (node, depth): (usize, usize), sets: &[Vec<Vec<u64>>], values: &mut [f32]) {
        match tree.0[node] {
            LevelNode::Leaf(value) => self.fill(depth, value as f32, values),
            LevelNode::Split { feature, level, yes } => match sets[feature].get(usize::from(level)) {
                // No row is above the level.
                None => self.visit_all(tree, (yes, depth), sets, values),
                Some(set) => {
                    if self.select(depth, |word| set[word]) {
                        self.visit(tree, (yes, depth + 1), sets, values);
                    }
                    if self.select(depth, |word| !set[word]) {
                        self.visit(tree, (yes + 1, depth + 1), sets, values);
                    }
                }
            },
        }
    }

    /// Visits a node with all rows of the one above it.
    fn visit_all(
        &mut self,
        tree: &LevelTree,
        (node, depth): (usize, usize),
        sets: &[Vec<Vec<u64>>],
        values: &mut [f32],
    ) {
        self.select(depth, |_| u64::MAX);
        self.visit(tree, (node, depth + 1), sets, values);
    }

    /// Gives the next depth the rows of this one that are in a set. Returns true if there are some.
    fn select(&mut self, depth: usize, set: impl Fn(usize) -> u64) -> bool {
        let (above, below) = self.nodes.split_at_mut(depth + 1);
        let mut any = 0;
        for (word, (to, from)) in below[0].iter_mut().zip(&above[depth]).enumerate() {
            *to = from & set(word);
            any |= *to;
        }
        any != 0
    }

    fn fill(&self, depth: usize, value: f32, values: &mut [f32]) {
        for (at, word) in self.nodes[depth].iter().enumerate() {
            let mut rest = *word;
            while rest != 0 {
                values[at * 64 + rest.trailing_zeros() as usize] = value;
                rest &= rest - 1;
            }
        }
    }
}
