//! Lays out trees for predicting many rows.

use super::coded::{Coded, Scratch};
use super::tree::{Node, Test, Tree};
use crate::table::{Column, Table};
#[cfg(feature = "fit")]
use rayon::prelude::*;

/// Number of rows that are predicted together. With this many, the processor always has a step to
/// do while it waits for others. With no more, their columns stay in its first cache.
pub(super) const LANES: usize = 64;

/// Number of rows of a table that one thread predicts. Fewer are not worth waking another.
const PART: usize = 4096;

/// A node in 16 bytes. A leaf asks a question that is always answered with yes, and leads to
/// itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct FlatNode {
    threshold: f64,
    /// The node for a yes. The next one is for a no.
    yes: u32,
    column: u16,
    /// True if a missing value goes with the no.
    missing_no: bool,
}

/// One tree.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum FlatTree {
    /// Only thresholds: the nodes, their predictions, and the number of steps to the deepest leaf.
    Thresholds { nodes: Vec<FlatNode>, values: Vec<f64>, depth: usize },
    /// Sets of levels: walked node by node.
    Sets(Tree),
}

/// The trees of a model.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Flat {
    /// Shallow trees.
    Coded(Coded),
    /// Any trees.
    Walked(Vec<FlatTree>),
}

impl FlatTree {
    fn new(tree: &Tree) -> Self {
        let mut nodes = Vec::with_capacity(tree.nodes.len());
        let mut values = vec![0.0; tree.nodes.len()];
        for (index, node) in tree.nodes.iter().enumerate() {
            nodes.push(match node {
                Node::Leaf { value, .. } => {
                    values[index] = *value;
                    FlatNode { threshold: f64::INFINITY, yes: index as u32, column: 0, missing_no: false }
                }
                Node::Split { column, test: Test::AtMost(threshold), missing, yes, .. }
                    if *column <= usize::from(u16::MAX) =>
                {
                    let (column, missing_no) = (*column as u16, !missing);
                    FlatNode { threshold: *threshold, yes: *yes as u32, column, missing_no }
                }
                Node::Split { .. } => return Self::Sets(tree.clone()),
            });
        }
        Self::Thresholds { nodes, values, depth: tree.depth() }
    }

    /// Returns the values of the leaves of the rows of `block`.
    fn values(&self, block: &[[f64; LANES]]) -> [f64; LANES] {
        match self {
            Self::Thresholds { nodes, values, depth } => {
                let at = leaves(nodes, *depth, block);
                at.map(|leaf| values[leaf as usize])
            }
            Self::Sets(tree) => std::array::from_fn(|lane| tree.value(|column| block[column][lane])),
        }
    }
}

/// Returns the nodes of the rows of a block after `depth` steps.
fn leaves(nodes: &[FlatNode], depth: usize, block: &[[f64; LANES]]) -> [u32; LANES] {
    let mut at = [0_u32; LANES];
    for _ in 0..depth {
        for lane in 0..LANES {
            let node = &nodes[at[lane] as usize];
            let value = block[usize::from(node.column)][lane];
            let no = (value > node.threshold) | (node.missing_no & value.is_nan());
            at[lane] = node.yes + u32::from(no);
        }
    }
    at
}

impl Flat {
    pub(crate) fn new(trees: &[Tree], columns: &[Column]) -> Self {
        Coded::new(trees, columns).map_or_else(|| Self::walked(trees), Self::Coded)
    }

    fn walked(trees: &[Tree]) -> Self {
        Self::Walked(trees.iter().map(FlatTree::new).collect())
    }

    /// Passes the values of each tree for the rows of `block` to `add`, tree by tree.
    fn each(&self, block: &[[f64; LANES]], scratch: &mut Option<Scratch>, mut add: impl FnMut(&[f64; LANES])) {
        match self {
            Self::Coded(coded) => coded.each(block, scratch.get_or_insert_with(|| coded.scratch()), add),
            Self::Walked(trees) => trees.iter().for_each(|tree| add(&tree.values(block))),
        }
    }

    /// Folds, for each row of `table`, the values of the trees with `add`, starting from `zero`,
    /// tree by tree. Rows do not depend on each other, so threads share them.
    fn fold<A: Copy + Send + Sync>(&self, table: &Table, zero: A, add: impl Fn(&mut A, f64) + Sync) -> Vec<A> {
        let mut all = vec![zero; table.len()];
        let part = |(index, part): (usize, &mut [A])| {
            // A tree without splits also looks at a column.
            let mut block = vec![[0.0; LANES]; table.columns().len().max(1)];
            let mut scratch = None;
            for (at, sums) in part.chunks_mut(LANES).enumerate() {
                let start = index * PART + at * LANES;
                for (column, lanes) in block.iter_mut().enumerate().take(table.columns().len()) {
                    lanes[..sums.len()].copy_from_slice(&table.column(column)[start..start + sums.len()]);
                }
                self.each(&block, &mut scratch, |values| {
                    sums.iter_mut().zip(values).for_each(|(sum, value)| add(sum, *value));
                });
            }
        };
        #[cfg(feature = "fit")]
        if table.len() > PART {
            all.par_chunks_mut(PART).enumerate().for_each(part);
            return all;
        }
        all.chunks_mut(PART).enumerate().for_each(part);
        all
    }

    /// Returns, for each row, the sum over the trees.
    pub(crate) fn sums(&self, table: &Table) -> Vec<f64> {
        self.fold(table, 0.0, |sum, value| *sum += value)
    }

    /// Returns, for each row, the sum and the sum of squares over the trees.
    #[cfg(feature = "fit")]
    pub(crate) fn squares(&self, table: &Table) -> Vec<(f64, f64)> {
        self.fold(table, (0.0, 0.0), |(sum, squares), value| {
            *sum += value;
            *squares += value * value;
        })
    }
}
