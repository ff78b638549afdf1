//! The reduced multi-valued decision diagram of one group of parameters.

mod build;
mod layers;
mod nearest;
mod reduce;
mod states;

pub(crate) use build::{Obstacle, build};
pub(crate) use layers::{Layer, Run};

use num_bigint::BigUint;

/// The configurations of one group as paths from a root to the end.
///
/// Every path passes one node per parameter, in the diagram's own order of parameters. Nodes with the same
/// configurations below them are one node (Bryant's reduction, without skipping levels), and consecutive values with
/// the same child share one [`Run`]. Every node knows the number of configurations below it, so that ranks come from
/// sums and nothing is ever listed. Nodes are numbered level by level from the root in order of first appearance,
/// which makes the numbering canonical; the end has the highest number.
#[derive(Debug)]
pub(crate) struct Diagram {
    /// Parameter indices by level.
    order: Vec<usize>,
    /// Where each node's runs start; one more entry than nodes with runs.
    starts: Vec<u32>,
    runs: Vec<Run>,
    /// The number of configurations of its node before each run.
    before: Vec<u128>,
    /// The number of configurations below each node, the end included; empty when the size exceeds 128 bits.
    below: Vec<u128>,
    size: BigUint,
}

impl Diagram {
    /// The number of configurations.
    pub(crate) fn size(&self) -> &BigUint {
        &self.size
    }

    /// The size where it fits into 128 bits.
    pub(crate) fn len(&self) -> Option<u128> {
        self.below.first().copied()
    }

    /// The parameters by level.
    pub(crate) fn order(&self) -> &[usize] {
        &self.order
    }

    /// The number of nodes, the end not counted.
    pub(crate) fn nodes(&self) -> usize {
        self.starts.len() - 1
    }

    /// All runs, node by node.
    pub(crate) fn runs(&self) -> &[Run] {
        &self.runs
    }

    /// The runs of `node`, by ascending value.
    pub(crate) fn runs_of(&self, node: u32) -> &[Run] {
        &self.runs[self.range(node)]
    }

    /// Bytes that the diagram occupies.
    pub(crate) fn bytes(&self) -> usize {
        size_of::<Diagram>()
            + size_of_val(&self.order[..])
            + size_of_val(&self.starts[..])
            + size_of_val(&self.runs[..])
            + size_of_val(&self.before[..])
            + size_of_val(&self.below[..])
    }

    fn range(&self, node: u32) -> std::ops::Range<usize> {
        self.starts[node as usize] as usize..self.starts[node as usize + 1] as usize
    }

    /// Writes the value indices of the configuration with rank `rank`, which must be below the size.
    pub(crate) fn unrank(&self, mut rank: u128, indices: &mut [u32]) {
        let mut node = 0;
        for &parameter in &self.order {
            let range = self.range(node);
            let before = &self.before[range.clone()];
            let at = range.start + before.partition_point(|&before| before <= rank) - 1;
            let run = self.runs[at];
            let below = self.below[run.child as usize];
            rank -= self.before[at];
            let step = if below == 1 { rank } else { rank / below };
            rank -= step * below;
            // A run has at most 2^32 values, so the step fits.
            indices[parameter] = run.first + step as u32;
            node = run.child;
        }
    }

    /// The step from `node` by the value with index `value`: the child and the number of configurations of `node`
    /// that come before it. `None` when no configuration has that value there.
    pub(crate) fn step(&self, node: u32, value: u32) -> Option<(u32, u128)> {
        let range = self.range(node);
        let at = range.start + self.runs[range].partition_point(|run| run.last < value);
        let run = self.runs.get(at).filter(|run| at < self.starts[node as usize + 1] as usize && run.first <= value)?;
        let before = self
            .before
            .get(at)
            .map_or(0, |before| before + u128::from(value - run.first) * self.below[run.child as usize]);
        Some((run.child, before))
    }

    /// Whether all `values`, one per level from `level` on, are steps of a path from `node`; gives the rank of that
    /// path among those of `node`.
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

    /// Whether the configuration has a path.
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

    /// Calls `visit` with parameter, value index and rank of every configuration that differs from the one with
    /// `indices` in one parameter; values ascend within a parameter.
    pub(crate) fn each_neighbour(&self, indices: &[u32], mut visit: impl FnMut(usize, u32, u128)) {
        let mut node = 0;
        let mut above = 0;
        for (level, &parameter) in self.order.iter().enumerate() {
            let current = indices[parameter];
            for at in self.range(node) {
                let run = self.runs[at];
                let Some(tail) = self.rank_from(run.child, level + 1, indices) else {
                    continue;
                };
                for value in (run.first..=run.last).filter(|&value| value != current) {
                    let before = self.before[at] + u128::from(value - run.first) * self.below[run.child as usize];
                    visit(parameter, value, above + before + tail);
                }
            }
            let Some((child, before)) = self.step(node, current) else {
                return;
            };
            above += before;
            node = child;
        }
    }
}
