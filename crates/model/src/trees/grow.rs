//! Grows a tree level by level on bins.

use super::bins::Bins;
use super::split::{Limits, Split, Sums, ValueBounds, best};
use super::tree::{Node, Tree};
use rayon::prelude::*;
use std::ops::Range;

/// Number of rows that one thread sums at a time. The sums of parts are added in order, so the
/// number of threads changes no digit.
const PART: usize = 8192;

/// A tree with the rows of each of its leaves.
pub(crate) struct Grown {
    pub(crate) tree: Tree,
    /// The rows. Those of a leaf are together.
    pub(crate) rows: Vec<u32>,
    /// The node of each leaf, with the range of its rows in `rows`.
    pub(crate) leaves: Vec<(usize, Range<usize>)>,
}

/// Grows a tree over `rows` that lowers the sum of squares of `targets`. `targets` has one target
/// for each row of `bins`.
///
/// A leaf predicts `sum / (count + shrinkage)`. The gain of a split is the squares that its leaves
/// explain, less those that their parent explains.
///
/// Costs a look at each row and column for every second level. Of two siblings only the smaller is
/// summed. The other is the rest of the parent.
pub(crate) fn grow(bins: &Bins, targets: &[f64], rows: Vec<u32>, limits: Limits) -> Grown {
    let mut total = Sums::default();
    rows.iter().for_each(|&row| total += Sums { sum: targets[row as usize], count: 1.0 });
    let scratch = Vec::with_capacity(rows.len());
    let grown = Grown { tree: Tree { nodes: vec![leaf(0.0, total)] }, rows, leaves: Vec::new() };
    let mut grower = Grower { bins, targets, limits, grown, scratch };
    let root = 0..grower.grown.rows.len();
    let histogram = grower.may_split(total, 0).then(|| grower.histogram(root.clone()));
    grower.node(0, Part { range: root, total, bounds: ValueBounds::NONE }, histogram, 0);
    grower.grown
}

/// The rows of a node.
struct Part {
    range: Range<usize>,
    total: Sums,
    bounds: ValueBounds,
}

struct Grower<'a> {
    bins: &'a Bins,
    targets: &'a [f64],
    limits: Limits,
    grown: Grown,
    scratch: Vec<u32>,
}

fn leaf(value: f64, total: Sums) -> Node {
    Node::Leaf { value, rows: total.count as usize }
}

impl Grower<'_> {
    /// Creates node `index` from the rows of `part`. It has a histogram only if it may be split.
    fn node(&mut self, index: usize, part: Part, histogram: Option<Vec<Sums>>, depth: usize) {
        let Part { range, total, bounds } = part;
        let split = histogram.as_ref().and_then(|histogram| best(self.bins, histogram, total, bounds, &self.limits));
        let (Some(split), Some(histogram)) = (split, histogram) else {
            self.grown.tree.nodes[index] = leaf(bounds.value(total, self.limits.shrinkage), total);
            self.grown.leaves.push((index, range));
            return;
        };
        let middle = self.partition(range.clone(), &split);
        let sums = [split.yes, total - split.yes];
        let values = sums.map(|rows| bounds.value(rows, self.limits.shrinkage));
        let [yes_bounds, no_bounds] = bounds.parted(self.bins.columns()[split.column].direction, values[0], values[1]);
        let children = [
            Part { range: range.start..middle, total: sums[0], bounds: yes_bounds },
            Part { range: middle..range.end, total: sums[1], bounds: no_bounds },
        ];
        let histograms = self.histograms(histogram, &children, depth + 1);
        let yes = self.grown.tree.nodes.len();
        self.grown.tree.nodes.extend(children.iter().map(|child| leaf(0.0, child.total)));
        let Split { column, test, missing, gain, .. } = split;
        self.grown.tree.nodes[index] = Node::Split { column, test, missing, yes, gain, rows: total.count as usize };
        for (side, (child, histogram)) in children.into_iter().zip(histograms).enumerate() {
            self.node(yes + side, child, histogram, depth + 1);
        }
    }

    fn may_split(&self, total: Sums, depth: usize) -> bool {
        let fewest = self.limits.min_parent.max(2 * self.limits.min_leaf);
        depth < self.limits.depth && total.count >= fewest as f64
    }

    /// Returns the histograms of the children that may be split. The smaller child's comes from its
    /// rows. The larger child's is the rest of the parent's.
    fn histograms(&self, mut parent: Vec<Sums>, children: &[Part; 2], depth: usize) -> [Option<Vec<Sums>>; 2] {
        let small = usize::from(children[1].total.count < children[0].total.count);
        let [wanted_small, wanted_large] = [small, 1 - small].map(|side| self.may_split(children[side].total, depth));
        if !wanted_large {
            return [None, None];
        }
        let histogram = self.histogram(children[small].range.clone());
        parent.iter_mut().zip(&histogram).for_each(|(left, taken)| *left -= *taken);
        let (small_one, large_one) = (Some(histogram).filter(|_| wanted_small), Some(parent));
        if small == 0 { [small_one, large_one] } else { [large_one, small_one] }
    }

    fn histogram(&self, range: Range<usize>) -> Vec<Sums> {
        let rows = &self.grown.rows[range];
        if rows.len() <= PART {
            return self.histogram_of(rows);
        }
        let mut parts: Vec<Vec<Sums>> = rows.par_chunks(PART).map(|rows| self.histogram_of(rows)).collect();
        let (sum, others) = parts.split_at_mut(1);
        for part in others {
            sum[0].iter_mut().zip(part).for_each(|(sum, part)| *sum += *part);
        }
        parts.swap_remove(0)
    }

    fn histogram_of(&self, rows: &[u32]) -> Vec<Sums> {
        let mut histogram = vec![Sums::default(); self.bins.width()];
        for &row in rows {
            let of_row = Sums { sum: self.targets[row as usize], count: 1.0 };
            for (&code, &offset) in self.bins.row(row).iter().zip(self.bins.offsets()) {
                histogram[offset + usize::from(code)] += of_row;
            }
        }
        histogram
    }

    /// Moves the rows of the yes before those of the no, keeping the order of each. Returns the
    /// start of the latter.
    fn partition(&mut self, range: Range<usize>, split: &Split) -> usize {
        self.scratch.clear();
        let mut end = range.start;
        for at in range {
            let row = self.grown.rows[at];
            if split.answers[usize::from(self.bins.row(row)[split.column])] {
                self.grown.rows[end] = row;
                end += 1;
            } else {
                self.scratch.push(row);
            }
        }
        self.grown.rows[end..end + self.scratch.len()].copy_from_slice(&self.scratch);
        end
    }
}
