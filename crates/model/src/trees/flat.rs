//! Trees laid out for predicting many rows.

use super::tree::{Node, Test, Tree};
use crate::table::Table;

/// Rows that go down a tree side by side: enough that the processor always has a step to do while it waits for others.
const LANES: usize = 32;

/// A node in 16 bytes. A leaf asks what is always answered with yes and leads to itself.
#[derive(Clone, Copy, Debug, PartialEq)]
struct FlatNode {
    threshold: f64,
    /// The node for a yes; that for a no is the next.
    yes: u32,
    column: u16,
    /// Whether a missing value goes the way of a no.
    missing_no: bool,
}

/// One tree.
#[derive(Clone, Debug, PartialEq)]
enum FlatTree {
    /// Only thresholds: its nodes, what each predicts, and the steps to its deepest leaf.
    Thresholds { nodes: Vec<FlatNode>, values: Vec<f64>, depth: usize },
    /// Sets of levels, walked as they are.
    Sets(Tree),
}

/// The trees of a model.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Flat(Vec<FlatTree>);

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

    /// The values of the leaves that the rows of `block` come to.
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

/// Where the rows of a block come to after `depth` steps.
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
    pub(crate) fn new(trees: &[Tree]) -> Self {
        Self(trees.iter().map(FlatTree::new).collect())
    }

    /// Gives `take`, for each block of rows in turn, the rows' positions and what each tree says of them, tree by tree.
    /// `make` makes what `take` adds to.
    pub(crate) fn visit<A>(
        &self,
        table: &Table,
        make: impl Fn() -> A,
        add: impl Fn(&mut A, &[f64; LANES]),
        mut done: impl FnMut(&A, usize),
    ) {
        // A tree without splits looks at a column as well.
        let mut block = vec![[0.0; LANES]; table.columns().len().max(1)];
        for start in (0..table.len()).step_by(LANES) {
            let count = LANES.min(table.len() - start);
            for (index, lanes) in block.iter_mut().enumerate().take(table.columns().len()) {
                lanes[..count].copy_from_slice(&table.column(index)[start..start + count]);
            }
            let mut sums = make();
            self.0.iter().for_each(|tree| add(&mut sums, &tree.values(&block)));
            done(&sums, count);
        }
    }

    /// For each row the sum over the trees.
    pub(crate) fn sums(&self, table: &Table) -> Vec<f64> {
        let mut all = Vec::with_capacity(table.len());
        let add = |sums: &mut [f64; LANES], values: &[f64; LANES]| {
            sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
        };
        self.visit(table, || [0.0; LANES], add, |sums, count| all.extend_from_slice(&sums[..count]));
        all
    }

    /// For each row the sum over the trees and the sum of squares.
    pub(crate) fn squares(&self, table: &Table) -> Vec<(f64, f64)> {
        let mut all = Vec::with_capacity(table.len());
        let add = |sums: &mut [(f64, f64); LANES], values: &[f64; LANES]| {
            for (sum, value) in sums.iter_mut().zip(values) {
                *sum = (sum.0 + value, sum.1 + value * value);
            }
        };
        self.visit(table, || [(0.0, 0.0); LANES], add, |sums, count| all.extend_from_slice(&sums[..count]));
        all
    }
}
