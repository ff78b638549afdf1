//! Neighbours within one diagram, in runs of consecutive values.

use super::Diagram;

/// Configurations that leave a path at one parameter by consecutive values and continue alike.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Segment {
    /// The parameter that differs.
    pub(crate) parameter: usize,
    /// The index of the first value.
    pub(crate) first: u32,
    /// The number of values.
    pub(crate) values: u32,
    /// The rank of the configuration with the first value.
    pub(crate) rank: u128,
    /// The difference in rank between consecutive values.
    pub(crate) stride: u128,
}

impl Diagram {
    /// Visits the configurations that leave the path of `indices`, which must be valid, at one
    /// level. After that level they continue as `tail` decides: it returns the rank of the
    /// continuation below a node of a level, or `None` if there is none. The segments of a
    /// parameter ascend.
    pub(crate) fn siblings(
        &self,
        indices: &[u32],
        tail: &dyn Fn(u32, usize) -> Option<u128>,
        visit: &mut dyn FnMut(Segment),
    ) {
        self.each_level(indices, &mut |level, node, above| {
            for at in self.range(node) {
                let own = indices[self.order[level]];
                let Some(segment) = self.segment(at, level, above, tail) else { continue };
                let end = segment.first + segment.values;
                if own < segment.first || own >= end {
                    visit(segment);
                    continue;
                }
                let from = |first: u32, values: u32| Segment {
                    first,
                    values,
                    rank: segment.rank + u128::from(first - segment.first) * segment.stride,
                    ..segment
                };
                [from(segment.first, own - segment.first), from(own + 1, end - own - 1)]
                    .into_iter()
                    .filter(|part| part.values > 0)
                    .for_each(&mut *visit);
            }
        });
    }

    /// Visits the nearest valid smaller and larger value of each parameter, with all other
    /// parameters unchanged.
    pub(crate) fn adjacent(&self, indices: &[u32], visit: &mut dyn FnMut(Segment)) {
        let tail = |node, level| self.rank_from(node, level, indices);
        self.each_level(indices, &mut |level, node, above| {
            let own = indices[self.order[level]];
            let range = self.range(node);
            let current = range.start + self.runs[range.clone()].partition_point(|run| run.last < own);
            let segment = |at| self.segment(at, level, above, &tail);
            let at = |segment: Segment, value: u32| Segment {
                first: value,
                values: 1,
                rank: segment.rank + u128::from(value - segment.first) * segment.stride,
                ..segment
            };
            let smaller = |run: &usize| self.runs[*run].first < own;
            let smaller = (range.start..=current).rev().filter(smaller).find_map(segment);
            smaller.into_iter().for_each(|found| visit(at(found, (own - 1).min(found.first + found.values - 1))));
            let larger = |run: &usize| self.runs[*run].last > own;
            let larger = (current..range.end).filter(larger).find_map(segment);
            larger.into_iter().for_each(|found| visit(at(found, (own + 1).max(found.first))));
        });
    }

    /// Returns the segment of the run `at` of a node with `above` configurations before it.
    fn segment(
        &self,
        at: usize,
        level: usize,
        above: u128,
        tail: &dyn Fn(u32, usize) -> Option<u128>,
    ) -> Option<Segment> {
        let run = self.runs[at];
        let rank = above + self.counts.before(at, 0, run.child) + tail(run.child, level + 1)?;
        let stride = self.counts.below(run.child)?;
        let values = run.last - run.first + 1;
        Some(Segment { parameter: self.order[level], first: run.first, values, rank, stride })
    }

    /// Calls `visit` with each level, its node on the path, and the rank of the path's beginning.
    fn each_level(&self, indices: &[u32], visit: &mut dyn FnMut(usize, u32, u128)) {
        let mut node = 0;
        let mut above = 0;
        for (level, &parameter) in self.order.iter().enumerate() {
            visit(level, node, above);
            let Some((child, before)) = self.step(node, indices[parameter]) else { return };
            above += before;
            node = child;
        }
    }
}
