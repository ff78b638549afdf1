//! The reduced multi-valued decision diagram of one group of parameters.

mod ball;
mod build;
mod coordinates;
mod counts;
mod layers;
mod nearest;
mod neighbours;
mod reduce;
mod states;
mod table;
mod within;

pub(crate) use ball::Differing;
pub(crate) use build::{Obstacle, build};
pub use coordinates::Blocks;
pub(crate) use layers::{Layer, Run};
pub(crate) use neighbours::Segment;

use counts::Counts;
use num_bigint::BigUint;

/// The configurations of one group, as paths from a root to the end.
///
/// Every path has one node per parameter, in the diagram's own order of parameters. Nodes with the
/// same configurations below them are one node (Bryant's reduction, without skipping levels).
/// Consecutive values with the same child share one [`Run`]. Every node knows the number of
/// configurations below it, so ranks are sums and nothing is ever listed. Nodes are numbered level
/// by level from the root in order of first appearance. This numbering is canonical. The end has
/// the highest number.
#[derive(Debug)]
pub(crate) struct Diagram {
    /// The index of each level's parameter.
    order: Vec<usize>,
    /// The start of each node's runs, and the end of the last node's runs.
    starts: Vec<u32>,
    runs: Vec<Run>,
    counts: Counts,
    size: BigUint,
}

impl Diagram {
    /// Returns the number of configurations.
    pub(crate) fn size(&self) -> &BigUint {
        &self.size
    }

    /// Returns the number of configurations, or `None` if it exceeds 128 bits.
    pub(crate) fn len(&self) -> Option<u128> {
        self.counts.below(0)
    }

    /// Returns the parameter of each level.
    pub(crate) fn order(&self) -> &[usize] {
        &self.order
    }

    /// Returns the number of nodes without the end.
    pub(crate) fn nodes(&self) -> usize {
        self.starts.len() - 1
    }

    /// Returns all runs, node by node.
    pub(crate) fn runs(&self) -> &[Run] {
        &self.runs
    }

    /// Returns the runs of `node`, by ascending value.
    pub(crate) fn runs_of(&self, node: u32) -> &[Run] {
        &self.runs[self.range(node)]
    }

    /// Returns the memory of the diagram in bytes.
    pub(crate) fn bytes(&self) -> usize {
        size_of::<Diagram>()
            + size_of_val(&self.order[..])
            + size_of_val(&self.starts[..])
            + size_of_val(&self.runs[..])
            + self.counts.bytes()
    }

    fn range(&self, node: u32) -> std::ops::Range<usize> {
        self.starts[node as usize] as usize..self.starts[node as usize + 1] as usize
    }

    /// Follows the value with index `value` from `node`. Returns the child and the number of
    /// configurations of `node` before it, or `None` if no configuration has that value there.
    pub(crate) fn step(&self, node: u32, value: u32) -> Option<(u32, u128)> {
        let range = self.range(node);
        let at = range.start + self.runs[range].partition_point(|run| run.last < value);
        let run = self.runs.get(at).filter(|run| at < self.starts[node as usize + 1] as usize && run.first <= value)?;
        let before = self.counts.before(at, value - run.first, run.child);
        Some((run.child, before))
    }

    /// Returns the rank, among the paths from `node`, of the path whose values from `level` on are
    /// in `indices`. Returns `None` if there is no such path.
    pub(crate) fn rank_from(&self, node: u32, level: usize, indices: &[u32]) -> Option<u128> {
        let mut node = node;
        let mut rank = 0;
        for &parameter in &self.order[level..] {
            let (child, before) = self.step(node, indices[parameter])?;
            rank += before;
            node = child;
        }
        Some(rank)
    }

    /// Returns true if the configuration has a path.
    pub(crate) fn contains(&self, indices: &[u32]) -> bool {
        let mut node = 0;
        self.order.iter().all(|&parameter| {
            let step = self.step(node, indices[parameter]);
            step.is_some_and(|(child, _)| {
                node = child;
                true
            })
        })
    }

    /// Marks the values that some configuration has, by parameter and value index. Costs O(arcs and
    /// values).
    pub(crate) fn mark_used(&self, used: &mut [Vec<bool>]) {
        for (node, parameter) in self.parameters_of_nodes().into_iter().enumerate() {
            for run in self.runs_of(node as u32) {
                used[parameter][run.first as usize..=run.last as usize].fill(true);
            }
        }
    }

    /// Returns the parameter of each node's level.
    fn parameters_of_nodes(&self) -> Vec<usize> {
        let mut parameters = vec![0; self.nodes()];
        let mut level_of = vec![0_usize; self.nodes() + 1];
        for node in 0..self.nodes() {
            let level = level_of[node];
            parameters[node] = self.order[level];
            self.runs_of(node as u32).iter().for_each(|run| level_of[run.child as usize] = level + 1);
        }
        parameters
    }
}
