//! Real coordinates of paths: ATF's mapping (ATF paper, section 5), and the same mapping by counts.

use super::Diagram;

/// The division of a coordinate's interval (0, 1] among the values of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blocks {
    /// All values have blocks of the same length, as in ATF. With coordinates drawn uniformly, the
    /// configurations behind nodes with few others are drawn more often.
    Values,
    /// Each value has a block as long as its share of the node's configurations. Coordinates drawn
    /// uniformly give configurations drawn uniformly.
    Configurations,
}

impl Diagram {
    /// Writes the value indices of the path at `coordinates`, which are indexed by parameter.
    pub(crate) fn at_coordinates(&self, coordinates: &[f64], blocks: Blocks, indices: &mut [u32]) {
        let mut node = 0;
        for &parameter in &self.order {
            let (at, step) = self.child_at(node, coordinates[parameter], blocks);
            indices[parameter] = self.runs[at].first + step;
            node = self.runs[at].child;
        }
    }

    /// Returns the rank of the path at `coordinates` among the paths from `node`, a node of
    /// `level`.
    pub(crate) fn rank_at(&self, node: u32, level: usize, coordinates: &[f64], blocks: Blocks) -> u128 {
        let mut node = node;
        let mut rank = 0;
        for &parameter in &self.order[level..] {
            let (at, step) = self.child_at(node, coordinates[parameter], blocks);
            node = self.runs[at].child;
            rank += self.counts.before(at, step, node);
        }
        rank
    }

    /// Writes the middle of each block on the path with the value indices `indices`, which must be
    /// valid.
    pub(crate) fn coordinates(&self, indices: &[u32], blocks: Blocks, coordinates: &mut [f64]) {
        let mut node = 0;
        for &parameter in &self.order {
            let value = indices[parameter];
            let range = self.range(node);
            let at = range.start + self.runs[range].partition_point(|run| run.last < value);
            let Some(run) = self.runs.get(at).filter(|run| run.first <= value) else { return };
            let step = value - run.first;
            let by_count = (blocks == Blocks::Configurations).then(|| self.part_of(node, at, step)).flatten();
            coordinates[parameter] = by_count.unwrap_or_else(|| self.part_by_values(node, at, step));
            node = run.child;
        }
    }

    /// Returns the run of the child at `coordinate` of `node`, and the step within the run. Without
    /// counts, all blocks have equal length.
    fn child_at(&self, node: u32, coordinate: f64, blocks: Blocks) -> (usize, u32) {
        let by_count = (blocks == Blocks::Configurations).then(|| self.locate_part(node, coordinate)).flatten();
        by_count.unwrap_or_else(|| {
            let values = self.values_of(node);
            let mut nth = ((coordinate * values as f64).ceil() as u64).saturating_sub(1).min(values - 1);
            let range = self.range(node);
            let last = range.end - 1;
            for at in range {
                let length = u64::from(self.runs[at].last - self.runs[at].first) + 1;
                if nth < length || at == last {
                    return (at, nth as u32);
                }
                nth -= length;
            }
            (last, 0)
        })
    }

    fn part_by_values(&self, node: u32, at: usize, step: u32) -> f64 {
        let before = self.runs[self.range(node).start..at].iter();
        let before: u64 = before.map(|run| u64::from(run.last - run.first) + 1).sum();
        (before as f64 + f64::from(step) + 0.5) / self.values_of(node) as f64
    }

    /// Returns the number of values that the configurations below `node` have at its level.
    fn values_of(&self, node: u32) -> u64 {
        self.runs_of(node).iter().map(|run| u64::from(run.last - run.first) + 1).sum()
    }
}
